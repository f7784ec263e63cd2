package specimen

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
)

// mostTurns bounds how often ask_agent lets the model use tools.
//
// Spec: 2026-07-28 client/sampling#security-considerations.
const mostTurns = 3

// addAgent adds a tool that lets the client's model use tools of its own.
func addAgent(s *server.Server) {
	clock := &mcp.Tool{
		Name: "clock", Description: "Says what time it is.", InputSchema: json.RawMessage(`{"type":"object"}`),
		OutputSchema: json.RawMessage(`{"type":"object","properties":{"hour":{"type":"integer"}},"required":["hour"]}`),
	}
	server.AddTool(s, tool("ask_agent", "Asks the client's model, which may use a clock."), func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
		p := &mcp.CreateMessageParams{
			Messages:  []*mcp.SamplingMessage{{Role: mcp.RoleUser, Content: mcp.OneOrMany{mcp.Text("What time is it?")}}},
			MaxTokens: 10, Tools: []*mcp.Tool{clock},
		}
		for turn := range mostTurns {
			r, err := server.Sample(ctx, call, fmt.Sprintf("turn-%d", turn), p)
			if err != nil {
				return "", err
			}
			used := useTools(r)
			if len(used) == 0 {
				return r.Text(), nil
			}
			p.Messages = append(p.Messages,
				&mcp.SamplingMessage{Role: mcp.RoleAssistant, Content: r.Content},
				&mcp.SamplingMessage{Role: mcp.RoleUser, Content: used})
		}
		return "endless", nil
	})
}

// useTools returns the results of the tools that a model wants to use.
func useTools(r *mcp.CreateMessageResult) mcp.OneOrMany {
	var results mcp.OneOrMany
	for _, c := range r.Content {
		if use, ok := c.(*mcp.ToolUseContent); ok {
			results = append(results, &mcp.ToolResultContent{
				ToolUseID: use.ID, Content: mcp.Contents{mcp.Text(`{"hour":12}`)}, StructuredContent: json.RawMessage(`{"hour":12}`), Meta: use.Meta,
			})
		}
	}
	return results
}
