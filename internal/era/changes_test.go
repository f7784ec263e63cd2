package era

import (
	"encoding/json"
	"testing"

	"github.com/parley-mcp/parley/mcp"
)

func TestChangeNotification(t *testing.T) {
	meta := json.RawMessage(`{"a/b":1}`)
	for _, tt := range []struct {
		change       mcp.Change
		meta         json.RawMessage
		method, want string
	}{
		{mcp.Change{Kind: mcp.ToolsChanged}, nil, "notifications/tools/list_changed", ""},
		{mcp.Change{Kind: mcp.PromptsChanged}, meta, "notifications/prompts/list_changed", `{"_meta":{"a/b":1}}`},
		{mcp.Change{Kind: mcp.ResourcesChanged}, nil, "notifications/resources/list_changed", ""},
		{mcp.Change{Kind: mcp.ResourceUpdated, URI: "a://\"b"}, nil, "notifications/resources/updated", `{"uri":"a://\"b"}`},
		{mcp.Change{Kind: mcp.ResourceUpdated, URI: "a://b"}, meta, "notifications/resources/updated", `{"_meta":{"a/b":1},"uri":"a://b"}`},
	} {
		if m := changeNotification(tt.change, tt.meta); m.Method != tt.method || string(m.Params) != tt.want {
			t.Errorf("%+v: got %s %s, want %s %s", tt.change, m.Method, m.Params, tt.method, tt.want)
		}
	}
}
