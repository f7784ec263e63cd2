package era

import (
	"encoding/base64"
	"reflect"

	"github.com/parley-mcp/parley/mcp"
)

// resultSize estimates the size of the JSON form of a result, in bytes. If it is too
// small, the buffer grows while the frame is written. It is 0 for the result of a
// tool, which reserves space itself.
func resultSize(result any) int {
	n := 0
	if r, ok := result.(*mcp.ReadResourceResult); ok {
		for _, c := range r.Contents {
			n += contentsSize(c)
		}
	}
	return withSlack(n)
}

// withSlack returns the space to reserve for parts of n bytes in all: a third more,
// for escapes and because the encoder needs spare capacity.
func withSlack(n int) int { return n + n/3 }

// callSize returns the total size of the parts of a tool's result that may be large.
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

// absent reports whether a block is nil, or a nil pointer of its type: it goes out
// as null, and must not be dereferenced.
func absent(block mcp.Content) bool { return block == nil || reflect.ValueOf(block).IsNil() }
