package specimen

import (
	"context"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
)

// Person is what ask_form asks for.
type Person struct {
	Name string `json:"name" description:"your name" minLength:"1"`
	Age  int    `json:"age,omitempty" minimum:"0" maximum:"150"`
}

func addQuestions(s *server.Server) {
	server.AddTool(s, tool("ask_form", "Asks the user to fill in a form."), func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
		p, err := server.Elicit[Person](ctx, call, "person", "Who are you?")
		if err != nil {
			return "", err
		}
		return p.Name, nil
	})
	server.AddTool(s, tool("ask_visit", "Asks the user to visit a page."), func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
		visit, err := call.Visit(ctx, "page")
		if err != nil {
			return "", err
		}
		if err := visit.Ask(ctx, "Please visit the page", "https://example.com/visit"); err != nil {
			return "", err
		}
		return "visited", visit.Over(ctx)
	})
	server.AddTool(s, tool("ask_model", "Asks the client's model."), func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
		half := 0.5
		r, err := server.Sample(ctx, call, "model", &mcp.CreateMessageParams{
			Messages:     []*mcp.SamplingMessage{{Role: mcp.RoleUser, Content: mcp.OneOrMany{mcp.Text("Say something.")}}},
			SystemPrompt: "Be brief.", Temperature: &half, MaxTokens: 10,
			ModelPreferences: &mcp.ModelPreferences{Hints: []mcp.ModelHint{{Name: "any"}}, CostPriority: &half},
		})
		if err != nil {
			return "", err
		}
		return r.Text(), nil
	})
	server.AddTool(s, tool("ask_roots", "Asks for the client's roots."), func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
		roots, err := server.Roots(ctx, call)
		if err != nil {
			return "", err
		}
		if len(roots) == 0 {
			return "none", nil
		}
		return roots[0].URI, nil
	})
}
