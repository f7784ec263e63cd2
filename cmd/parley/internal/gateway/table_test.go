package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/bridge"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
)

// feature is a row of the table.
type feature struct {
	name string
	test func(t *testing.T, w *world)
	// not says why there is nothing to test with these two; "" if there is.
	not func(front, back mcptest.Mode) string
}

// features are the rows: everything that passes through a gateway.
var features = []feature{
	{name: "instructions", test: func(t *testing.T, w *world) {
		has(t, w.c.Instructions(), "# one\n\nUse one.", "# two\n\nUse two.")
	}},
	{name: "tools/list", test: func(t *testing.T, w *world) {
		tools, err := client.Collect(w.c.Tools(t.Context()))
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, tool := range tools {
			names = append(names, tool.Name)
			if strings.HasSuffix(tool.Name, "__work") && string(tool.Meta["com.example/n"]) != "1.0" {
				t.Errorf("%+v", tool)
			}
		}
		slices.Sort(names)
		if want := []string{"one__task", "one__work", "two__task", "two__work"}; !slices.Equal(names, want) {
			t.Errorf("the tools are %q", names)
		}
	}},
	{name: "tools/call", test: func(t *testing.T, w *world) {
		if got, want := w.call(t, `{"name":"two__work","arguments":{"a":[]},"_meta":{}}`), w.resultOf("two"); got != want {
			t.Errorf("the result is\n%s\nand not\n%s", got, want)
		}
		w.heard(t, &w.got, `"name":"work","arguments":{"a":[]}`)
	}},
	{name: "structured content", test: func(t *testing.T, w *world) {
		raw, err := w.c.Do(t.Context(), mcp.MethodListTools, nil)
		if err != nil {
			t.Fatal(err)
		}
		has(t, string(raw), `"outputSchema":`+output)
		// What looks like a URI in there is data, and stays as it is.
		has(t, w.call(t, `{"name":"one__work"}`), `,"structuredContent":`+structured+`,`)
	}},
	{name: "numbers to the last digit", test: func(t *testing.T, w *world) {
		const numbers = `{"z":1.0,"a":1e400,"minus":-0,"big":12345678901234567890,"small":0.1000000000000000055511151231257827}`
		has(t, w.call(t, `{"name":"two__work","arguments":`+numbers+`,"com.example/n":2.50}`), `"z":1.00,"a":-0,"big":12345678901234567890`)
		w.heard(t, &w.got, `"arguments":`+numbers, `"com.example/n":2.50`)
		raw, err := w.c.Do(t.Context(), mcp.MethodListTools, nil)
		if err != nil {
			t.Fatal(err)
		}
		has(t, string(raw), `"com.example/n":1.0`)
	}},
	{name: "unknown members", test: func(t *testing.T, w *world) {
		got := w.call(t, `{"name":"two__work","arguments":{"s":"\u00e9\/é","s2":null},"com.example/more":[1,{}]}`)
		has(t, got, `{"com.example/first":1.0,`, `"text":"\u00e9","com.example/x":{}}`)
		w.heard(t, &w.got, `"arguments":{"s":"\u00e9\/é","s2":null},"com.example/more":[1,{}]`)
	}},
	{name: "_meta", test: func(t *testing.T, w *world) {
		has(t, w.call(t, `{"name":"two__work","_meta":{"com.example/o":{"a":[null]},"com.example/t":1.0}}`), `"_meta":{"com.example/m":1.0`)
		w.heard(t, &w.got, `"com.example/o":{"a":[null]},"com.example/t":1.0`)
		got := w.call(t, `{"name":"two__work","_meta":{"com.example/t":1.0}}`)
		if own := `"io.modelcontextprotocol/serverInfo":{"name":"gateway"`; strings.Contains(got, own) != stateless(w.front) || strings.Contains(got, `"name":"two"`) {
			t.Errorf("the result is of another server, or says so in a session: %s", got)
		}
	}},
	{name: "trace context", test: func(t *testing.T, w *world) {
		const parent, state, baggage = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "a=1,b=2", "user=Ann"
		w.call(t, `{"name":"one__work","_meta":{"traceparent":"`+parent+`","tracestate":"`+state+`","baggage":"`+baggage+`"}}`)
		w.heard(t, &w.got, "trace: "+parent+" "+state+" "+baggage)
	}},
	{name: "unknown tool", test: func(t *testing.T, w *world) {
		for _, name := range []string{"none", "one__none", "none__work"} {
			if _, err := w.c.CallTool(t.Context(), name, nil); err == nil || !strings.Contains(err.Error(), "unknown tool") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}},
	{name: "resources/list", test: func(t *testing.T, w *world) {
		list, err := client.Collect(w.c.Resources(t.Context()))
		if err != nil || len(list) != 2 || list[0].URI == list[1].URI || !strings.HasSuffix(list[0].URI, ":test://static") {
			t.Errorf("the resources are %+v, error %v", list, err)
		}
	}},
	{name: "resources/templates/list", test: func(t *testing.T, w *world) {
		list, err := client.Collect(w.c.ResourceTemplates(t.Context()))
		if err != nil || len(list) != 2 || !strings.HasSuffix(list[0].URITemplate, ":note://{id}") {
			t.Errorf("the templates are %+v, error %v", list, err)
		}
	}},
	{name: "resources/read", test: func(t *testing.T, w *world) {
		for uri, text := range map[string]string{"mcp:one:note://7": "note 7 of one", "mcp:two:test://static": "static of two"} {
			r, err := w.c.ReadResource(t.Context(), uri)
			if err != nil || *r.Contents[0].Text != text || r.Contents[0].URI != uri {
				t.Errorf("%s is %+v, error %v", uri, r, err)
			}
		}
		for _, uri := range []string{"mcp:one:none://1", "test://static", "mcp:three:test://static"} {
			if _, err := w.c.ReadResource(t.Context(), uri); !errors.Is(err, client.ErrNotFound) {
				t.Errorf("%s: %v", uri, err)
			}
		}
	}},
	{name: "prompts/list", test: func(t *testing.T, w *world) {
		list, err := client.Collect(w.c.Prompts(t.Context()))
		if err != nil || len(list) != 2 || !strings.HasSuffix(list[0].Name, "__greet") {
			t.Errorf("the prompts are %+v, error %v", list, err)
		}
	}},
	{name: "prompts/get", test: func(t *testing.T, w *world) {
		raw, err := w.c.Do(t.Context(), mcp.MethodGetPrompt, json.RawMessage(`{"name":"two__greet","arguments":{"name":"Ann"}}`))
		if err != nil {
			t.Fatal(err)
		}
		has(t, string(raw), "Hello, Ann, from two", `"uri":"mcp:two:test://static"`)
	}},
	{name: "pagination", test: func(t *testing.T, w *world) {
		// Each server has pages of one entry, which the gateway reads to the end. Its own
		// lists are one page, and a cursor of somebody else is an error.
		for method, texts := range map[string][]string{
			mcp.MethodListTools:     {`"one__task"`, `"one__work"`, `"two__task"`, `"two__work"`},
			mcp.MethodListResources: {`"mcp:one:test://static"`, `"mcp:two:test://static"`},
			mcp.MethodListTemplates: {`"mcp:one:note://{id}"`, `"mcp:two:note://{id}"`},
			mcp.MethodListPrompts:   {`"one__greet"`, `"two__greet"`},
		} {
			raw, err := w.c.Do(t.Context(), method, nil)
			if err != nil {
				t.Fatal(err)
			}
			has(t, string(raw), texts...)
			if strings.Contains(string(raw), "nextCursor") {
				t.Errorf("%s has another page: %s", method, raw)
			}
			_, err = w.c.Do(t.Context(), method, json.RawMessage(`{"cursor":"1"}`))
			if e, ok := errors.AsType[*jsonrpc.Error](err); !ok || e.Code != jsonrpc.CodeInvalidParams {
				t.Errorf("%s with a cursor that is none: %v", method, err)
			}
		}
	}},
	{name: "completion/complete", test: func(t *testing.T, w *world) {
		got, err := w.c.CompletePrompt(t.Context(), "one__greet", "name", "A", nil)
		if err != nil || !slices.Equal(got.Values, []string{"Ann", "Ada"}) {
			t.Errorf("%+v, error %v", got, err)
		}
		got, err = w.c.CompleteTemplate(t.Context(), "mcp:two:note://{id}", "id", "1", nil)
		if err != nil || !slices.Equal(got.Values, []string{"17", "18"}) {
			t.Errorf("%+v, error %v", got, err)
		}
	}},
	{name: "progress, logs, news", test: func(t *testing.T, w *world) {
		w.call(t, `{"name":"one__work","arguments":{"do":"tell"}}`)
		w.heard(t, &w.noted, "notifications/progress {"+progress, "notifications/message "+logged, `notifications/com.example/news {"n":1.0}`)
	}},
	asks("elicitation, a form", "form", "elicitation/create "+strings.TrimSuffix(form, "}"), answers["form"]),
	asks("elicitation, a visit", "url", `"url":"https://pay.example/1"`, answers["url"]),
	{name: "elicitation, a visit that comes first", test: func(t *testing.T, w *world) {
		w.visited.Store(false)
		has(t, w.call(t, `{"name":"one__work","arguments":{"do":"first"}}`), `"big":12345678901234567890`)
		w.heard(t, &w.asked, `"url":"https://pay.example/1"`)
	}},
	asks("sampling/createMessage", "sample", "sampling/createMessage "+strings.TrimSuffix(sample, "}"), answers[mcp.MethodSample]),
	asks("roots/list", "roots", "roots/list", answers[mcp.MethodRoots]),
	{name: "several questions at once", test: func(t *testing.T, w *world) {
		w.call(t, `{"name":"one__work","arguments":{"do":"several"}}`)
		w.heard(t, &w.got, answers["form"], `"com.example/sure":2.0`, `"com.example/cost":1.50`)
	}},
	{name: "logging/setLevel", test: func(t *testing.T, w *world) {
		var told []string
		opts := []client.CallOption{client.WithNotifications(func(_ context.Context, method string, _ json.RawMessage) { told = append(told, method) })}
		level := func(l mcp.LoggingLevel) []client.CallOption {
			if stateless(w.front) {
				return append(opts, client.WithLogLevel(l))
			}
			if err := w.c.SetLogLevel(t.Context(), l); err != nil {
				t.Fatal(err)
			}
			return opts
		}
		for l, want := range map[mcp.LoggingLevel]bool{mcp.LevelError: false, mcp.LevelDebug: true} {
			told = nil
			if _, err := w.c.Do(t.Context(), mcp.MethodCallTool, json.RawMessage(`{"name":"two__work","arguments":{"do":"tell"}}`), level(l)...); err != nil {
				t.Fatal(err)
			}
			if slices.Contains(told, mcp.NoteMessage) != want {
				t.Errorf("at level %s, the client was told %q", l, told)
			}
		}
	}},
	{name: "cache hints", test: func(t *testing.T, w *world) {
		raw, err := w.c.Do(t.Context(), mcp.MethodReadResource, json.RawMessage(`{"uri":"mcp:one:test://static"}`))
		if err != nil {
			t.Fatal(err)
		}
		has(t, string(raw), `"ttlMs":7000`, `"cacheScope":"public"`)
	}, not: func(front, back mcptest.Mode) string {
		if !stateless(front) || !stateless(back) {
			return "only 2026-07-28 has them"
		}
		return ""
	}},
	{name: "cache hints of several servers", test: func(t *testing.T, w *world) {
		c := w.connect(t, "up") // a list that lacks somebody's entries is not to be kept at all
		for method, want := range map[string]struct {
			most  int64
			scope mcp.CacheScope
		}{
			mcp.MethodListTools:   {50_000, mcp.CachePrivate},
			mcp.MethodListPrompts: {50_000, mcp.CachePublic},
		} {
			raw, err := c.Do(t.Context(), method, nil)
			if err != nil {
				t.Fatal(err)
			}
			var got mcp.CacheFields
			if err := json.Unmarshal(raw, &got); err != nil {
				t.Fatal(err)
			}
			// It is kept since the servers said so, and so for somewhat less.
			if got.TTLMs == nil || *got.TTLMs <= 0 || *got.TTLMs > want.most || got.CacheScope != want.scope {
				t.Errorf("%s is to be kept so: %s", method, raw)
			}
		}
	}, not: func(front, back mcptest.Mode) string {
		if !stateless(front) || !stateless(back) {
			return "only 2026-07-28 has them"
		}
		return ""
	}},
	{name: "notifications/cancelled", test: func(t *testing.T, w *world) {
		ctx, cancel := context.WithCancelCause(t.Context())
		ended := make(chan error, 1)
		go func() { // ends with the call
			_, err := w.c.Do(ctx, mcp.MethodCallTool, json.RawMessage(`{"name":"one__work","arguments":{"do":"wait"}}`))
			ended <- err
		}()
		w.await(t, &w.got, "started")
		why := errors.New("Ann has changed her mind")
		cancel(why)
		if err := within(t, "the end of the call", ended); !errors.Is(err, why) {
			t.Errorf("the call failed with %v", err)
		}
		reason := "ended: " + why.Error()
		if w.front.IsHTTP() && stateless(w.front) || w.back.IsHTTP() && stateless(w.back) {
			reason = "ended: " // it is told by closing the stream
		}
		w.await(t, &w.got, reason)
	}},
	{name: "notifications/roots/list_changed", test: func(t *testing.T, w *world) {
		w.call(t, `{"name":"one__work"}`)
		if err := w.c.Notify(t.Context(), mcp.NoteRootsChanged, nil); err != nil {
			t.Fatal(err)
		}
		w.await(t, &w.got, mcp.NoteRootsChanged)
	}, not: func(front, back mcptest.Mode) string {
		if stateless(front) || stateless(back) {
			return "only sessions have it"
		}
		return ""
	}},
	{name: "resources/subscribe", test: func(t *testing.T, w *world) {
		events := make(chan client.Event, 100)
		sub, err := w.c.Listen(t.Context(), mcp.SubscriptionFilter{ResourceSubscriptions: []string{"mcp:two:test://static", "mcp:one:note://1", "mcp:down:x://y"}},
			func(_ context.Context, e client.Event) { events <- e })
		if err != nil {
			t.Fatal(err)
		}
		if got := sub.Honoured(); len(got.ResourceSubscriptions) != 3 {
			t.Errorf("honoured is %+v", got)
		}
		w.one.ResourceUpdated("test://static")
		w.two.ResourceUpdated("test://static")
		if e := within(t, "the changed resource", events); e.Change.URI != "mcp:two:test://static" {
			t.Errorf("the event is %+v", e)
		}
		w.one.ResourceUpdated("note://1")
		if e := within(t, "the changed resource", events); e.Change.URI != "mcp:one:note://1" {
			t.Errorf("the event is %+v", e)
		}
		if err := sub.Close(); err != nil {
			t.Error(err)
		}
	}},
	{name: "list changes", test: func(t *testing.T, w *world) {
		events := make(chan client.Event, 100)
		sub, err := w.c.Listen(t.Context(), mcp.SubscriptionFilter{ToolsListChanged: true}, func(_ context.Context, e client.Event) { events <- e })
		if err != nil {
			t.Fatal(err)
		}
		server.AddTool(w.two, mcp.Tool{Name: "new"}, func(context.Context, *server.Call, struct{}) (string, error) { return "", nil })
		if e := within(t, "the changed list", events); e.Change.Kind != mcp.ToolsChanged {
			t.Errorf("the event is %+v", e)
		}
		tools, err := client.Collect(w.c.Tools(t.Context()))
		if err != nil || !slices.ContainsFunc(tools, func(tool *mcp.Tool) bool { return tool.Name == "two__new" }) {
			t.Errorf("the tools are %+v, error %v", tools, err)
		}
		if err := sub.Close(); err != nil {
			t.Error(err)
		}
	}},
	{name: "tasks", test: func(t *testing.T, w *world) {
		c := w.taking(t)
		task, err := c.StartTask(t.Context(), "two__task", nil)
		if err != nil {
			t.Fatal(err)
		}
		if id := task.ID(); !strings.HasPrefix(id, "two:") {
			t.Errorf("the ID of the task is %q", id)
		}
		r, err := task.Wait(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		text, _ := r.Content[0].(*mcp.TextContent)
		has(t, text.Text, "Hello Ann, from two")
		if _, err := c.Task("two:none", "").Status(t.Context()); !errors.Is(err, client.ErrNotFound) {
			t.Errorf("an unknown task: %v", err)
		}
	}},
	{name: "a task for a client without them", test: func(t *testing.T, w *world) {
		r, err := w.c.CallTool(t.Context(), "one__task", nil)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := r.Content[0].(*mcp.TextContent)
		has(t, text.Text, "Hello Ann, from one")
	}, not: func(front, back mcptest.Mode) string {
		if stateless(front) == stateless(back) {
			return "the server refuses that"
		}
		return ""
	}},
	{name: "a call that asks becomes a task", test: func(t *testing.T, w *world) {
		c := w.taking(t)
		task, err := c.StartTask(t.Context(), "two__work", json.RawMessage(`{"do":"several"}`))
		if err != nil {
			t.Fatal(err)
		}
		if id := task.ID(); !strings.HasPrefix(id, "two:") {
			t.Errorf("the ID of the task is %q", id)
		}
		raw, err := task.WaitRaw(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		has(t, string(raw), `{"content":[]`)
		for _, answer := range []string{`"name":"Ann"`, `"com.example/sure":2.0`, `"com.example/cost":1.50`} {
			w.heardOne(t, answer)
		}
	}, not: func(front, back mcptest.Mode) string {
		if !stateless(front) || stateless(back) {
			return "the server decides, or the client"
		}
		return ""
	}},
	{name: "tasks/cancel", test: func(t *testing.T, w *world) {
		c := w.taking(t)
		task, err := c.StartTask(t.Context(), "two__task", nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := task.Cancel(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := task.Wait(t.Context()); !errors.Is(err, client.ErrTaskCancelled) {
			t.Errorf("a task that was cancelled: %v", err)
		}
	}},
	{name: "tasks/list", test: func(t *testing.T, w *world) {
		task, err := w.c.StartTask(t.Context(), "one__task", nil)
		if err != nil {
			t.Fatal(err)
		}
		list, err := client.Collect(w.c.Tasks(t.Context()))
		if err != nil || !slices.ContainsFunc(list, func(t *mcp.Task) bool { return t.ID == task.ID() }) {
			t.Errorf("%s is not in the list %+v, error %v", task.ID(), list, err)
		}
		if err := task.Cancel(t.Context()); err != nil {
			t.Error(err)
		}
	}, not: func(front, _ mcptest.Mode) string {
		if stateless(front) {
			return "only sessions have it"
		}
		return ""
	}},
	{name: "ping, of the gateway itself", test: func(t *testing.T, w *world) {
		if err := w.c.Ping(t.Context()); err != nil {
			t.Error(err)
		}
	}},
	{name: "a server that is down", test: func(t *testing.T, w *world) {
		_, err := w.c.CallTool(t.Context(), "down__work", nil)
		if err == nil || !strings.Contains(err.Error(), `the server "down" is not available: `) || !strings.Contains(err.Error(), "it cannot be reached") {
			t.Errorf("the error is %v", err)
		}
	}},
}

// resultOf is what a client gets for a plain call of a server's tool work: what the server
// says, to the byte, with the server's name in what links to it, and what the era demands
// at the end.
func (w *world) resultOf(name string) string {
	result := strings.NewReplacer(`"test://static","name"`, `"mcp:`+name+`:test://static","name"`, "ui://app", "ui://"+name+"/app").Replace(worked)
	result = strings.TrimSuffix(result, `}}`)
	if stateless(w.front) {
		result += `,"io.modelcontextprotocol/serverInfo":{"name":"gateway","version":"1"}`
	}
	result += `}`
	if !stateless(w.front) || !stateless(w.back) {
		result += `,"isError":false` // what a session says, and what one is told
	}
	if stateless(w.front) {
		result += `,"resultType":"complete"`
	}
	return result + `}`
}

// asks is a row for a question.
func asks(name, do, question, answer string) feature {
	return feature{name: name, test: func(t *testing.T, w *world) {
		w.call(t, `{"name":"two__work","arguments":{"do":"`+do+`"}}`)
		w.heard(t, &w.asked, question)
		for member := range strings.SplitSeq(strings.Trim(answer, "{}"), `,"com.example`) {
			w.heardOne(t, member)
		}
	}}
}

// shares are the ways of sharing a server that the table is about.
var shares = map[string]bridge.Share{"principal": bridge.SharePrincipal, "session": bridge.ShareSession}

// TestTable tests each feature between all eras and transports, for both ways of sharing
// servers. docs/gateway-table.md has what came out; -update writes it.
func TestTable(t *testing.T) {
	cells := table{}
	for name, share := range shares {
		t.Run(name, func(t *testing.T) {
			for _, front := range modes {
				for _, back := range modes {
					t.Run(front.String()+" to "+back.String(), func(t *testing.T) {
						w := newWorld(t, front, back, share)
						for _, f := range features {
							if f.not != nil && f.not(front, back) != "" {
								cells.add(&f, front, back, outcome{not: f.not(front, back)})
								continue
							}
							passed := t.Run(f.name, func(t *testing.T) { f.test(t, w) })
							cells.add(&f, front, back, outcome{passed: passed})
						}
					})
				}
			}
		})
	}
	if cells.isWhole() {
		cells.compare(t)
	}
}
