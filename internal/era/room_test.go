package era

import (
	"strings"
	"testing"

	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// A large result is written into its room without being moved, and the room is
// not much larger than that.
func TestRoomFitsLargeResults(t *testing.T) {
	text := strings.Repeat("a line of text, with a \"quoted\" word and some more words after it\n", 2000)
	data := make([]byte, 100_000)
	call := &mcp.CallToolResult{
		Content:           mcp.Contents{mcp.Text(text), &mcp.ImageContent{Data: data}, &mcp.AudioContent{Data: data}, &mcp.EmbeddedResource{Resource: mcp.BlobResource("x:y", "", data)}},
		StructuredContent: []byte(`"` + strings.Repeat("x", 100_000) + `"`),
	}
	for name, result := range map[string]any{
		"call":            call,
		"call in session": &sessionCallResult{*call, false},
		"resource":        &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{mcp.TextResource("x:t", "", text), mcp.BlobResource("x:b", "", data)}},
	} {
		room := make([]byte, 0, roomFor(result))
		frame, err := jsonrpc.AppendResult(room, jsonrpc.IntID(1), result)
		if err != nil {
			t.Fatal(err)
		}
		if &frame[0] != &room[:1][0] || cap(room) > 2*len(frame) {
			t.Errorf("%s: a frame of %d bytes does not fit into room of %d", name, len(frame), cap(room))
		}
	}
	if n := roomFor(&mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{nil}}) + roomFor(nil); n != 0 {
		t.Errorf("room of %d bytes for nothing", n)
	}
}
