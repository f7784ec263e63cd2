package openai

import (
	"encoding/json"
	"fmt"

	"github.com/parley-mcp/parley/client/host"
	"github.com/parley-mcp/parley/client/host/internal/form"
	"github.com/parley-mcp/parley/mcp"
)

const typeFunction = "function"

// Tool is a tool as a request of the Responses API has it.
type Tool struct {
	// Type is "function" for a tool that the program runs; others are OpenAI's own.
	Type        string          `json:"type"`
	Name        string          `json:"name,omitzero"`
	Description string          `json:"description,omitzero"`
	Parameters  json.RawMessage `json:"parameters,omitzero"`
	// Strict says that the model keeps to the schema, which must then be in a form that few
	// servers' schemas have.
	Strict bool `json:"strict"`
}

// ChatTool is a tool as a request of the Chat Completions API has it.
type ChatTool struct {
	// Type is "function" for a tool with JSON arguments.
	Type     string   `json:"type"`
	Function Function `json:"function"`
}

// Function is what a ChatTool says of a function.
type Function struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitzero"`
	Parameters  json.RawMessage `json:"parameters,omitzero"`
	Strict      bool            `json:"strict,omitzero"`
}

// Tools returns tools, such as those of Host.Tools, in the form that requests of the
// Responses API have. What the API refuses in a schema is said in words instead: the tool
// accepts what it always has. unfit are the tools that it would refuse all the same, for
// which a whole request would fail.
func Tools(tools []*mcp.Tool) (fit []Tool, unfit []host.Unfit) {
	functions, unfit := functions(tools)
	fit = make([]Tool, 0, len(functions))
	for _, f := range functions {
		fit = append(fit, Tool{Type: typeFunction, Name: f.Name, Description: f.Description, Parameters: f.Parameters})
	}
	return fit, unfit
}

// ChatTools is Tools for the Chat Completions API.
func ChatTools(tools []*mcp.Tool) (fit []ChatTool, unfit []host.Unfit) {
	functions, unfit := functions(tools)
	fit = make([]ChatTool, 0, len(functions))
	for _, f := range functions {
		fit = append(fit, ChatTool{Type: typeFunction, Function: f})
	}
	return fit, unfit
}

func functions(tools []*mcp.Tool) (fit []Function, unfit []host.Unfit) {
	for _, t := range tools {
		adapted, reason := form.Fit("openai", t)
		if reason != "" {
			unfit = append(unfit, host.Unfit{Tool: t, Reason: reason})
			continue
		}
		fit = append(fit, Function{Name: adapted.Name, Description: adapted.Description, Parameters: adapted.InputSchema})
	}
	return fit, unfit
}

// MCP returns the tool as a server would describe it.
func (t Tool) MCP() (*mcp.Tool, error) {
	return ChatTool{t.Type, Function{Name: t.Name, Description: t.Description, Parameters: t.Parameters}}.MCP()
}

// MCP returns the tool as a server would describe it.
func (t ChatTool) MCP() (*mcp.Tool, error) {
	if t.Type != typeFunction {
		return nil, fmt.Errorf("tool %q: one of the type %q is run by OpenAI, or has no JSON arguments", t.Function.Name, t.Type)
	}
	return &mcp.Tool{Name: t.Function.Name, Description: t.Function.Description, InputSchema: form.Schema(t.Function.Parameters)}, nil
}
