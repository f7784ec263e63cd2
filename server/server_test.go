package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

func textTool(context.Context, *Call, struct{}) (string, error) { return "ok", nil }

func TestCapabilities(t *testing.T) {
	caps := func(s *Server) string { return toJSON(t, s.Describe(t.Context(), nil).Capabilities) }
	s, _ := newServer(Options{})
	same(t, caps(s), `{}`)
	AddTool(s, mcp.Tool{Name: "t"}, textTool)
	same(t, caps(s), `{"tools":{"listChanged":true}}`)
	s.RemoveTools("t")
	same(t, caps(s), `{"tools":{"listChanged":true}}`)
	AddPrompt(s, mcp.Prompt{Name: "p"}, reviewPrompt)
	s.AddResource(mcp.Resource{URI: "x:a", Name: "a"}, readText(""))
	same(t, caps(s), `{"tools":{"listChanged":true},"resources":{"listChanged":true},"prompts":{"listChanged":true},"completions":{}}`)

	s, _ = newServer(Options{
		Announce: Features{Tools: true, Resources: true, Prompts: true}, Logging: true,
		WatchResource: func(string) (func(), error) { return nil, nil },
		Extensions:    map[string]any{"com.example/x": map[string]int{"n": 1}, "io.modelcontextprotocol/y": nil},
		Experimental:  map[string]any{"z": struct{}{}},
	})
	same(t, caps(s), `{"tools":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},"prompts":{"listChanged":true},`+
		`"logging":{},"extensions":{"com.example/x":{"n":1},"io.modelcontextprotocol/y":{}},"experimental":{"z":{}}}`)
	same(t, serve(t, s, mcp.MethodListTools, ""), `{"tools":[]}`)
	same(t, serve(t, s, mcp.MethodListPrompts, ""), `{"prompts":[]}`)
	same(t, serve(t, s, mcp.MethodListResources, ""), `{"resources":[]}`)
	same(t, serve(t, s, mcp.MethodListTemplates, ""), `{"resourceTemplates":[]}`)
}

func TestDescribe(t *testing.T) {
	s := New(mcp.Implementation{Name: "n", Version: "v"}, &Options{
		Instructions: "i", Revisions: []mcp.Revision{mcp.Revision20260728},
		Cache: map[string]CacheHint{mcp.MethodDiscover: {TTL: time.Minute}},
	})
	d := s.Describe(t.Context(), nil)
	if d.Info.Name != "n" || d.Instructions != "i" || len(d.Revisions) != 1 {
		t.Errorf("got %+v", d)
	}
	same(t, toJSON(t, d.Cache), `{"ttlMs":60000,"cacheScope":"private"}`)
	if s := New(mcp.Implementation{}, nil); toJSON(t, s.Describe(t.Context(), nil).Cache) != `{}` {
		t.Error("nil options are not the defaults")
	}
}

func TestBadOptions(t *testing.T) {
	visible := func(context.Context, *mcp.Exchange, mcp.FeatureKind, string) bool { return true }
	cache := func(method string, h CacheHint) map[string]CacheHint { return map[string]CacheHint{method: h} }
	for want, opts := range map[string]Options{
		"PageSize":         {PageSize: -1},
		"Panic":            {Panic: 7},
		"LogRate":          {LogRate: mcp.Rate{PerSecond: math.NaN()}},
		"Revisions":        {Revisions: []mcp.Revision{}},
		"not cacheable":    {Cache: cache(mcp.MethodCallTool, CacheHint{})},
		"negative TTL":     {Cache: cache(mcp.MethodListTools, CacheHint{TTL: -1})},
		"unknown scope":    {Cache: cache(mcp.MethodListTools, CacheHint{Scope: "shared"})},
		"cannot be public": {Cache: cache(mcp.MethodListTools, CacheHint{Scope: mcp.CachePublic}), Visible: visible},
		"needs a prefix":   {Extensions: map[string]any{"search": nil}},
		"JSON object":      {Extensions: map[string]any{"com.example/search": 1}},
		"Experimental":     {Experimental: map[string]any{"f": make(chan int)}},
	} {
		if got := mustPanic(t, func() { New(mcp.Implementation{}, &opts) }); !strings.Contains(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestUndeclaredMethods(t *testing.T) {
	s, _ := newServer(Options{})
	for method := range methods {
		same(t, serve(t, s, method, `{}`), "error: method not found: "+method)
	}
	for _, method := range []string{"nope", mcp.MethodInitialize, mcp.MethodPing, ""} {
		same(t, serve(t, s, method, ``), "error: method not found: "+method)
	}
}

// A notification runs no tool: it has no response.
func TestRequestMethodAsNotification(t *testing.T) {
	s, _ := newServer(Options{})
	AddTool(s, mcp.Tool{Name: "t"}, func(context.Context, *Call, struct{}) (string, error) {
		t.Error("the tool ran")
		return "", nil
	})
	same(t, serveExchange(t, s, notification(mcp.MethodCallTool, `{"name":"t"}`)), "null")
}

func TestVisible(t *testing.T) {
	s, _ := newServer(Options{PageSize: 2, Visible: func(_ context.Context, x *mcp.Exchange, kind mcp.FeatureKind, name string) bool {
		return x.Peer.Principal == "root" || !strings.Contains(name, fmt.Sprintf("hidden%d", kind))
	}})
	for _, name := range []string{"hidden1a", "a", "hidden1b", "b", "c", "hidden1c"} {
		AddTool(s, mcp.Tool{Name: name}, textTool)
	}
	s.AddResource(mcp.Resource{URI: "x:hidden2", Name: "r"}, readText("secret"))
	AddTemplate(s, mcp.ResourceTemplate{URITemplate: "x:hidden3/{a}", Name: "t"},
		func(context.Context, *Call, string, map[string]string) (*mcp.ReadResourceResult, error) {
			return Contents(), nil
		})
	AddPrompt(s, mcp.Prompt{Name: "hidden4"}, reviewPrompt)
	as := func(principal, method, params string) string {
		x := request(method, params)
		x.Peer.Principal = principal
		return serveExchange(t, s, x)
	}
	names, pages := listAll(t, s, "")
	same(t, fmt.Sprint(names, pages), "[a b c] 2")
	for _, c := range []struct{ method, params, hidden string }{
		{mcp.MethodCallTool, `{"name":"hidden1a"}`, `error: unknown tool: "hidden1a"`},
		{mcp.MethodReadResource, `{"uri":"x:hidden2"}`, `error: resource not found: x:hidden2`},
		{mcp.MethodReadResource, `{"uri":"x:hidden3/1"}`, `error: resource not found: x:hidden3/1`},
		{mcp.MethodGetPrompt, `{"name":"hidden4","arguments":{"code":"x"}}`, `error: unknown prompt: "hidden4"`},
		{mcp.MethodComplete, `{"ref":{"type":"ref/prompt","name":"hidden4"},"argument":{"name":"code","value":""}}`, `error: unknown ref/prompt: "hidden4"`},
		{mcp.MethodComplete, `{"ref":{"type":"ref/resource","uri":"x:hidden2"},"argument":{"name":"code","value":""}}`, `error: unknown ref/resource: "x:hidden2"`},
		{mcp.MethodComplete, `{"ref":{"type":"ref/resource","uri":"x:hidden3/{a}"},"argument":{"name":"a","value":""}}`, `error: unknown ref/resource: "x:hidden3/{a}"`},
		{mcp.MethodListResources, ``, `{"resources":[]}`},
		{mcp.MethodListTemplates, ``, `{"resourceTemplates":[]}`},
		{mcp.MethodListPrompts, ``, `{"prompts":[]}`},
	} {
		same(t, as("", c.method, c.params), c.hidden)
		if got := as("root", c.method, c.params); got == c.hidden || strings.HasPrefix(got, "error") {
			t.Errorf("%s %s as root: %s", c.method, c.params, got)
		}
	}
}

// listAll reads all pages of tools from a cursor onwards.
func listAll(t *testing.T, s *Server, cursor string) (names []string, pages int) {
	t.Helper()
	params := "{}"
	if cursor != "" {
		params = `{"cursor":"` + cursor + `"}`
	}
	for {
		result, err := s.Serve(t.Context(), request(mcp.MethodListTools, params))
		if err != nil {
			t.Fatal(err)
		}
		list := result.(*mcp.ListToolsResult)
		for _, tool := range list.Tools {
			names = append(names, tool.Name)
		}
		pages++
		if list.NextCursor == nil {
			return names, pages
		}
		params = `{"cursor":"` + *list.NextCursor + `"}`
	}
}

func TestPagination(t *testing.T) {
	build := func(names ...string) *Server {
		s, _ := newServer(Options{PageSize: 2})
		for _, name := range names {
			AddTool(s, mcp.Tool{Name: name}, textTool)
		}
		return s
	}
	s := build("a", "b", "c", "d", "e")
	names, pages := listAll(t, s, "")
	same(t, fmt.Sprint(names, pages), "[a b c d e] 3")
	result, _ := s.Serve(t.Context(), request(mcp.MethodListTools, ""))
	afterB := *result.(*mcp.ListToolsResult).NextCursor

	for _, c := range []struct {
		name string
		s    *Server
		want string
	}{
		{"another process", build("a", "b", "c", "d"), "[c d]"},
		{"more before", build("x", "y", "a", "b", "c"), "[c]"},
		{"reordered", build("b", "c", "a"), "[c a]"},
		{"the last one gone", build("a", "c", "d"), "[c d]"},
		{"nearly all gone", build("z"), "[]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			names, _ := listAll(t, c.s, afterB)
			same(t, fmt.Sprint(names), c.want)
		})
	}
	same(t, serve(t, build("a"), mcp.MethodListTools, `{"cursor":null}`), serve(t, build("a"), mcp.MethodListTools, ``))
}

func TestBadCursor(t *testing.T) {
	s, _ := newServer(Options{Announce: Features{Tools: true, Prompts: true}})
	for _, text := range []string{"", "x", "!", "AQ", "AQE", "AgEAYQ", "AQEAYQ==", cursor{mcp.PromptFeature, 0, "a"}.String(), cursor{mcp.ToolFeature, 0, "\xff"}.String()} {
		same(t, serve(t, s, mcp.MethodListTools, `{"cursor":"`+text+`"}`), `error: invalid cursor "`+text+`"`)
	}
	same(t, serve(t, s, mcp.MethodListTools, `{"cursor":3}`), `error: params of tools/list: cursor: unexpected number`)
}

func FuzzCursor(f *testing.F) {
	s, _ := newServer(Options{})
	AddTool(s, mcp.Tool{Name: "a"}, textTool)
	f.Add(cursor{mcp.ToolFeature, 3, "abc"}.String())
	f.Add(cursor{mcp.ResourceFeature, 70000, "file:///é"}.String())
	f.Add("AQEA\n")
	f.Fuzz(func(t *testing.T, text string) {
		c, ok := parseCursor(text)
		if !ok {
			return
		}
		if c.String() != text {
			t.Errorf("%q decodes to %v, which encodes to %q", text, c, c.String())
		}
		v := view[mcp.Tool, *tool]{s.tools.load(), func(string) bool { return true }}
		if from := v.after(c); from.at < 0 || from.at > 1 {
			t.Errorf("%q starts at %d", text, from.at)
		}
	})
}

func TestCaching(t *testing.T) {
	s, log := newServer(Options{Announce: Features{Prompts: true}, Cache: map[string]CacheHint{
		mcp.MethodListTools:    {TTL: 1500 * time.Millisecond, Scope: mcp.CachePublic},
		mcp.MethodReadResource: {TTL: time.Second, Scope: mcp.CachePublic},
	}})
	AddTool(s, mcp.Tool{Name: "t"}, textTool)
	s.RemoveTools("t")
	same(t, serve(t, s, mcp.MethodListTools, ""), `{"ttlMs":1500,"cacheScope":"public","tools":[]}`)
	same(t, serve(t, s, mcp.MethodListPrompts, ""), `{"prompts":[]}`)
	ms := func(n int64) *int64 { return &n }
	for i, c := range []struct {
		own  mcp.CacheFields
		want string
	}{
		{mcp.CacheFields{}, `"ttlMs":1000,"cacheScope":"public"`},
		{mcp.CacheFields{CacheScope: mcp.CachePrivate}, `"ttlMs":1000,"cacheScope":"private"`},
		{mcp.CacheFields{TTLMs: ms(5)}, `"ttlMs":5,"cacheScope":"private"`},
		{mcp.CacheFields{TTLMs: ms(5), CacheScope: mcp.CachePublic}, `"ttlMs":5,"cacheScope":"public"`},
	} {
		uri := fmt.Sprint("x:", i)
		s.AddResource(mcp.Resource{URI: uri, Name: "r"}, func(context.Context, *Call, string) (*mcp.ReadResourceResult, error) {
			result := Contents()
			result.CacheFields = c.own
			return result, nil
		})
		same(t, read(t, s, uri), `{`+c.want+`,"contents":[]}`)
		// Spec: 2026-07-28 server/utilities/caching#cache-key.
		for name, retry := range map[string]*mcp.Exchange{
			"answers": {Answers: map[string]json.RawMessage{}},
			"a state": {State: json.RawMessage(`1`)},
		} {
			x := request(mcp.MethodReadResource, fmt.Sprintf(`{"uri":%q}`, uri))
			x.Answers, x.State = retry.Answers, retry.State
			if got, want := serveExchange(t, s, x), `{"ttlMs":0,"cacheScope":"private","contents":[]}`; got != want {
				t.Errorf("read with %s and the handler's own %s: got %s, want %s", name, c.want, got, want)
			}
		}
	}
	for want, own := range map[string]mcp.CacheFields{
		"negative ttlMs -5":           {TTLMs: ms(-5)},
		`unknown cacheScope \"shared`: {TTLMs: ms(5), CacheScope: "shared"},
		`unknown cacheScope \"me`:     {CacheScope: "me"},
	} {
		s.AddResource(mcp.Resource{URI: "x:bad", Name: "r"}, func(context.Context, *Call, string) (*mcp.ReadResourceResult, error) {
			result := Contents()
			result.CacheFields = own
			return result, nil
		})
		same(t, read(t, s, "x:bad"), "error: internal error (-32603)")
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log does not say %s:\n%s", want, log)
		}
	}
}

func TestMiddleware(t *testing.T) {
	s, log := newServer(Options{})
	var order []string
	named := func(name string) Middleware {
		return func(next mcp.ServeFunc) mcp.ServeFunc {
			return func(ctx context.Context, x *mcp.Exchange) (any, error) {
				order = append(order, name)
				result, err := next(ctx, x)
				order = append(order, fmt.Sprintf("%s:%v", name, err))
				return result, err
			}
		}
	}
	s.Use(named("a"), named("b"))
	s.Use(named("c"))
	AddTool(s, mcp.Tool{Name: "t"}, textTool)
	AddTool(s, mcp.Tool{Name: "panic"}, func(context.Context, *Call, struct{}) (string, error) { panic("oh no") })
	s.AddResource(mcp.Resource{URI: "x:a", Name: "a"}, func(context.Context, *Call, string) (*mcp.ReadResourceResult, error) {
		return nil, errors.New("secret")
	})
	for _, c := range []struct{ method, params, want, order string }{
		{mcp.MethodCallTool, `{"name":"t"}`, `{"content":[{"type":"text","text":"ok"}]}`, "[a b c c:<nil> b:<nil> a:<nil>]"},
		{mcp.MethodCallTool, `{"name":"panic"}`, `error: internal error (-32603)`, "[a b c c:internal error (-32603) b:internal error (-32603) a:internal error (-32603)]"},
		{mcp.MethodReadResource, `{"uri":"x:a"}`, `error: internal error (-32603)`, "[a b c c:secret b:secret a:secret]"},
	} {
		order = nil
		same(t, serve(t, s, c.method, c.params), c.want)
		same(t, fmt.Sprint(order), c.order)
	}
	s.Use(func(mcp.ServeFunc) mcp.ServeFunc {
		return func(context.Context, *mcp.Exchange) (any, error) { panic("in middleware") }
	})
	same(t, serve(t, s, mcp.MethodListTools, ""), `error: internal error (-32603)`)
	for _, want := range []string{"oh no", "secret", "in middleware", "middleware.go"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("%q is not logged:\n%s", want, log)
		}
	}
}

func TestCrashOnPanic(t *testing.T) {
	s, _ := newServer(Options{Panic: CrashOnPanic})
	AddTool(s, mcp.Tool{Name: "panic"}, func(context.Context, *Call, struct{}) (string, error) { panic("oh no") })
	if got := mustPanic(t, func() { call(t, s, "panic", "{}") }); got != "oh no" {
		t.Errorf("got %q", got)
	}
}

func TestCustomMethods(t *testing.T) {
	s, _ := newServer(Options{})
	type params struct {
		N int `json:"n"`
	}
	type result struct {
		Twice int `json:"twice"`
	}
	Handle(s, "x/twice", func(_ context.Context, _ *Call, p params) (result, error) { return result{2 * p.N}, nil })
	Handle(s, "x/fail", func(context.Context, *Call, params) (*result, error) { return nil, jsonrpc.Errorf(5, "five") })
	Handle(s, "x/nilptr", func(context.Context, *Call, params) (*result, error) { return nil, nil })
	give := func(v any) MethodHandler {
		return func(context.Context, *Call, json.RawMessage) (any, error) { return v, nil }
	}
	s.HandleMethod("x/nil", give(nil))
	s.HandleMethod("x/number", give(1))
	s.HandleMethod("x/raw", give(json.RawMessage(`{"a":1}`)))
	s.HandleMethod("x/rawnumber", give(json.RawMessage(`1`)))
	s.HandleMethod("x/map", give(map[string]int{"a": 1}))
	s.HandleMethod("x/echo", func(_ context.Context, _ *Call, p json.RawMessage) (any, error) { return p, nil })
	for _, c := range []struct{ method, params, want string }{
		{"x/twice", `{"n":2}`, `{"twice":4}`},
		{"x/twice", ``, `{"twice":0}`},
		{"x/twice", `{"n":"2"}`, `error: params of x/twice: n: unexpected string`},
		{"x/fail", ``, `error: five (5)`},
		{"x/nilptr", ``, `error: internal error (-32603)`},
		{"x/nil", ``, `{}`},
		{"x/number", ``, `error: internal error (-32603)`},
		{"x/raw", ``, `{"a":1}`},
		{"x/rawnumber", ``, `error: internal error (-32603)`},
		{"x/map", ``, `{"a":1}`},
		{"x/echo", `{"big":123456789012345678901234567890}`, `{"big":123456789012345678901234567890}`},
	} {
		same(t, serve(t, s, c.method, c.params), c.want)
	}
}

func TestCustomNotifications(t *testing.T) {
	s, _ := newServer(Options{})
	var got []string
	handle := func(_ context.Context, c *Call, params json.RawMessage) {
		got = append(got, c.Exchange().Method+" "+string(params))
	}
	s.HandleNotification("x/note", handle)
	s.HandleNotification(mcp.NoteRootsChanged, handle)
	for _, method := range []string{"x/note", mcp.NoteRootsChanged, "x/other"} {
		if result, err := s.Serve(t.Context(), notification(method, `{"a":1}`)); result != nil || err != nil {
			t.Errorf("%s: got %v, %v", method, result, err)
		}
	}
	same(t, serve(t, s, "x/note", ""), "error: method not found: x/note")
	same(t, fmt.Sprint(got), `[x/note {"a":1} notifications/roots/list_changed {"a":1}]`)
	for _, f := range []func(){
		func() { s.HandleNotification(mcp.NoteCancelled, handle) },
		func() { s.HandleNotification("", handle) },
		func() { s.HandleNotification("x", nil) },
		func() { s.HandleMethod(mcp.MethodPing, nil) },
		func() { Handle[int, int](s, "x", nil) },
	} {
		mustPanic(t, f)
	}
}

// Everything concurrently, for the race detector.
func TestConcurrentUse(t *testing.T) {
	s, _ := newServer(Options{PageSize: 3})
	AddTool(s, mcp.Tool{Name: "stays"}, textTool)
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for j := range 50 {
				name := fmt.Sprintf("t%d-%d", i, j%5)
				AddTool(s, mcp.Tool{Name: name}, textTool)
				stop := subscribe(t, s, mcp.SubscriptionFilter{ToolsListChanged: true}, func(mcp.Change) {})
				s.Use(func(next mcp.ServeFunc) mcp.ServeFunc { return next })
				same(t, call(t, s, "stays", "{}"), `{"content":[{"type":"text","text":"ok"}]}`)
				listAll(t, s, "")
				s.Describe(t.Context(), nil)
				s.RemoveTools(name)
				stop()
			}
		})
	}
	wg.Wait()
	names, _ := listAll(t, s, "")
	same(t, fmt.Sprint(names), "[stays]")
}
