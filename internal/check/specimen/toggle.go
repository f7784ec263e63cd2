package specimen

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
)

// addToggle adds a tool that changes the lists so that it shows in them: what it
// adds is taken away by the next call. It does not say that it only reads.
func addToggle(s *server.Server) {
	var mu sync.Mutex
	there := false
	plain := tool("toggle_lists", "Adds a tool, a resource and a prompt, or takes them away again.")
	plain.Annotations = nil
	server.AddTool(s, plain, func(context.Context, *server.Call, struct{}) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		if there = !there; !there {
			s.RemoveTools("added")
			s.RemoveResources("test://added")
			s.RemovePrompts("added")
			return "removed", nil
		}
		s.AddRawTool(withSchema(tool("added", "Was added."), `{"type":"object","additionalProperties":false}`), func(context.Context, *server.Call, json.RawMessage) (*mcp.CallToolResult, error) {
			return text("added"), nil
		})
		s.AddResource(mcp.Resource{URI: "test://added", Name: "added"}, readText)
		s.AddRawPrompt(mcp.Prompt{Name: "added"}, func(context.Context, *server.Call, map[string]string) (*mcp.GetPromptResult, error) {
			return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{mcp.UserMessage(mcp.Text("added"))}}, nil
		})
		return "added", nil
	})
}
