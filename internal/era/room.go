package era

import (
	"encoding/base64"

	"github.com/parley-mcp/parley/mcp"
)

// roomFor returns room for the JSON form of a result, in bytes: of the large
// parts that it may have, with a third more for escapes, and because the
// encoder wants to have some left. Too little only means that the frame is
// moved while it is written.
func roomFor(result any) int {
	n := 0
	switch r := result.(type) {
	case *mcp.CallToolResult:
		n = roomForCall(r)
	case *sessionCallResult:
		n = roomForCall(&r.CallToolResult)
	case *mcp.ReadResourceResult:
		for _, c := range r.Contents {
			n += roomForContents(c)
		}
	}
	return n + n/3
}

func roomForCall(r *mcp.CallToolResult) int {
	n := len(r.StructuredContent)
	for _, block := range r.Content {
		switch b := block.(type) {
		case *mcp.TextContent:
			n += len(b.Text)
		case *mcp.ImageContent:
			n += base64.StdEncoding.EncodedLen(len(b.Data))
		case *mcp.AudioContent:
			n += base64.StdEncoding.EncodedLen(len(b.Data))
		case *mcp.EmbeddedResource:
			n += roomForContents(b.Resource)
		}
	}
	return n
}

func roomForContents(c *mcp.ResourceContents) int {
	switch {
	case c == nil:
		return 0
	case c.Text != nil:
		return len(*c.Text)
	}
	return base64.StdEncoding.EncodedLen(len(c.Blob))
}
