package main

import (
	"context"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/parley-mcp/parley/bench/payload"
)

// ask asks in rounds, which the library turns into questions where there is a
// session. The state is neither encrypted nor signed, because the library does
// not support that.
func ask(_ context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	var in payload.Echo
	if err := req.BindArguments(&in); err != nil {
		return nil, err
	}
	switch state := req.Params.RequestState; state {
	case "":
		return question("name", "string", "1"), nil
	case "1":
		return question("size", "integer", "2"+fmt.Sprint(given(req, "name"))), nil
	default:
		size, ok := given(req, "size").(float64)
		if !ok {
			return nil, fmt.Errorf("no size in %v", req.Params.InputResponses)
		}
		return mcp.NewToolResultStructuredOnly(payload.Echo{Text: state[1:], Count: int(size), Tags: in.Tags}), nil
	}
}

func question(key, kind, state string) *mcp.CallToolResult {
	return server.NewInputRequestBuilder(state).Elicit(key, mcp.ElicitationParams{
		Mode:    mcp.ElicitationModeForm,
		Message: "Which " + key + "?",
		RequestedSchema: map[string]any{
			"type": "object", "properties": map[string]any{key: map[string]any{"type": kind}}, "required": []string{key},
		},
	}).ToolResult()
}

func given(req mcp.CallToolRequest, key string) any {
	if r := server.ElicitationResponse(req.Params.InputResponses, key); r != nil {
		content, _ := r.Content.(map[string]any)
		return content[key]
	}
	return nil
}
