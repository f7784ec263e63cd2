package era

import (
	"encoding/base64"
	"reflect"

	"github.com/parley-mcp/parley/mcp"
)

// resultSize returns room for the JSON form of a result, in bytes. Too little only
// means that the frame is moved while it is written. The result of a tool makes
// room itself.
func resultSize(result any) int {
	n := 0
	if r, ok := result.(*mcp.ReadResourceResult); ok {
		for _, c := range r.Contents {
			n += contentsSize(c)
		}
	}
	return withSlack(n)
}

// withSlack is room for large parts of n bytes: a third more for escapes, and
// because the encoder wants to have some left.
func withSlack(n int) int { return n + n/3 }

// callSize counts the large parts that the result of a tool may have.
func callSize(r *mcp.CallToolResult) int {
	n := len(r.StructuredContent)
	for _, block := range r.Content {
		if absent(block) {
			continue
		}
		switch b := block.(type) {
		case *mcp.TextContent:
			n += len(b.Text)
		case *mcp.ImageContent:
			n += base64.StdEncoding.EncodedLen(len(b.Data))
		case *mcp.AudioContent:
			n += base64.StdEncoding.EncodedLen(len(b.Data))
		case *mcp.EmbeddedResource:
			n += contentsSize(b.Resource)
		}
	}
	return n
}

func contentsSize(c *mcp.ResourceContents) int {
	switch {
	case c == nil:
		return 0
	case c.Text != nil:
		return len(*c.Text)
	}
	return base64.StdEncoding.EncodedLen(len(c.Blob))
}

// absent reports whether a block is nil, or a nil pointer of its type: it goes
// out as null, and must not be looked into.
func absent(block mcp.Content) bool { return block == nil || reflect.ValueOf(block).IsNil() }
