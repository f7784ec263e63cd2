package anthropic

import (
	"encoding/json"
	"fmt"

	"github.com/parley-mcp/parley/client/host"
	"github.com/parley-mcp/parley/client/host/internal/form"
	"github.com/parley-mcp/parley/mcp"
)

// Tool is a tool as a request has it.
type Tool struct {
	// Type is "custom" or "" for a tool that the program runs; others are Anthropic's own.
	Type        string          `json:"type,omitzero"`
	Name        string          `json:"name"`
	Description string          `json:"description,omitzero"`
	InputSchema json.RawMessage `json:"input_schema,omitzero"`
}

// Tools returns tools, such as those of Host.Tools, in the form that requests have. What
// the API refuses in a schema is said in words instead: the tool accepts what it always
// has. unfit are the tools that it would refuse all the same, for which a whole request
// would fail.
func Tools(tools []*mcp.Tool) (fit []Tool, unfit []host.Unfit) {
	fit = make([]Tool, 0, len(tools))
	for _, t := range tools {
		adapted, reason := form.Fit("claude", t)
		if reason != "" {
			unfit = append(unfit, host.Unfit{Tool: t, Reason: reason})
			continue
		}
		fit = append(fit, Tool{Name: adapted.Name, Description: adapted.Description, InputSchema: adapted.InputSchema})
	}
	return fit, unfit
}

// MCP returns the tool as a server would describe it.
func (t Tool) MCP() (*mcp.Tool, error) {
	if t.Type != "" && t.Type != "custom" {
		return nil, fmt.Errorf("tool %q: one of the type %q is run by Anthropic, or has a form that only its models know", t.Name, t.Type)
	}
	return &mcp.Tool{Name: t.Name, Description: t.Description, InputSchema: form.Schema(t.InputSchema)}, nil
}
