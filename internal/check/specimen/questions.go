package specimen

import (
	"context"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
)

// Person is what ask_form asks for.
type Person struct {
	Name    string  `json:"name" description:"your name" minLength:"1"`
	Age     int     `json:"age,omitempty" minimum:"0" maximum:"150"`
	Height  float64 `json:"height,omitempty" description:"in metres"`
	Email   string  `json:"email,omitempty" format:"email"`
	Page    string  `json:"page,omitempty" format:"uri"`
	Born    string  `json:"born,omitempty" format:"date"`
	Reading bool    `json:"reading,omitempty"`
	Color   string  `json:"color,omitempty" enum:"red,green"`
}

// Choices are what ask_choices asks for: kinds of fields that came with 2025-11-25.
type Choices struct {
	Shade  string   `json:"shade" enum:"l,d" enumTitles:"light,dark"`
	Fruits []string `json:"fruits,omitempty" enum:"apple,banana"`
}

func addQuestions(s *server.Server) {
	addAgent(s)
	addVisits(s)
	server.AddTool(s, tool("ask_choices", "Asks the user to choose."), func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
		c, err := server.Elicit[Choices](ctx, call, "choices", "What do you like?")
		if err != nil {
			return "", err
		}
		return c.Shade, nil
	})
	server.AddTool(s, tool("ask_form", "Asks the user to fill in a form."), func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
		p, err := server.Elicit[Person](ctx, call, "person", "Who are you?")
		if err != nil {
			return "", err
		}
		return p.Name, nil
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
