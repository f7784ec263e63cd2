package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

type addArgs struct {
	A int `json:"a" minimum:"0"`
	B int `json:"b" default:"10"`
}

type sum struct {
	Sum int `json:"sum" maximum:"1000"`
}

func add(_ context.Context, _ *Call, in addArgs) (sum, error) { return sum{in.A + in.B}, nil }

func TestTypedTool(t *testing.T) {
	s, _ := newServer(Options{})
	AddTool(s, mcp.Tool{Name: "add"}, add)
	for _, c := range []struct{ name, args, want string }{
		{"both", `{"a":1,"b":2}`, `{"content":[{"type":"text","text":"{\"sum\":3}"}],"structuredContent":{"sum":3}}`},
		{"default", `{"a":1}`, `{"content":[{"type":"text","text":"{\"sum\":11}"}],"structuredContent":{"sum":11}}`},
		{"not an object", `[1]`, `error: arguments of tool "add" must be an object`},
		{"null", `null`, `error: arguments of tool "add" must be an object`},
	} {
		t.Run(c.name, func(t *testing.T) { same(t, call(t, s, "add", c.args), c.want) })
	}
}

func TestToolArgumentProblems(t *testing.T) {
	s, _ := newServer(Options{})
	ran := false
	AddTool(s, mcp.Tool{Name: "add"}, func(ctx context.Context, call *Call, in addArgs) (sum, error) {
		ran = true
		return add(ctx, call, in)
	})
	for _, args := range []string{`{}`, `{"a":-1}`, `{"a":"x"}`, `{"a":1,"c":2}`, `{"a":1.5}`, `{"a":9999999999999999999999}`} {
		got := call(t, s, "add", args)
		if !strings.Contains(got, `"isError":true`) || !strings.Contains(got, "invalid arguments") {
			t.Errorf("%s: got %s", args, got)
		}
	}
	if ran {
		t.Error("the handler ran with invalid arguments")
	}
	if got := serve(t, s, mcp.MethodCallTool, `{"name":"add"}`); !strings.Contains(got, `\"a\"`) {
		t.Errorf("absent arguments are an empty object, got %s", got)
	}
}

func TestToolResultKinds(t *testing.T) {
	s, log := newServer(Options{})
	type none = struct{}
	AddTool(s, mcp.Tool{Name: "text"}, func(context.Context, *Call, none) (string, error) { return "hi", nil })
	AddTool(s, mcp.Tool{Name: "none"}, func(context.Context, *Call, none) (none, error) { return none{}, nil })
	AddTool(s, mcp.Tool{Name: "full"}, func(context.Context, *Call, none) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{StructuredContent: json.RawMessage("1")}, nil
	})
	AddTool(s, mcp.Tool{Name: "list"}, func(context.Context, *Call, none) ([]string, error) { return nil, nil })
	AddTool(s, mcp.Tool{Name: "any"}, func(context.Context, *Call, none) (any, error) { return 7, nil })
	AddTool(s, mcp.Tool{Name: "map"}, func(_ context.Context, _ *Call, in map[string]int) (map[string]int, error) { return in, nil })
	AddTool(s, mcp.Tool{Name: "extra"}, func(_ context.Context, c *Call, _ none) (int, error) {
		c.AddContent(mcp.Text("more"))
		return 1, c.SetResultMeta("com.example/k", true)
	})
	AddTool(s, mcp.Tool{Name: "nil"}, func(context.Context, *Call, none) (*mcp.CallToolResult, error) { return nil, nil })
	AddTool(s, mcp.Tool{Name: "nilblock"}, func(context.Context, *Call, none) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: mcp.Contents{nil}}, nil
	})
	AddTool(s, mcp.Tool{Name: "nilpointer"}, func(context.Context, *Call, none) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: mcp.Contents{(*mcp.TextContent)(nil)}}, nil
	})
	AddTool(s, mcp.Tool{Name: "niladded"}, func(_ context.Context, c *Call, _ none) (string, error) {
		c.AddContent(nil)
		return "", nil
	})
	AddTool(s, mcp.Tool{Name: "broken"}, func(context.Context, *Call, none) (sum, error) { return sum{5000}, nil })
	AddTool(s, mcp.Tool{Name: "nilptr"}, func(context.Context, *Call, none) (*sum, error) { return nil, nil })
	const internal = "error: internal error (-32603)"
	for name, want := range map[string]string{
		"text":       `{"content":[{"type":"text","text":"hi"}]}`,
		"none":       `{"content":[]}`,
		"full":       `{"content":[{"type":"text","text":"1"}],"structuredContent":1}`,
		"list":       `{"content":[{"type":"text","text":"[]"}],"structuredContent":[]}`,
		"any":        `{"content":[{"type":"text","text":"7"}],"structuredContent":7}`,
		"map":        `{"content":[{"type":"text","text":"{}"}],"structuredContent":{}}`,
		"extra":      `{"_meta":{"com.example/k":true},"content":[{"type":"text","text":"1"},{"type":"text","text":"more"}],"structuredContent":1}`,
		"nil":        internal,
		"nilblock":   internal,
		"nilpointer": internal,
		"niladded":   internal,
		"broken":     internal,
		"nilptr":     internal,
	} {
		t.Run(name, func(t *testing.T) { same(t, call(t, s, name, "{}"), want) })
	}
	if got := strings.Count(log.String(), "tool returned a bad result"); got != 6 {
		t.Errorf("%d bad results logged, want 6:\n%s", got, log)
	}
}

// A handler may return the same result value repeatedly.
func TestToolResultIsNotChanged(t *testing.T) {
	s, _ := newServer(Options{})
	shared := &mcp.CallToolResult{Content: make(mcp.Contents, 1, 8), ResultFields: mcp.ResultFields{Meta: mcp.Meta{"a": json.RawMessage("1")}}}
	shared.Content[0] = mcp.Text("x")
	AddTool(s, mcp.Tool{Name: "t"}, func(_ context.Context, c *Call, _ struct{}) (*mcp.CallToolResult, error) {
		c.AddContent(mcp.Text("y"))
		return shared, c.SetResultMeta("b", 2)
	})
	for range 2 {
		same(t, call(t, s, "t", "{}"), `{"_meta":{"a":1,"b":2},"content":[{"type":"text","text":"x"},{"type":"text","text":"y"}]}`)
	}
	same(t, toJSON(t, shared), `{"_meta":{"a":1},"content":[{"type":"text","text":"x"}]}`)
}

// Spec: 2026-07-28 server/tools#security-considerations (1).
func TestToolErrorReplaced(t *testing.T) {
	s, log := newServer(Options{ToolError: func(_ context.Context, x *mcp.Exchange, err error) string {
		return fmt.Sprintf("%s failed with a %d%% chance of %d characters", x.Method, 100, len(err.Error()))
	}})
	failure := errors.New("password is 1234")
	AddTool(s, mcp.Tool{Name: "t"}, func(context.Context, *Call, struct{}) (string, error) { return "", failure })
	same(t, call(t, s, "t", `{}`), `{"content":[{"type":"text","text":"tools/call failed with a 100% chance of 16 characters"}],"isError":true}`)
	if !strings.Contains(log.String(), "password is 1234") {
		t.Errorf("the error was not logged:\n%s", log)
	}
	failure = mcp.InvalidParams("bad")
	same(t, call(t, s, "t", `{}`), `error: bad`)
}

func TestToolErrors(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	input := &mcp.InputRequired{Requests: []mcp.InputRequest{{Key: "k"}}}
	for _, c := range []struct {
		name     string
		ctx      context.Context
		err      error
		protocol bool
	}{
		{"plain", t.Context(), errors.New("disk full"), false},
		{"not found", t.Context(), &mcp.ResourceNotFoundError{URI: "x:y"}, false},
		{"declined", t.Context(), &DeclinedError{"k", ErrDeclined}, false},
		{"own deadline", t.Context(), context.DeadlineExceeded, false},
		{"ended", ended, fmt.Errorf("wrapped: %w", context.Canceled), true},
		{"input", t.Context(), fmt.Errorf("wrapped: %w", input), true},
		{"coded", t.Context(), fmt.Errorf("wrapped: %w", jsonrpc.Errorf(7, "seven")), true},
		{"params", t.Context(), mcp.InvalidParams("bad"), true},
		{"method", t.Context(), &mcp.MethodNotFoundError{Method: "m"}, true},
		{"capability", t.Context(), &mcp.MissingCapabilityError{Feature: "f"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, _ := newServer(Options{})
			AddTool(s, mcp.Tool{Name: "t"}, func(context.Context, *Call, struct{}) (string, error) { return "", c.err })
			result, err := s.Serve(c.ctx, request(mcp.MethodCallTool, `{"name":"t"}`))
			if c.protocol {
				if !errors.Is(err, c.err) {
					t.Errorf("got %v, want %v unchanged", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			same(t, toJSON(t, result), toJSON(t, mcp.ToolError("%v", c.err)))
		})
	}
}

func TestUnknownTool(t *testing.T) {
	s, _ := newServer(Options{Announce: Features{Tools: true}})
	same(t, call(t, s, "nope", "{}"), `error: unknown tool: "nope"`)
	same(t, serve(t, s, mcp.MethodCallTool, ""), `error: params of tools/call must have "name"`)
	same(t, serve(t, s, mcp.MethodCallTool, `{"name":3}`), `error: params of tools/call: name: unexpected number`)
	long := strings.Repeat("é", 200)
	if got := call(t, s, long, "{}"); len(got) > 200 {
		t.Errorf("a long name is repeated in full: %s", got)
	}
}

func TestRawTool(t *testing.T) {
	s, log := newServer(Options{})
	echo := func(_ context.Context, _ *Call, args json.RawMessage) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{StructuredContent: args}, nil
	}
	s.AddRawTool(mcp.Tool{
		Name:         "echo",
		InputSchema:  json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer","default":1},"big":{}}}`),
		OutputSchema: json.RawMessage(`{"type":"object","properties":{"n":{"maximum":5}}}`),
	}, echo)
	same(t, call(t, s, "echo", `{}`), `{"content":[{"type":"text","text":"{\"n\":1}"}],"structuredContent":{"n":1}}`)
	same(t, call(t, s, "echo", `{"n":2,"big":12345678901234567890123}`), `{"content":[{"type":"text","text":"{\"n\":2,\"big\":12345678901234567890123}"}],"structuredContent":{"n":2,"big":12345678901234567890123}}`)
	same(t, call(t, s, "echo", `{"n":6}`), `error: internal error (-32603)`)
	if !strings.Contains(log.String(), "output schema") {
		t.Errorf("not logged: %s", log)
	}
	if got := call(t, s, "echo", `{"n":"x"}`); !strings.Contains(got, `"isError":true`) {
		t.Errorf("got %s", got)
	}
}

// A raw handler owns its arguments: middleware that looks at the exchange
// afterwards sees what the client sent.
func TestRawToolOwnsItsArguments(t *testing.T) {
	s, _ := newServer(Options{})
	s.AddRawTool(mcp.Tool{Name: "t", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(_ context.Context, _ *Call, args json.RawMessage) (*mcp.CallToolResult, error) {
			copy(args, `{"b"`)
			return &mcp.CallToolResult{StructuredContent: append(args, ' ')}, nil
		})
	x := request(mcp.MethodCallTool, `{"name":"t","arguments":{"a":1},"z":0}`)
	same(t, serveExchange(t, s, x), `{"content":[{"type":"text","text":"{\"b\":1} "}],"structuredContent":{"b":1}}`)
	same(t, string(x.Params), `{"name":"t","arguments":{"a":1},"z":0}`)
}

// Code that calls a server without a transport may pass arguments that are not
// JSON: the handler does not see them.
func TestArgumentsThatAreNoJSON(t *testing.T) {
	s, _ := newServer(Options{})
	ran := false
	AddTool(s, mcp.Tool{Name: "typed"}, func(ctx context.Context, call *Call, in addArgs) (sum, error) {
		ran = true
		return add(ctx, call, in)
	})
	s.AddRawTool(mcp.Tool{Name: "raw", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(context.Context, *Call, json.RawMessage) (*mcp.CallToolResult, error) {
			ran = true
			return &mcp.CallToolResult{}, nil
		})
	for _, args := range []string{`{"a":1 "b":2}`, `{"a":1,"a":2}`, `{"a":1,"b":tru}`, "{\"a\":1,\"b\":2,\"\xff\":3}", `{"a":01,"b":2}`} {
		for _, name := range []string{"typed", "raw"} {
			if got := call(t, s, name, args); !strings.Contains(got, "error") && !strings.Contains(got, `"isError":true`) {
				t.Errorf("%s of %q: got %s", args, name, got)
			}
		}
	}
	if ran {
		t.Error("a handler ran with arguments that are not JSON")
	}
}

func TestRawToolWithoutStructuredContent(t *testing.T) {
	s, _ := newServer(Options{})
	fail := false
	s.AddRawTool(mcp.Tool{Name: "t", InputSchema: json.RawMessage(`{"type":"object"}`), OutputSchema: json.RawMessage(`{"type":"object"}`)},
		func(context.Context, *Call, json.RawMessage) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{IsError: fail, Content: mcp.Contents{mcp.Text("x")}}, nil
		})
	same(t, call(t, s, "t", "{}"), "error: internal error (-32603)")
	fail = true
	same(t, call(t, s, "t", "{}"), `{"content":[{"type":"text","text":"x"}],"isError":true}`)
}

func TestToolRegistrationErrors(t *testing.T) {
	s, _ := newServer(Options{})
	raw := func(context.Context, *Call, json.RawMessage) (*mcp.CallToolResult, error) { return nil, nil }
	str := func(context.Context, *Call, struct{}) (string, error) { return "", nil }
	schema := func(s string) mcp.Tool { return mcp.Tool{Name: "t", InputSchema: json.RawMessage(s)} }
	for _, c := range []struct {
		err  error
		want string
	}{
		{TryAddTool(s, mcp.Tool{Name: ""}, str), "1 to 128 characters"},
		{TryAddTool(s, mcp.Tool{Name: "a b"}, str), "1 to 128 characters"},
		{TryAddTool(s, mcp.Tool{Name: strings.Repeat("x", 129)}, str), "1 to 128 characters"},
		{TryAddTool[struct{}, string](s, mcp.Tool{Name: "t"}, nil), "no handler"},
		{TryAddTool(s, mcp.Tool{Name: "t"}, func(context.Context, *Call, int) (string, error) { return "", nil }), "struct or a map"},
		{TryAddTool(s, mcp.Tool{Name: "t"}, func(context.Context, *Call, struct{ C chan int }) (string, error) { return "", nil }), "input"},
		{TryAddTool(s, mcp.Tool{Name: "t"}, func(context.Context, *Call, struct{}) (chan int, error) { return nil, nil }), "output"},
		{TryAddTool(s, mcp.Tool{Name: "t", OutputSchema: json.RawMessage(`{}`)}, str), "no structured content"},
		{s.TryAddRawTool(mcp.Tool{Name: "t"}, raw), "no input schema"},
		{s.TryAddRawTool(schema(`{"type":"array"}`), raw), `"type" must be "object"`},
		{s.TryAddRawTool(schema(`true`), raw), "input schema"},
		{s.TryAddRawTool(schema(`{"type":"object","properties":{"a":{"type":"nope"}}}`), raw), "input schema"},
		{s.TryAddRawTool(schema(`{"type":"object","$ref":"https://example.com/s"}`), raw), "input schema"},
		{s.TryAddRawTool(schema(`{"type":"object"}`), nil), "no handler"},
		{s.TryAddRawTool(mcp.Tool{Name: "t", InputSchema: json.RawMessage(`{"type":"object"}`), OutputSchema: json.RawMessage(`true`)}, raw), "output schema"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("got %v, want %q", c.err, c.want)
		}
	}
	if got := mustPanic(t, func() { s.AddRawTool(mcp.Tool{Name: "t"}, raw) }); got != `server: tool "t": no input schema` {
		t.Errorf("panic %q", got)
	}
}

func TestParameterHeaders(t *testing.T) {
	prop := func(s string) string { return `{"type":"object","properties":` + s + `}` }
	for _, c := range []struct{ name, schema, want string }{
		{"good", prop(`{"r":{"type":"string","x-mcp-header":"Region"},"n":{"type":"integer","x-mcp-header":"N"},"b":{"type":"boolean","x-mcp-header":"B"}}`), ""},
		{"nested", prop(`{"o":{"type":"object","properties":{"r":{"type":"string","x-mcp-header":"R"}}}}`), ""},
		{"a property of that name", prop(`{"x-mcp-header":{"type":"string"}}`), ""},
		{"in data", prop(`{"o":{"default":{"x-mcp-header":3}}}`), ""},
		{"empty", prop(`{"r":{"type":"string","x-mcp-header":""}}`), "not the name of a header"},
		{"not a token", prop(`{"r":{"type":"string","x-mcp-header":"a b"}}`), "not the name of a header"},
		{"newline", prop(`{"r":{"type":"string","x-mcp-header":"a\n"}}`), "not the name of a header"},
		{"not a string", prop(`{"r":{"type":"string","x-mcp-header":1}}`), "not the name of a header"},
		{"twice", prop(`{"r":{"type":"string","x-mcp-header":"R"},"s":{"type":"string","x-mcp-header":"r"}}`), `is also at`},
		{"number", prop(`{"r":{"type":"number","x-mcp-header":"R"}}`), "the type must be"},
		{"two types", prop(`{"r":{"type":["string","null"],"x-mcp-header":"R"}}`), "the type must be"},
		{"no type", prop(`{"r":{"x-mcp-header":"R"}}`), "the type must be"},
		{"root", `{"type":"object","x-mcp-header":"R"}`, "only properties"},
		{"items", prop(`{"l":{"type":"array","items":{"type":"string","x-mcp-header":"R"}}}`), "only properties"},
		{"allOf", `{"type":"object","allOf":[{"properties":{"r":{"type":"string","x-mcp-header":"R"}}}]}`, "only properties"},
		{"definition", `{"type":"object","$defs":{"d":{"type":"string","x-mcp-header":"R"}}}`, "only properties"},
		{"if", `{"type":"object","if":{"properties":{"r":{"type":"string","x-mcp-header":"R"}}}}`, "only properties"},
		{"escaped", prop(`{"r":{"type":"number","\u0078-mcp-head\u0065r":"R"}}`), "the type must be"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := compileInput(json.RawMessage(c.schema))
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestToolOrder(t *testing.T) {
	s, _ := newServer(Options{})
	text := func(text string) func(context.Context, *Call, struct{}) (string, error) {
		return func(context.Context, *Call, struct{}) (string, error) { return text, nil }
	}
	for _, name := range []string{"c", "a", "b"} {
		AddTool(s, mcp.Tool{Name: name}, text("old"))
	}
	AddTool(s, mcp.Tool{Name: "a", Title: "new"}, text("new"))
	s.RemoveTools("c", "nope")
	AddTool(s, mcp.Tool{Name: "c"}, text("again"))
	want := `{"tools":[` +
		`{"name":"a","title":"new","inputSchema":{"type":"object","additionalProperties":false}},` +
		`{"name":"b","inputSchema":{"type":"object","additionalProperties":false}},` +
		`{"name":"c","inputSchema":{"type":"object","additionalProperties":false}}]}`
	same(t, serve(t, s, mcp.MethodListTools, ""), want)
	same(t, call(t, s, "a", "{}"), `{"content":[{"type":"text","text":"new"}]}`)
}

func BenchmarkCallTool(b *testing.B) {
	s, _ := newServer(Options{})
	AddTool(s, mcp.Tool{Name: "add"}, add)
	x := request(mcp.MethodCallTool, `{"name":"add","arguments":{"a":1,"b":2}}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Serve(b.Context(), x); err != nil {
			b.Fatal(err)
		}
	}
}

// Adding many tools, one by one, must not take time quadratic in their number.
func BenchmarkAddTools(b *testing.B) {
	raw := func(context.Context, *Call, json.RawMessage) (*mcp.CallToolResult, error) { return nil, nil }
	for b.Loop() {
		s, _ := newServer(Options{})
		for i := range 10_000 {
			s.AddRawTool(mcp.Tool{Name: fmt.Sprint("t", i), InputSchema: json.RawMessage(`{"type":"object"}`)}, raw)
		}
		s.tools.load()
	}
}

// A change must not make the calls after it take time proportional to the
// number of tools.
func BenchmarkCallAfterChange(b *testing.B) {
	for _, tools := range []int{10, 10_000} {
		b.Run(fmt.Sprint(tools), func(b *testing.B) {
			s, _ := newServer(Options{})
			for i := range tools {
				AddTool(s, mcp.Tool{Name: fmt.Sprint("t", i)}, add)
			}
			x := request(mcp.MethodCallTool, `{"name":"t1","arguments":{"a":1,"b":2}}`)
			b.ReportAllocs()
			for b.Loop() {
				AddTool(s, mcp.Tool{Name: "t0"}, add)
				if _, err := s.Serve(b.Context(), x); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
