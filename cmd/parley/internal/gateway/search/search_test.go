package search_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/catalogue"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/naming"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/search"
	"github.com/parley-mcp/parley/mcp"
)

type lister struct{}

func (lister) List(context.Context, *mcp.Peer, string) ([]json.RawMessage, error) {
	return []json.RawMessage{json.RawMessage(`{"tools":[{"name":"read","description":"Reads\na file. ` + strings.Repeat("é", 200) + `","inputSchema":{"type":"object"},"x":1.0},
		{"name":"drop","description":"Drops a table.","inputSchema":{"type":"object"}}]}`)}, nil
}

// served serves an exchange of a catalogue with two tools. What goes on is the result.
func served(t *testing.T, method, params string) (any, error) {
	t.Helper()
	names, err := naming.New([]naming.Rules{{Backend: "a"}})
	if err != nil {
		t.Fatal(err)
	}
	c := catalogue.New(catalogue.Options{Sources: []catalogue.Source{{Names: names.Backend("a"), Lister: lister{}}}}, nil)
	defer c.Close()
	x := &mcp.Exchange{Method: method, Params: json.RawMessage(params)}
	return search.Serve(t.Context(), c, catalogue.View{}, x, func(_ context.Context, x *mcp.Exchange) (any, error) {
		return x.Method + string(x.Params), nil
	})
}

func TestThreeAreListed(t *testing.T) {
	got, err := served(t, mcp.MethodListTools, `{}`)
	list, ok := got.(*mcp.ListToolsResult)
	if err != nil || !ok || len(list.Tools) != 3 {
		t.Fatalf("%v, %v", got, err)
	}
	for _, tool := range list.Tools {
		if !json.Valid(tool.InputSchema) || tool.OutputSchema != nil && !json.Valid(tool.OutputSchema) {
			t.Errorf("%s: %s %s", tool.Name, tool.InputSchema, tool.OutputSchema)
		}
	}
}

func TestAnswers(t *testing.T) {
	for params, want := range map[string]string{
		`{"name":"find_tools","arguments":{"query":"files"}}`:                     `"name":"a__read"`,
		`{"name":"find_tools","arguments":{"query":"","limit":1}}`:                `"total":2}`,
		`{"name":"find_tools","arguments":{"query":"weather"}}`:                   `{"tools":[],"total":2}`,
		`{"name":"find_tools","arguments":{"query":7}}`:                           "query: unexpected number",
		`{"name":"find_tools","arguments":{"words":"x"}}`:                         `there is no argument "words", but only query and limit`,
		`{"name":"describe_tool","arguments":{"name":"a__drop"}}`:                 `{"tool":{"name":"a__drop","description":"Drops a table.","inputSchema":{"type":"object"}}}`,
		`{"name":"describe_tool","arguments":{"name":"a__read"}}`:                 `"x":1.0`,
		`{"name":"describe_tool","arguments":{"name":"drop"}}`:                    `there is no tool "drop"`,
		`{"name":"describe_tool"}`:                                                `there is no tool ""`,
		`{"name":"call_tool","arguments":{"name":"a__read","arguments":[]}}`:      "arguments an object",
		`{"name":"call_tool","arguments":{"arguments":{}}}`:                       "must be that of a tool",
		`{"name":"call_tool","arguments":{"name":"a__read","Arguments":{"a":1}}}`: `there is no argument "Arguments"`,
	} {
		got, err := served(t, mcp.MethodCallTool, params)
		r, ok := got.(*mcp.CallToolResult)
		if err != nil || !ok {
			t.Errorf("%s: %v, %v", params, got, err)
			continue
		}
		text := r.Content[0].(*mcp.TextContent).Text + string(r.StructuredContent)
		if !strings.Contains(text, want) || r.IsError == (r.StructuredContent != nil) {
			t.Errorf("%s: %s (error: %v), want %s", params, text, r.IsError, want)
		}
	}
}

// What goes on is a call like any other, and what is none of the three is untouched.
func TestCallsGoOn(t *testing.T) {
	for _, c := range []struct{ method, params, want string }{
		{mcp.MethodCallTool, `{"name":"call_tool","arguments":{"arguments":{"n":1.0,"name":"x"},"name":"a__read"},"_meta":{"progressToken":1}}`, `{"name":"a__read","arguments":{"n":1.0,"name":"x"},"_meta":{"progressToken":1}}`},
		{mcp.MethodCallTool, `{"name":"call_tool","arguments":{"name":"call_tool"}}`, `{"name":"call_tool","arguments":{}}`},
		{mcp.MethodCallTool, `{"name":"a__read","arguments":{"name":"x"}}`, `{"name":"a__read","arguments":{"name":"x"}}`},
		{mcp.MethodListPrompts, `{"name":"call_tool"}`, `{"name":"call_tool"}`},
	} {
		got, err := served(t, c.method, c.params)
		if err != nil || got != c.method+c.want {
			t.Errorf("%s: %v, %v", c.params, got, err)
		}
	}
	_, err := served(t, mcp.MethodCallTool, `{"name":"call_tool","arguments":{"name":"a__read","name":"a__drop"}}`)
	var invalid *mcp.InvalidParamsError
	if !errors.As(err, &invalid) {
		t.Errorf("a name that stands twice: %v", err)
	}
}
