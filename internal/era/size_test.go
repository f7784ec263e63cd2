package era

import (
	"strings"
	"testing"

	"github.com/parley-mcp/parley/internal/revision"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// A large result fits into the space reserved for it, which is not much larger than
// the result.
func TestRoomFitsLargeResults(t *testing.T) {
	text := strings.Repeat("a line of text, with a \"quoted\" word and some more words after it\n", 2000)
	data := make([]byte, 100_000)
	call := &mcp.CallToolResult{
		Content:           mcp.Contents{mcp.Text(text), &mcp.ImageContent{Data: data}, &mcp.AudioContent{Data: data}, &mcp.EmbeddedResource{Resource: mcp.BlobResource("x:y", "", data)}},
		StructuredContent: []byte(`"` + strings.Repeat("x", 100_000) + `"`),
	}
	read := &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{mcp.TextResource("x:t", "", text), mcp.BlobResource("x:b", "", data)}}
	for name, tt := range map[string]struct {
		result any
		room   int
	}{
		"call":            {stateless().call(call), withSlack(callSize(call))},
		"call in session": {form{facts: revision.Of(mcp.Revision20251125)}.call(call), withSlack(callSize(call))},
		"resource":        {read, resultSize(read)},
	} {
		room := make([]byte, 0, tt.room)
		frame, err := jsonrpc.AppendResult(room, jsonrpc.IntID(1), tt.result)
		if err != nil {
			t.Fatal(err)
		}
		if len(frame) > tt.room || cap(frame) > 2*len(frame) {
			t.Errorf("%s: a frame of %d bytes has room of %d, and %d were reserved", name, len(frame), cap(frame), tt.room)
		}
	}
	if n := resultSize(&mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{nil}}) + resultSize(nil); n != 0 {
		t.Errorf("%d bytes are reserved for nothing", n)
	}
}
