package bridge_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/bridge"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// modes are a session and the stateless era, over lines and over HTTP.
var modes = []mcptest.Mode{
	{Revision: mcp.Revision20251125, Transport: mcptest.Lines},
	{Revision: mcp.Revision20251125, Transport: mcptest.HTTP},
	{Revision: mcp.Revision20260728, Transport: mcptest.Lines},
	{Revision: mcp.Revision20260728, Transport: mcptest.HTTP},
}

func stateless(m mcptest.Mode) bool { return m.Revision == mcp.Revision20260728 }

// overPairs runs a test for each pair of modes.
func overPairs(t *testing.T, body func(t *testing.T, front, back mcptest.Mode)) {
	for _, front := range modes {
		for _, back := range modes {
			t.Run(front.String()+" to "+back.String(), func(t *testing.T) { body(t, front, back) })
		}
	}
}

// bridged returns a bridge to a server that is reached in a mode.
func bridged(t *testing.T, h mcp.Handler, back mcptest.Mode) *bridge.Bridge {
	t.Helper()
	return sharedBy(t, h, back, bridge.ShareSession)
}

// sharedBy is bridged with a choice of who shares a connection.
func sharedBy(t *testing.T, h mcp.Handler, back mcptest.Mode, share bridge.Share) *bridge.Bridge {
	t.Helper()
	return boundBy(t, h, back, bridge.Options{Share: share})
}

// boundBy is bridged with options.
func boundBy(t *testing.T, h mcp.Handler, back mcptest.Mode, o bridge.Options) *bridge.Bridge {
	t.Helper()
	o.Logger = mcptest.Quiet()
	tr := &mcptest.Transport{Handler: h, Over: back.Transport, Serve: &mcp.ServeOptions{Logger: mcptest.Quiet()}}
	t.Cleanup(tr.Wait)
	o.Connect = func(ctx context.Context, _ *mcp.Peer, c *client.Options) (*client.Client, error) {
		c.Revisions = []mcp.Revision{back.Revision}
		return client.Connect(ctx, tr, c)
	}
	b, err := bridge.New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return b
}

func newServer() *server.Server {
	return server.New(mcp.Implementation{Name: "behind", Version: "1"}, &server.Options{
		Logger: mcptest.Quiet(), Logging: true, Subscriptions: true,
		Announce: server.Features{Tools: true, Prompts: true, Resources: true},
	})
}

// serving returns a server that gives every request of its features to serve.
func serving(serve mcp.ServeFunc) *server.Server {
	s := newServer()
	s.Use(func(next mcp.ServeFunc) mcp.ServeFunc {
		return func(ctx context.Context, x *mcp.Exchange) (any, error) {
			if x.Watch != nil {
				return next(ctx, x)
			}
			return serve(ctx, x)
		}
	})
	return s
}

// everything returns the capabilities of a client that answers everything.
func everything() *mcp.ClientCapabilities {
	return &mcp.ClientCapabilities{
		Roots:       &mcp.RootsCapability{ListChanged: true},
		Sampling:    &mcp.SamplingCapability{Tools: &mcp.Empty{}},
		Elicitation: &mcp.ElicitationCapability{Form: &mcp.Empty{}, URL: &mcp.Empty{}},
	}
}

// within fails the test when nothing comes from a channel in time.
func within[T any](t *testing.T, what string, ch <-chan T) T {
	t.Helper()
	timer := time.NewTimer(20 * time.Second)
	defer timer.Stop()
	select {
	case v := <-ch:
		return v
	case <-timer.C:
		t.Fatalf("%s did not come", what)
	}
	panic("unreachable")
}

// record keeps what somebody heard.
type record struct {
	mu   sync.Mutex
	list []string
}

func (r *record) say(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append(r.list, fmt.Sprintf(format, args...))
}

func (r *record) expect(t *testing.T, who string, want ...string) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, w := range want {
		if !slices.ContainsFunc(r.list, func(s string) bool { return strings.Contains(s, w) }) {
			t.Errorf("%s did not hear of %s, but of\n%s", who, w, strings.Join(r.list, "\n"))
		}
	}
}

const (
	params   = `{"name":"work","arguments":{"z":1.0,"a":1e400,"big":12345678901234567890,"s":"\u00e9\/é"},"com.example/more":[1]`
	result   = `{"com.example/first":1.0,"content":[{"type":"text","text":"\u00e9","com.example/x":{}}],"structuredContent":{"z":1.00,"a":-0}`
	progress = `"progress":0.50,"total":1.0,"com.example/eta":1e3`
	logged   = `{"level":"info","data":{"n":1.0},"com.example/of":"work"}`
	form     = `{"mode":"form","message":"Who?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}},"com.example/why":1.0}`
	visit    = `{"mode":"url","message":"Pay","url":"https://pay.example/1","elicitationId":"e1","com.example/why":2.0}`
	sample   = `{"messages":[{"role":"user","content":{"type":"text","text":"Hi"}}],"maxTokens":7,"com.example/why":3.0}`
)

// answers are what the client answers, by what is asked.
var answers = map[string]string{
	"form":             `{"action":"accept","content":{"name":"Ann","age":1.0},"com.example/sure":true}`,
	"url":              `{"action":"accept","com.example/sure":2.0}`,
	mcp.MethodSample:   `{"role":"assistant","content":{"type":"text","text":"Ho"},"model":"m","com.example/cost":1.50,"stopReason":"endTurn"}`,
	mcp.MethodRoots:    `{"roots":[{"uri":"file:///a","name":"a","com.example/size":1.0}]}`,
	"notifications/ok": "",
}

// work does everything that a server can do during a call.
func work(said *record) mcp.ServeFunc {
	return func(ctx context.Context, x *mcp.Exchange) (any, error) {
		said.say("params: %s", x.Params)
		_ = x.Back.Notify(ctx, mcp.NoteProgress, json.RawMessage(`{`+progress+`}`))
		_ = x.Back.Notify(ctx, mcp.NoteMessage, json.RawMessage(logged))
		_ = x.Back.Notify(ctx, "notifications/com.example/news", json.RawMessage(`{"n":1.0}`))
		for _, q := range []mcp.InputRequest{
			{Key: "a", Method: mcp.MethodElicit, Params: json.RawMessage(form)},
			{Key: "b", Method: mcp.MethodElicit, Params: json.RawMessage(visit)},
			{Key: "c", Method: mcp.MethodSample, Params: json.RawMessage(sample)},
			{Key: "d", Method: mcp.MethodRoots},
		} {
			got, err := x.Back.Input(ctx, q)
			if err != nil {
				return nil, err
			}
			said.say("%s: %s", q.Key, got[0])
		}
		return json.RawMessage(result + `,"_meta":{"com.example/m":1.0}}`), nil
	}
}

// Arguments, questions of all kinds, answers, progress, log messages and results pass
// verbatim between all eras and transports.
func TestPassesOn(t *testing.T) {
	overPairs(t, func(t *testing.T, front, back mcptest.Mode) {
		atServer, atUser := new(record), new(record)
		b := bridged(t, serving(work(atServer)), back)
		c := mcptest.Connect(t, b, front, &client.Options{
			Capabilities: everything(),
			Answer: func(_ context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
				atUser.say("asked %s: %s", method, params)
				kind := method
				if method == mcp.MethodElicit {
					kind = "form"
					if strings.Contains(string(params), `"url"`) {
						kind = "url"
					}
				}
				return json.RawMessage(answers[kind]), nil
			},
		})
		got, err := c.Do(t.Context(), mcp.MethodCallTool, json.RawMessage(params+`,"_meta":{"com.example/t":1.0}}`),
			client.WithProgress(nil), client.WithLogLevel(mcp.LevelInfo),
			client.WithNotifications(func(_ context.Context, method string, params json.RawMessage) {
				atUser.say("told %s: %s", method, params)
			}))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(string(got), result) || !strings.Contains(string(got), `"com.example/m":1.0`) {
			t.Errorf("the result is %s", got)
		}
		atServer.expect(t, "the server", strings.TrimPrefix(params, "{"), `"com.example/t":1.0`,
			"a: "+answers["form"], `"com.example/sure":2.0`, "c: "+answers[mcp.MethodSample], "d: "+answers[mcp.MethodRoots])
		atUser.expect(t, "the user",
			"asked elicitation/create: "+strings.TrimSuffix(form, "}"), `"url":"https://pay.example/1"`, `"com.example/why":2.0`,
			"asked sampling/createMessage: "+strings.TrimSuffix(sample, "}"), "asked roots/list",
			"told notifications/progress: {"+progress, "told notifications/message: "+logged, `told notifications/com.example/news: {"n":1.0}`)
	})
}

// The reason for which a call is cancelled reaches the server, except in the stateless
// era over HTTP, where a client can only close the stream.
func TestCancels(t *testing.T) {
	overPairs(t, func(t *testing.T, front, back mcptest.Mode) {
		news := make(chan string, 2)
		b := bridged(t, serving(func(ctx context.Context, x *mcp.Exchange) (any, error) {
			news <- "started"
			<-ctx.Done()
			news <- context.Cause(ctx).Error()
			return nil, context.Cause(ctx)
		}), back)
		c := mcptest.Connect(t, b, front, nil)
		ctx, cancel := context.WithCancelCause(t.Context())
		ended := make(chan error, 1)
		go func() { // ends with the call
			_, err := c.Do(ctx, mcp.MethodCallTool, json.RawMessage(`{"name":"wait"}`))
			ended <- err
		}()
		within(t, "the call at the server", news)
		why := errors.New("Ann has changed her mind")
		cancel(why)
		if err := within(t, "the end of the call", ended); !errors.Is(err, why) {
			t.Errorf("the call failed with %v", err)
		}
		got := within(t, "the cancellation at the server", news)
		silent := front.IsHTTP() && stateless(front) || back.IsHTTP() && stateless(back)
		if !silent && got != why.Error() {
			t.Errorf("the server was told %q", got)
		}
	})
}

// All kinds of features pass, with lists, templates, completion and errors.
func TestFeatures(t *testing.T) {
	overPairs(t, func(t *testing.T, front, back mcptest.Mode) {
		c := mcptest.Connect(t, bridged(t, featured(), back), front, nil)
		ctx := t.Context()
		if c.ServerInfo().Name != "behind" || c.ServerCapabilities().Completions == nil {
			t.Errorf("the server is %+v with %+v", c.ServerInfo(), c.ServerCapabilities())
		}
		tools, err := client.Collect(c.Tools(ctx))
		if err != nil || len(tools) != 3 || tools[0].Name != "add" {
			t.Errorf("the tools are %v, error %v", tools, err)
		}
		if sum, err := client.Call[int](ctx, c, "add", map[string]any{"a": 2, "b": 3}); err != nil || sum != 5 {
			t.Errorf("2 + 3 = %d, error %v", sum, err)
		}
		if r, err := c.CallTool(ctx, "add", map[string]any{"a": "x"}); err != nil || !r.IsError {
			t.Errorf("wrong arguments: %+v, error %v", r, err)
		}
		if _, err := c.CallTool(ctx, "none", nil); err == nil || !strings.Contains(err.Error(), `"none"`) {
			t.Errorf("an unknown tool: error %v", err)
		}
		r, err := c.ReadResource(ctx, "note://7")
		if err != nil || *r.Contents[0].Text != "note 7" {
			t.Errorf("the resource is %+v, error %v", r, err)
		}
		if _, err := c.ReadResource(ctx, "none://1"); !errors.Is(err, client.ErrNotFound) {
			t.Errorf("an unknown resource: error %v", err)
		}
		templates, err := client.Collect(c.ResourceTemplates(ctx))
		if err != nil || len(templates) != 1 {
			t.Errorf("the templates are %v, error %v", templates, err)
		}
		p, err := c.GetPrompt(ctx, "greet", map[string]string{"name": "Ann"})
		if err != nil || len(p.Messages) != 1 {
			t.Errorf("the prompt is %+v, error %v", p, err)
		}
		done, err := c.CompletePrompt(ctx, "greet", "name", "A", nil)
		if err != nil || !slices.Equal(done.Values, []string{"Ann", "Ada"}) {
			t.Errorf("the completion is %+v, error %v", done, err)
		}
		if err := c.Ping(ctx); err != nil {
			t.Error(err)
		}
	})
}

// featured has one feature of each kind, over several pages.
func featured() *server.Server {
	s := server.New(mcp.Implementation{Name: "behind", Version: "1"}, &server.Options{
		Logger: mcptest.Quiet(), Logging: true, Subscriptions: true, PageSize: 1,
	})
	type terms struct {
		A int `json:"a"`
		B int `json:"b"`
	}
	server.AddTool(s, mcp.Tool{Name: "add"}, func(_ context.Context, _ *server.Call, in terms) (int, error) { return in.A + in.B, nil })
	for _, name := range []string{"b", "c"} {
		server.AddTool(s, mcp.Tool{Name: name}, func(context.Context, *server.Call, struct{}) (string, error) { return name, nil })
	}
	server.AddTemplate(s, mcp.ResourceTemplate{URITemplate: "note://{id}", Name: "note"}, func(_ context.Context, _ *server.Call, uri string, vars struct {
		ID string `json:"id"`
	},
	) (*mcp.ReadResourceResult, error) {
		return server.Contents(mcp.TextResource(uri, "text/plain", "note "+vars.ID)), nil
	})
	server.AddPrompt(s, mcp.Prompt{Name: "greet"}, func(_ context.Context, _ *server.Call, in struct {
		Name string `json:"name"`
	},
	) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: mcp.RoleUser, Content: mcp.Text("Hello, " + in.Name)}}}, nil
	})
	s.CompletePrompt("greet", "name", server.CompleteFrom("Ann", "Ada", "Bob"))
	return s
}

// Changes of lists and of resources reach the clients.
func TestSubscriptions(t *testing.T) {
	overPairs(t, func(t *testing.T, front, back mcptest.Mode) {
		s := featured()
		c := mcptest.Connect(t, bridged(t, s, back), front, nil)
		events := make(chan client.Event, 100)
		sub, err := c.Listen(t.Context(), mcp.SubscriptionFilter{ToolsListChanged: true, ResourceSubscriptions: []string{"note://1"}},
			func(_ context.Context, e client.Event) { events <- e })
		if err != nil {
			t.Fatal(err)
		}
		if got := sub.Honoured(); !got.ToolsListChanged || len(got.ResourceSubscriptions) != 1 {
			t.Errorf("honoured is %+v", got)
		}
		s.ResourceUpdated("note://1")
		s.ResourceUpdated("note://2")
		if e := within(t, "the changed resource", events); e.Change.URI != "note://1" {
			t.Errorf("the event is %+v", e)
		}
		// The connection of a session, and its subscription to lists, begin in the
		// background, so that a change may come too early for it.
		ticker := time.NewTicker(20 * time.Millisecond)
		defer ticker.Stop()
		for i := 0; ; i++ {
			server.AddTool(s, mcp.Tool{Name: fmt.Sprintf("new%d", i)}, func(context.Context, *server.Call, struct{}) (string, error) { return "", nil })
			select {
			case e := <-events:
				if e.Change.Kind != mcp.ToolsChanged {
					t.Errorf("the event is %+v", e)
				}
			case <-ticker.C:
				continue
			}
			break
		}
		if err := sub.Close(); err != nil {
			t.Error(err)
		}
	})
}
