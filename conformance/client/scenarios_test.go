package main

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"testing"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
)

// calls are the arguments of the calls that a server got, by tool.
type calls struct {
	mu   sync.Mutex
	seen map[string]string
}

func (c *calls) tools() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var names []string
	for name := range c.seen {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// counterpart returns a server like those of the suite, and a record of its
// calls.
func counterpart() (*server.Server, *calls) {
	s := server.New(mcp.Implementation{Name: "counterpart", Version: "1"}, &server.Options{Logger: mcptest.Quiet()})
	got := &calls{seen: map[string]string{}}
	for _, name := range []string{"add_numbers", "test_reconnection", "valid_tool", "json_schema_2020_12_tool", "json_schema_echo"} {
		s.AddRawTool(mcp.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object","$defs":{"a":{"$anchor":"b"}}}`)},
			func(_ context.Context, _ *server.Call, args json.RawMessage) (*mcp.CallToolResult, error) {
				got.mu.Lock()
				defer got.mu.Unlock()
				got.seen[name] = string(args)
				return &mcp.CallToolResult{}, nil
			})
	}
	s.AddResource(mcp.Resource{URI: "file:///path/to/file%20name.txt", Name: "file"},
		func(_ context.Context, _ *server.Call, uri string) (*mcp.ReadResourceResult, error) {
			got.mu.Lock()
			defer got.mu.Unlock()
			got.seen["read"] = uri
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{}}, nil
		})
	server.AddPrompt(s, mcp.Prompt{Name: "test_prompt"}, func(context.Context, *server.Call, struct{}) (*mcp.GetPromptResult, error) {
		got.mu.Lock()
		defer got.mu.Unlock()
		got.seen["prompt"] = ""
		return &mcp.GetPromptResult{}, nil
	})
	return s, got
}

func connect(t *testing.T, h mcp.Handler) *client.Client {
	t.Helper()
	return mcptest.Connect(t, h, mcptest.Mode{Revision: mcp.Revision20260728, Transport: "memory"}, options(mcptest.Quiet()))
}

func TestScenarios(t *testing.T) {
	t.Setenv("MCP_CONFORMANCE_CONTEXT", `{"toolCalls":[{"name":"valid_tool","arguments":{"n":9007199254740993}}]}`)
	tests := map[string]map[string]string{
		"initialize":                       {},
		"tools_call":                       {"add_numbers": `{"a":5,"b":3}`},
		"sse-retry":                        {"test_reconnection": `{}`},
		"http-standard-headers":            {"add_numbers": `{}`, "read": "file:///path/to/file%20name.txt", "prompt": ""},
		"http-custom-headers":              {"valid_tool": `{"n":9007199254740993}`},
		"json-schema-2020-12-preservation": {"json_schema_echo": `{"schema":{"type":"object","$defs":{"a":{"$anchor":"b"}}}}`},
	}
	for name, want := range tests {
		t.Run(name, func(t *testing.T) {
			s, got := counterpart()
			if err := scenarios()[name](t.Context(), connect(t, s)); err != nil {
				t.Fatal(err)
			}
			if len(got.tools()) != len(want) {
				t.Errorf("called %q", got.tools())
			}
			for tool, args := range want {
				if got.seen[tool] != args {
					t.Errorf("%s got %s, want %s", tool, got.seen[tool], args)
				}
			}
		})
	}
}

func TestCallEach(t *testing.T) {
	s, got := counterpart()
	if err := callEach(t.Context(), connect(t, s)); err != nil {
		t.Fatal(err)
	}
	if len(got.tools()) != 5 || got.seen["valid_tool"] != `{"region":"us-west1"}` {
		t.Errorf("%+v", got.seen)
	}
}

// The handler leaves the form empty, so what arrives are its defaults.
func TestElicit(t *testing.T) {
	type form struct {
		Name string `json:"name" default:"John Doe"`
		Age  int    `json:"age" default:"30"`
	}
	s, _ := counterpart()
	var answer form
	server.AddTool(s, mcp.Tool{Name: "test_client_elicitation_defaults"},
		func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
			var err error
			answer, err = server.Elicit[form](ctx, call, "form", "Well?")
			return "", err
		})
	if err := scenarios()["elicitation-sep1034-client-defaults"](t.Context(), connect(t, s)); err != nil {
		t.Fatal(err)
	}
	if answer != (form{"John Doe", 30}) {
		t.Errorf("%+v", answer)
	}
}

func TestRounds(t *testing.T) {
	type form struct {
		Confirmed bool `json:"confirmed"`
	}
	s, _ := counterpart()
	confirmed := map[string]bool{}
	for _, name := range []string{"test_mrtr_echo_state", "test_mrtr_unrelated", "test_mrtr_no_state", "test_mrtr_no_result_type"} {
		server.AddTool(s, mcp.Tool{Name: name}, func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
			answer, err := server.Elicit[form](ctx, call, "form", "Sure?")
			confirmed[name] = answer.Confirmed
			return "", err
		})
	}
	if err := callRounds(t.Context(), connect(t, s)); err != nil {
		t.Fatal(err)
	}
	for name, ok := range confirmed {
		if !ok {
			t.Errorf("%s was not confirmed", name)
		}
	}
}

func TestUnknownScenario(t *testing.T) {
	for _, name := range []string{"", "auth/basic-cimd", "nonsense"} {
		t.Setenv("MCP_CONFORMANCE_SCENARIO", name)
		if err := run(t.Context(), []string{"http://localhost:1"}, mcptest.Quiet()); err == nil {
			t.Errorf("scenario %q ran", name)
		}
	}
}
