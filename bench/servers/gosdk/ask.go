package main

import (
	"context"
	"fmt"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/parley-mcp/parley/bench/payload"
)

func question[T any](key string) (*mcp.ElicitParams, error) {
	s, err := jsonschema.For[T](nil)
	if err != nil {
		return nil, err
	}
	return &mcp.ElicitParams{Message: "Which " + key + "?", RequestedSchema: s}, nil
}

// askInPlace asks as a session can.
func askInPlace(ctx context.Context, req *mcp.CallToolRequest, in payload.Echo) (*mcp.CallToolResult, payload.Echo, error) {
	name, err := elicit[payload.Name](ctx, req, "name")
	if err != nil {
		return nil, payload.Echo{}, err
	}
	size, err := elicit[payload.Size](ctx, req, "size")
	if err != nil {
		return nil, payload.Echo{}, err
	}
	return finish(name["name"], size["size"], in)
}

func elicit[T any](ctx context.Context, req *mcp.CallToolRequest, key string) (map[string]any, error) {
	q, err := question[T](key)
	if err != nil {
		return nil, err
	}
	r, err := req.Session.Elicit(ctx, q)
	if err != nil {
		return nil, err
	}
	return r.Content, nil
}

func finish(name, size any, in payload.Echo) (*mcp.CallToolResult, payload.Echo, error) {
	text, ok := name.(string)
	count, isNumber := size.(float64)
	if !ok || !isNumber {
		return nil, payload.Echo{}, fmt.Errorf("wrong answers: %v, %v", name, size)
	}
	return nil, payload.Echo{Text: text, Count: int(count), Tags: in.Tags}, nil
}

// askInRounds asks by having the call repeated. The state is neither encrypted
// nor signed, because the SDK does not support that.
func askInRounds(_ context.Context, req *mcp.CallToolRequest, in payload.Echo) (*mcp.CallToolResult, any, error) {
	switch state := req.Params.RequestState; state {
	case "":
		return round[payload.Name]("name", "1")
	case "1":
		return round[payload.Size]("size", "2"+fmt.Sprint(given(req, "name")))
	default:
		return finishAny(finish(state[1:], given(req, "size"), in))
	}
}

func finishAny(r *mcp.CallToolResult, e payload.Echo, err error) (*mcp.CallToolResult, any, error) {
	return r, e, err
}

func given(req *mcp.CallToolRequest, key string) any {
	if r, ok := req.Params.InputResponses[key].(*mcp.ElicitResult); ok {
		return r.Content[key]
	}
	return nil
}

func round[T any](key, state string) (*mcp.CallToolResult, any, error) {
	q, err := question[T](key)
	if err != nil {
		return nil, nil, err
	}
	return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{key: q}, RequestState: state}, nil, nil
}
