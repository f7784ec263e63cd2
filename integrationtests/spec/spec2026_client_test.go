package spec_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
)

// always answers every request with a result.
func always(result string) *scripted {
	return &scripted{script: func(s *scripted, m *jsonrpc.Message) { s.result(m, result) }}
}

// Spec: 2026-07-28 basic#meta.
// Spec: 2026-07-28 basic#requests.
// Spec: 2026-07-28 client/roots#capabilities.
// Spec: 2026-07-28 client/sampling#capabilities.
// Spec: 2026-07-28 client/elicitation#capabilities.
// Every request of a client, including the first, names the revision, the
// client and its capabilities, and has an ID of its own.
func TestSpec2026ClientMeta(t *testing.T) {
	var mu sync.Mutex
	ids := map[string]bool{}
	s := always(`{"resultType":"complete","content":[],"tools":[],"contents":[],"messages":[]}`)
	s.wrote = func(frame string) {
		var m struct {
			ID     json.RawMessage
			Params struct {
				Meta map[string]json.RawMessage `json:"_meta"`
			}
		}
		if err := json.Unmarshal([]byte(frame), &m); err != nil {
			t.Errorf("%v in %s", err, frame)
		}
		mu.Lock()
		defer mu.Unlock()
		if ids[string(m.ID)] {
			t.Errorf("the ID %s is used twice", m.ID)
		}
		ids[string(m.ID)] = true
		for key, want := range map[string]string{
			mcp.MetaProtocolVersion:    `"2026-07-28"`,
			mcp.MetaClientInfo:         `{"name":"c","version":"2"}`,
			mcp.MetaClientCapabilities: `{"roots":{},"sampling":{"tools":{}},"elicitation":{"form":{},"url":{}},"extensions":{"com.example/x":{},"io.modelcontextprotocol/tasks":{}}}`,
		} {
			if got := string(m.Params.Meta[key]); got != want {
				t.Errorf("%s is %s, want %s", key, got, want)
			}
		}
	}
	ask := func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) { return nil, nil }
	c := connectScripted(t, s, &client.Options{
		Info: mcp.Implementation{Name: "c", Version: "2"}, Roots: []*mcp.Root{}, Elicit: ask, VisitURL: ask, SampleTools: true,
		Sample:     func(context.Context, *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) { return nil, nil },
		Extensions: map[string]any{"com.example/x": nil},
	})
	ctx := t.Context()
	for _, key := range []string{mcp.MetaProtocolVersion, mcp.MetaClientCapabilities, mcp.MetaProgressToken} {
		if _, err := c.CallTool(ctx, "t", nil, client.WithMeta(key, 5)); err == nil || !strings.Contains(err.Error(), key) {
			t.Errorf("%s set by hand: %v, want an error that names it", key, err)
		}
	}
	_, err := c.Do(ctx, mcp.MethodCallTool, json.RawMessage(`{"name":"t","_meta":{"`+mcp.MetaProtocolVersion+`":"1900-01-01","`+mcp.MetaClientCapabilities+`":5}}`))
	check(t, "call", err)
	_, err = c.ListTools(ctx, nil)
	check(t, "list", err)
	_, err = c.ReadResource(ctx, "x:a")
	check(t, "read", err)
	_, err = c.Do(ctx, "x/custom", map[string]any{"_meta": map[string]any{"com.example/k": 1}})
	check(t, "custom", err)
	check(t, "ping", c.Ping(ctx))
	mu.Lock()
	defer mu.Unlock()
	if len(ids) != 6 {
		t.Errorf("%d requests, want 6", len(ids))
	}
}

// Spec: 2026-07-28 basic/versioning#extension-negotiation.
// An extension without a prefix, or with settings that are not an object, is
// not declared: connecting fails.
func TestSpec2026ClientExtensions(t *testing.T) {
	for name, settings := range map[string]any{"plain": nil, "/x": nil, "1a/x": nil, "com.example/-": nil, "com.example/x": []int{1}, "com.example/y": 5} {
		_, err := client.Connect(t.Context(), always(`{}`), &client.Options{Revisions: only2026, Extensions: map[string]any{name: settings}})
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: error = %v, want one that names it", name, err)
		}
	}
}

// Spec: 2026-07-28 client/elicitation#capabilities.
// Forms alone are declared by an empty object, which every peer understands.
func TestSpec2026ClientElicitation(t *testing.T) {
	ask := func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) { return nil, nil }
	for _, tt := range []struct {
		form, visit client.ElicitFunc
		want        string
	}{
		{ask, nil, `{"elicitation":{}}`},
		{nil, ask, `{"elicitation":{"url":{}}}`},
		{ask, ask, `{"elicitation":{"form":{},"url":{}}}`},
	} {
		s := always(`{}`)
		declared := map[string]bool{}
		s.wrote = func(frame string) {
			var m struct {
				Params struct {
					Meta map[string]json.RawMessage `json:"_meta"`
				}
			}
			_ = json.Unmarshal([]byte(frame), &m)
			declared[string(m.Params.Meta[mcp.MetaClientCapabilities])] = true
		}
		_, stop := connectTo(t, s, &client.Options{Elicit: tt.form, VisitURL: tt.visit, NoTasks: true})
		stop()
		f := &sessFake{}
		f.on = sessOpens("2025-11-25", `{}`, nil)
		sessClient(t, f, &client.Options{Elicit: tt.form, VisitURL: tt.visit, NoTasks: true}, func(t *testing.T, _ *client.Client) {
			var m struct {
				Params struct{ Capabilities json.RawMessage }
			}
			_ = json.Unmarshal([]byte(f.took()[0]), &m)
			declared[string(m.Params.Capabilities)] = true
		})
		if len(declared) != 1 || !declared[tt.want] {
			t.Errorf("declared %v, want %s", declared, tt.want)
		}
	}
}

// Spec: 2026-07-28 basic#resulttype.
// The result types that a client accepts are those of the core and those of the
// extensions that it declares.
func TestSpec2026ResultTypesOfExtensions(t *testing.T) {
	declared := map[string]any{"com.example/x": nil}
	for _, tt := range []struct {
		o      client.Options
		kind   string
		accept bool
	}{
		{client.Options{}, "job", false},
		{client.Options{Extensions: declared, ResultTypes: []string{"job"}}, "job", true},
		{client.Options{Extensions: declared, ResultTypes: []string{"job"}}, "other", false},
		{client.Options{Extensions: declared, ResultTypes: []string{}}, "job", false},
		{client.Options{Extensions: declared}, "job", true}, // its types are not known
		{client.Options{Extensions: declared}, "complete", true},
	} {
		c := connectScripted(t, always(`{"resultType":"`+tt.kind+`","content":[],"taskId":"1"}`), &tt.o)
		raw, err := c.Do(t.Context(), mcp.MethodCallTool, json.RawMessage(`{"name":"t"}`))
		if (err == nil) != tt.accept || tt.accept && !strings.Contains(string(raw), `"taskId":"1"`) {
			t.Errorf("%q with %v of %v: %s, %v", tt.kind, tt.o.ResultTypes, tt.o.Extensions, raw, err)
		}
		_, err = c.CallTool(t.Context(), "t", nil)
		var foreign *client.ResultTypeError
		if errors.As(err, &foreign) != (tt.accept && tt.kind != "complete") {
			t.Errorf("%q with %v of %v: a typed call returns %v", tt.kind, tt.o.ResultTypes, tt.o.Extensions, err)
		}
	}
}

// Spec: 2026-07-28 basic#resulttype.
// A result of a type that the client does not know is invalid, and one without
// a type is complete; anything but an object is not a result.
func TestSpec2026ResultTypes(t *testing.T) {
	for _, tt := range []struct {
		result, text string // text is "" for a good result
	}{
		{`{"resultType":"complete","content":[]}`, ""},
		{`{"content":[]}`, ""},
		{`{"content":[],"unheard":{"a":[1]}}`, ""},
		{`{"resultType":"job","content":[]}`, `"job"`},
		{`{"resultType":"","content":[]}`, `""`},
		{`{"resultType":"Complete","content":[]}`, `"Complete"`},
		{`{"resultType":5,"content":[]}`, "resultType"},
		{`null`, "malformed"},
		{`5`, "malformed"},
		{`"x"`, "malformed"},
		{`[]`, "malformed"},
		{`true`, "malformed"},
		{`{"content":5}`, "content"},
		{`{"content":[null]}`, "content"},
		{`{"content":[{}]}`, "no type"},
		{`{"content":[{"type":"text","text":5}]}`, "text"},
		{`{"content":[{"type":"image","data":"not base64!","mimeType":"image/png"}]}`, "data"},
		{`{"content":[{"type":"resource"}]}`, "resource"},
		{`{"content":[{"type":"unheard","x":1}]}`, ""},
	} {
		c := connectScripted(t, always(tt.result), nil)
		_, err := c.CallTool(t.Context(), "t", nil)
		if (err == nil) != (tt.text == "") || err != nil && !strings.Contains(err.Error(), tt.text) {
			t.Errorf("%s: error = %v, want %q", tt.result, err, tt.text)
		}
		var rpc *jsonrpc.Error
		if errors.As(err, &rpc) {
			t.Errorf("%s: %v looks like an error of the server", tt.result, err)
		}
	}
}

// Spec: 2026-07-28 basic#result-responses.
// Results with contents that their schema does not allow are errors, not values
// that make their reader panic.
func TestSpec2026MalformedLists(t *testing.T) {
	calls := map[string]func(*client.Client) error{
		"tools":             func(c *client.Client) error { _, err := client.Collect(c.Tools(t.Context())); return err },
		"resources":         func(c *client.Client) error { _, err := client.Collect(c.Resources(t.Context())); return err },
		"resourceTemplates": func(c *client.Client) error { _, err := client.Collect(c.ResourceTemplates(t.Context())); return err },
		"prompts":           func(c *client.Client) error { _, err := client.Collect(c.Prompts(t.Context())); return err },
		"contents":          func(c *client.Client) error { _, err := c.ReadResource(t.Context(), "x:a"); return err },
		"messages":          func(c *client.Client) error { _, err := c.GetPrompt(t.Context(), "p", nil); return err },
		"completion":        func(c *client.Client) error { _, err := c.CompletePrompt(t.Context(), "p", "x", "", nil); return err },
	}
	for member, call := range calls {
		for _, value := range []string{`5`, `"x"`, `[null]`, `[5]`, `[{},null]`} {
			c := connectScripted(t, always(`{"resultType":"complete","`+member+`":`+value+`}`), nil)
			if err := call(c); err == nil || !strings.Contains(err.Error(), "malformed") {
				t.Errorf("%s %s: error = %v, want malformed", member, value, err)
			}
		}
	}
	c := connectScripted(t, always(`{"prompts":[{"name":"p","arguments":[null]}]}`), nil)
	if err := calls["prompts"](c); err == nil {
		t.Error("a prompt with a null argument was accepted")
	}
}

// Spec: 2026-07-28 basic#error-responses.
// Messages that do not answer a call do not disturb it: errors without an ID,
// responses without a request, second responses, junk, and unreadable frames.
func TestSpec2026StrayMessages(t *testing.T) {
	s := &scripted{script: func(s *scripted, m *jsonrpc.Message) {
		for _, stray := range []string{
			`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"what?"}}`,
			`{"jsonrpc":"2.0","error":{"code":-32700,"message":"what?"}}`,
			`{"jsonrpc":"2.0","id":999,"result":{"content":[{"type":"text","text":"not this"}]}}`,
			`{"jsonrpc":"2.0","id":"` + m.ID.String() + `x","result":{}}`,
			`{"jsonrpc":"2.0","result":{}}`, `{}`, `[]`, `[5]`, `5`, `junk`, `{"jsonrpc":"2.0","method":""}`,
			`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":77,"progress":1}}`,
			`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":{},"progress":"x"}}`,
			`{"jsonrpc":"2.0","method":"notifications/progress"}`,
			`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":5}}`,
			`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + m.ID.String() + `}}`,
			`{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":55}}}`,
			`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":5}}`,
			`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":55},"notifications":{}}}`,
			`{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"x"}}`,
			`{"jsonrpc":"2.0","method":"notifications/unheard"}`,
		} {
			s.send("%s", stray)
		}
		s.result(m, `{"content":[{"type":"text","text":"first"}]}`)
		s.result(m, `{"content":[{"type":"text","text":"second"}]}`)
		s.fail(m, -1, "third", "")
	}}
	c := connectScripted(t, s, &client.Options{LogLevel: mcp.LevelDebug, Log: func(context.Context, *mcp.LogParams) { t.Error("a malformed message was logged") }})
	for range 3 {
		got, err := client.Call[string](t.Context(), c, "t", nil, client.WithProgress(func(p *mcp.ProgressParams) { t.Errorf("progress of another call: %+v", p) }))
		if err != nil || got != "first" {
			t.Errorf("got %q, %v; want first", got, err)
		}
	}
}

// Spec: 2026-07-28 basic#error-codes.
// A response that cannot be read fails its call and no other, with an error
// that cannot be mistaken for one of the server.
func TestSpec2026MalformedAnswer(t *testing.T) {
	for _, answer := range []string{
		`{"jsonrpc":"2.0","id":%s}`, `{"jsonrpc":"2.0","id":%s,"result":{},"error":{"code":1,"message":"m"}}`, `{"jsonrpc":"1.0","id":%s,"result":{}}`,
		`{"jsonrpc":"2.0","id":%s,"error":"x"}`, `{"jsonrpc":"2.0","id":%s,"error":{"code":"x","message":"m"}}`, `{"jsonrpc":"2.0","id":%s,"error":{"code":1.5,"message":"m"}}`,
		`{"jsonrpc":"2.0","id":%s,"result":{"a":1,"a":2}}`,
	} {
		s := &scripted{script: func(s *scripted, m *jsonrpc.Message) {
			if m.Method == "x/good" {
				s.result(m, `{}`)
				return
			}
			s.send(answer, m.ID)
		}}
		c := connectScripted(t, s, nil)
		_, err := c.CallTool(t.Context(), "t", nil)
		var rpc *jsonrpc.Error
		if err == nil || errors.As(err, &rpc) || !strings.Contains(err.Error(), "malformed answer") {
			t.Errorf("%s: error = %v", answer, err)
		}
		if _, err := c.Do(t.Context(), "x/good", nil); err != nil {
			t.Errorf("%s: the connection is dead: %v", answer, err)
		}
	}
}

// Spec: 2026-07-28 basic/transports/stdio#sending-messages.
// Spec: 2026-07-28 basic/patterns.
// A client answers no request of a server, whatever it is: it only writes
// requests and notifications.
func TestSpec2026ClientWritesNoResponses(t *testing.T) {
	var mu sync.Mutex
	var wrote []string
	s := &scripted{script: func(s *scripted, m *jsonrpc.Message) {
		for i, method := range []string{mcp.MethodPing, mcp.MethodRoots, mcp.MethodSample, mcp.MethodElicit, "x/unheard", mcp.MethodPing} {
			s.send(`{"jsonrpc":"2.0","id":%d,"method":%q}`, i%5, method)
		}
		s.send(`{"jsonrpc":"2.0","id":"bad","method":"ping","params":5}`)
		s.send(`[{"jsonrpc":"2.0","id":"in a batch","method":"ping"}]`)
		s.result(m, `{"content":[]}`)
	}, wrote: func(frame string) {
		mu.Lock()
		defer mu.Unlock()
		wrote = append(wrote, frame)
	}}
	c, stop := connectTo(t, s, &client.Options{Roots: []*mcp.Root{{URI: "file:///x"}}})
	for range 2 {
		_, err := c.CallTool(t.Context(), "t", nil)
		check(t, "call", err)
	}
	stop()
	mu.Lock()
	defer mu.Unlock()
	for _, frame := range wrote {
		if !strings.Contains(frame, `"method"`) {
			t.Errorf("the client wrote a response: %s", frame)
		}
	}
}

const oneQuestion = `"inputRequests":{"q":{"method":"elicitation/create","params":{"message":"Where?","requestedSchema":{"type":"object","properties":{"city":{"type":"string"}}}}}}`

func answeringCity() *client.Options {
	return &client.Options{Elicit: func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
		return &mcp.ElicitResult{Action: mcp.ActionAccept, Content: json.RawMessage(`{"city":"Rome"}`)}, nil
	}}
}

// Spec: 2026-07-28 basic/patterns/mrtr#client-requirements-basic-workflow (2).
// The state comes back exactly as it was, and not at all if there was none, not
// even in a round after one that had it. The other params stay, answers are
// those of the last round, and the ID is new each time.
func TestSpec2026StateIsEchoed(t *testing.T) {
	type retry struct {
		Name      string
		Arguments json.RawMessage
		Responses json.RawMessage `json:"inputResponses"`
		State     *string         `json:"requestState"`
	}
	state := "\" \\ / \u2028 \u0000 é 😀 <&> e30= \x7f"
	quoted, err := json.Marshal(state)
	if err != nil {
		t.Fatal(err)
	}
	var rounds []retry
	var ids []string
	s := &scripted{script: func(s *scripted, m *jsonrpc.Message) {
		var r retry
		if err := json.Unmarshal(m.Params, &r); err != nil {
			t.Errorf("%v in %s", err, m.Params)
		}
		rounds, ids = append(rounds, r), append(ids, m.ID.String())
		s.result(m, []string{
			`{"resultType":"input_required",` + oneQuestion + `,"requestState":` + string(quoted) + `}`,
			`{"resultType":"input_required",` + oneQuestion + `}`,
			`{"resultType":"input_required","requestState":""}`,
			`{"resultType":"complete","content":[]}`,
		}[len(rounds)-1])
	}}
	c := connectScripted(t, s, answeringCity())
	_, err = c.CallTool(t.Context(), "t", json.RawMessage(`{"n":12345678901234567890}`))
	check(t, "call", err)
	const answer = `{"q":{"action":"accept","content":{"city":"Rome"}}}`
	empty := ""
	want := []retry{{}, {State: &state, Responses: json.RawMessage(answer)}, {Responses: json.RawMessage(answer)}, {State: &empty}}
	if len(rounds) != len(want) {
		t.Fatalf("%d rounds, want %d", len(rounds), len(want))
	}
	for i, r := range rounds {
		if r.Name != "t" || string(r.Arguments) != `{"n":12345678901234567890}` {
			t.Errorf("round %d: name %q, arguments %s", i, r.Name, r.Arguments)
		}
		if string(r.Responses) != string(want[i].Responses) {
			t.Errorf("round %d: responses %s, want %s", i, r.Responses, want[i].Responses)
		}
		if (r.State == nil) != (want[i].State == nil) || r.State != nil && *r.State != *want[i].State {
			t.Errorf("round %d: state %v, want %v", i, r.State, want[i].State)
		}
	}
	slices.Sort(ids)
	if len(slices.Compact(ids)) != len(want) {
		t.Errorf("IDs %v are not different", ids)
	}
}

// Spec: 2026-07-28 basic/patterns/mrtr#supported-requests.
// Spec: 2026-07-28 basic/patterns/mrtr#server-requirements-basic-workflow (6).
// A call fails if the server asks where it must not, asks without any
// questions, asks forever, or asks what the client cannot answer.
func TestSpec2026BadQuestions(t *testing.T) {
	call := func(c *client.Client) error { _, err := c.CallTool(t.Context(), "t", nil); return err }
	q := func(question string) string {
		return `{"resultType":"input_required","inputRequests":{"the key":` + question + `}}`
	}
	for _, tt := range []struct {
		name, result string
		call         func(*client.Client) error
		text         string
	}{
		{"tools/list", `{"resultType":"input_required",` + oneQuestion + `}`, func(c *client.Client) error { _, err := c.ListTools(t.Context(), nil); return err }, "must not ask"},
		{"completion", `{"resultType":"input_required","requestState":"s"}`, func(c *client.Client) error { _, err := c.CompletePrompt(t.Context(), "p", "x", "", nil); return err }, "must not ask"},
		{"custom", `{"resultType":"input_required",` + oneQuestion + `}`, func(c *client.Client) error { _, err := c.Do(t.Context(), "x/custom", nil); return err }, "must not ask"},
		{"listen", `{"resultType":"input_required",` + oneQuestion + `}`, func(c *client.Client) error {
			_, err := c.Listen(t.Context(), mcp.SubscriptionFilter{}, nil)
			return err
		}, "input_required"},
		{"nothing", `{"resultType":"input_required"}`, call, "without saying what for"},
		{"for ever", `{"resultType":"input_required",` + oneQuestion + `}`, call, "more than 3 times"},
		{"state for ever", `{"resultType":"input_required","requestState":"s"}`, call, "more than 3 times"},
		{"requests no object", `{"resultType":"input_required","inputRequests":[]}`, call, "inputRequests"},
		{"state no string", `{"resultType":"input_required","requestState":{}}`, call, "requestState"},
		{"question no object", q(`5`), call, "the key"},
		{"no method", q(`{}`), call, "the key"},
		{"unknown method", q(`{"method":"x/ask"}`), call, "x/ask"},
		{"ping", q(`{"method":"ping"}`), call, "ping"},
		{"sampling undeclared", q(`{"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}`), call, "sampling/createMessage"},
		{"roots undeclared", q(`{"method":"roots/list"}`), call, "roots/list"},
		{"url undeclared", q(`{"method":"elicitation/create","params":{"mode":"url","message":"m","url":"https://example.com"}}`), call, `"url"`},
		{"unknown mode", q(`{"method":"elicitation/create","params":{"mode":"voice","message":"m"}}`), call, `"voice"`},
		{"no schema", q(`{"method":"elicitation/create","params":{"message":"m"}}`), call, "form"},
		{"bad schema", q(`{"method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"strange"}}}`), call, "form"},
		{"schema with a reference", q(`{"method":"elicitation/create","params":{"message":"m","requestedSchema":{"$ref":"https://example.com/s"}}}`), call, "form"},
		{"params no object", q(`{"method":"elicitation/create","params":[]}`), call, "params"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := answeringCity()
			o.MaxRounds = 3
			c := connectScripted(t, always(tt.result), o)
			if err := tt.call(c); err == nil || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("error = %v, want %q", err, tt.text)
			}
			check(t, "the connection afterwards", c.Ping(t.Context()))
		})
	}
}

// Spec: 2026-07-28 client/sampling#tools-in-sampling.
// A sampling request with tools, or with a choice of tools, does not reach a
// model for which tools were not declared; nor does one that contains null.
func TestSpec2026ClientSampling(t *testing.T) {
	const good = `"messages":[{"role":"user","content":{"type":"text","text":"?"}}],"maxTokens":1`
	for params, reaches := range map[string]bool{
		`{` + good + `}`: true,
		`{` + good + `,"tools":[{"name":"t","inputSchema":{"type":"object"}}]}`: false,
		`{` + good + `,"toolChoice":{"mode":"auto"}}`:                           false,
		`{"messages":[null],"maxTokens":1}`:                                     false,
		`{` + good + `,"tools":[null]}`:                                         false,
	} {
		sampled := false
		s := &scripted{script: func(s *scripted, m *jsonrpc.Message) {
			if strings.Contains(string(m.Params), "inputResponses") {
				s.result(m, `{"content":[]}`)
				return
			}
			s.result(m, `{"resultType":"input_required","inputRequests":{"q":{"method":"sampling/createMessage","params":`+params+`}}}`)
		}}
		c := connectScripted(t, s, &client.Options{Sample: func(context.Context, *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) {
			sampled = true
			return &mcp.CreateMessageResult{Role: mcp.RoleAssistant, Model: "m", Content: mcp.OneOrMany{mcp.Text("!")}}, nil
		}})
		_, err := c.CallTool(t.Context(), "t", nil)
		if sampled != reaches || (err == nil) != reaches {
			t.Errorf("%s: sampled %v, %v; want %v", params, sampled, err, reaches)
		}
	}
}

// Spec: 2026-07-28 server/utilities/caching#cache-key.
// The result of a request that carries answers or a state is not cached.
func TestSpec2026AnsweredResultsAreNotCached(t *testing.T) {
	for members, resume := range map[string]client.CallOption{
		`"inputResponses":{"q":{}}`: client.WithAnswers(map[string]json.RawMessage{"q": json.RawMessage(`{}`)}, nil),
		`"requestState":"s"`:        client.WithAnswers(nil, json.RawMessage(`"s"`)),
	} {
		calls := 0
		s := &scripted{script: func(s *scripted, m *jsonrpc.Message) {
			calls++
			if !strings.Contains(string(m.Params), members) {
				t.Errorf("%s, want it with %s", m.Params, members)
			}
			s.result(m, `{"resultType":"complete","contents":[],"ttlMs":60000,"cacheScope":"public"}`)
		}}
		c := connectScripted(t, s, nil)
		for range 2 {
			_, err := c.Do(t.Context(), mcp.MethodReadResource, json.RawMessage(`{"uri":"x:a"}`), resume)
			check(t, members, err)
		}
		if calls != 2 {
			t.Errorf("%s: the server was asked %d times, want 2", members, calls)
		}
	}
}

// Spec: 2026-07-28 server/utilities/caching#interaction-with-pagination.
// If the server no longer accepts a cursor that came from a cached page, the
// pages are dropped, and the list is fetched from its beginning, once.
func TestSpec2026InvalidCursorDropsPages(t *testing.T) {
	generation := 1
	s := &scripted{script: func(s *scripted, m *jsonrpc.Message) {
		var p struct{ Cursor *string }
		_ = json.Unmarshal(m.Params, &p)
		switch {
		case p.Cursor == nil:
			s.result(m, fmt.Sprintf(`{"tools":[{"name":"a%d","inputSchema":{}}],"nextCursor":"%d","ttlMs":3600000,"cacheScope":"public"}`, generation, generation))
		case *p.Cursor == fmt.Sprint(generation):
			s.result(m, `{"tools":[{"name":"b","inputSchema":{}}],"ttlMs":0,"cacheScope":"public"}`)
		default:
			s.fail(m, jsonrpc.CodeInvalidParams, "invalid cursor", "")
		}
	}}
	c := connectScripted(t, s, nil)
	names := func() (string, error) {
		tools, err := client.Collect(c.Tools(t.Context()))
		var list []string
		for _, tool := range tools {
			list = append(list, tool.Name)
		}
		return strings.Join(list, " "), err
	}
	if got, err := names(); got != "a1 b" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	generation = 2
	if got, err := names(); got != "a1 a2 b" || err != nil {
		t.Errorf("the first page is cached and its cursor is invalid: %q, %v; want a1 a2 b", got, err)
	}
	if got, err := names(); got != "a2 b" || err != nil {
		t.Errorf("after that: %q, %v; want a2 b", got, err)
	}
}

// Spec: 2026-07-28 server/utilities/caching#interaction-with-pagination.
// A list that is begun again does not repeat what its reader has got, and a
// server that refuses its own cursors again and again is not asked forever.
func TestSpec2026ListBegunAgain(t *testing.T) {
	asked, bad := 0, 1
	s := &scripted{script: func(s *scripted, m *jsonrpc.Message) {
		asked++
		var p struct{ Cursor *string }
		_ = json.Unmarshal(m.Params, &p)
		switch {
		case p.Cursor == nil:
			s.result(m, `{"prompts":[{"name":"a"},{"name":"b"}],"nextCursor":"x"}`)
		case bad > 0:
			bad--
			s.fail(m, jsonrpc.CodeInvalidParams, "invalid cursor", "")
		default:
			s.result(m, `{"prompts":[{"name":"c"}]}`)
		}
	}}
	c := connectScripted(t, s, nil)
	list, err := client.Collect(c.Prompts(t.Context()))
	if len(list) != 3 || err != nil || asked != 4 {
		t.Errorf("%d prompts after %d requests, %v; want 3 after 4", len(list), asked, err)
	}
	asked, bad = 0, 100
	list, err = client.Collect(c.Prompts(t.Context()))
	var rpc *jsonrpc.Error
	if len(list) != 2 || !errors.As(err, &rpc) || asked != 4 {
		t.Errorf("%d prompts after %d requests, %v; want 2 after 4, and the server's error", len(list), asked, err)
	}
}

// Spec: 2026-07-28 server/utilities/caching#interaction-with-notifications.
// Spec: 2026-07-28 basic/patterns/subscriptions#notification-filter.
// When a part of a watched resource is updated, what was read of the resource is
// stale; other resources are not.
func TestSpec2026PartsMakeStale(t *testing.T) {
	for _, tt := range []struct{ updated, again string }{
		{"x://a", "x://a"},
		{"x://a/b/c", "x://a"},
		{"x://a#l1", "x://a"},
		{"x://ab", "x://a x://z"}, // part of one of the two, but nobody knows of which
		{"x://z/", "x://z"},
		{"x://other/1", "x://a x://z x://other"}, // the last one may not be watched, but it is above
	} {
		var reads []string
		var listen *jsonrpc.Message
		s := &scripted{}
		s.script = func(s *scripted, m *jsonrpc.Message) {
			if m.Method == mcp.MethodListen {
				listen = &jsonrpc.Message{ID: m.ID}
				s.send(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":%s},"notifications":{"resourceSubscriptions":["x://a","x://z"]}}}`, m.ID)
				return
			}
			var p struct{ URI string }
			_ = json.Unmarshal(m.Params, &p)
			reads = append(reads, p.URI)
			s.result(m, fmt.Sprintf(`{"contents":[{"uri":%q,"text":""}],"ttlMs":3600000,"cacheScope":"private"}`, p.URI))
		}
		c := connectScripted(t, s, nil)
		told := make(chan struct{})
		sub, err := c.Listen(t.Context(), mcp.SubscriptionFilter{ResourceSubscriptions: []string{"x://a", "x://z"}}, func(context.Context, client.Event) { close(told) })
		check(t, "listen", err)
		readAll := func() string {
			reads = nil
			for _, uri := range []string{"x://a", "x://z", "x://other"} {
				_, err := c.ReadResource(t.Context(), uri)
				check(t, "read", err)
			}
			return strings.Join(reads, " ")
		}
		readAll()
		s.send(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":%s},"uri":%q}}`, listen.ID, tt.updated)
		soon(t, told, "event")
		if got := readAll(); got != tt.again {
			t.Errorf("%s was updated: %q was read again, want %q", tt.updated, got, tt.again)
		}
		check(t, "close", sub.Close())
	}
}

// Spec: 2026-07-28 server/utilities/caching#freshness-calculation.
// What a server offers is asked for anew once it is stale.
func TestSpec2026CapabilitiesAreRefreshed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		caps, ttl, discovered := `{}`, 60_000, 0
		s := &scripted{discovers: true, script: func(s *scripted, m *jsonrpc.Message) {
			if m.Method == mcp.MethodDiscover {
				discovered++
				s.result(m, fmt.Sprintf(`{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":%s,"ttlMs":%d,"cacheScope":"private"}`, caps, ttl))
				return
			}
			s.result(m, `{"tools":[]}`)
		}}
		c, stop := connectTo(t, s, nil)
		defer stop()
		list := func(why string, want int, refused bool) {
			t.Helper()
			_, err := c.ListTools(t.Context(), nil)
			var undeclared *client.NotDeclaredError
			if errors.As(err, &undeclared) != refused || err != nil && !refused || discovered != want {
				t.Errorf("%s: %v after %d discoveries; want %d, refused %v", why, err, discovered, want, refused)
			}
		}
		list("no tools", 1, true)
		caps = `{"tools":{}}`
		list("still fresh", 1, true)
		pass(time.Minute)
		list("stale", 2, false)
		list("fresh again", 2, false)
		caps, ttl = `{}`, 0
		pass(time.Minute)
		list("stale once more", 3, true)
		list("without a time, before each refusal", 4, true)
		caps = `{"tools":{}}`
		list("without a time", 5, false)
		list("without a time, allowed", 5, false)
	})
}

// Spec: 2026-07-28 server/utilities/pagination#implementation-guidelines (3).
// An empty cursor is a cursor; it is sent back unchanged, and only a missing
// one ends the list.
func TestSpec2026OpaqueCursors(t *testing.T) {
	cursors := []string{``, `null`, `{"page":2}`, "é\u2028\"\\"}
	var came []string
	s := &scripted{script: func(s *scripted, m *jsonrpc.Message) {
		var p struct{ Cursor *string }
		_ = json.Unmarshal(m.Params, &p)
		if p.Cursor != nil {
			came = append(came, *p.Cursor)
		}
		next := ""
		if len(came) < len(cursors) {
			raw, _ := json.Marshal(cursors[len(came)])
			next = `,"nextCursor":` + string(raw)
		}
		s.result(m, `{"tools":[{"name":"t","inputSchema":{}}]`+next+`}`)
	}}
	c := connectScripted(t, s, nil)
	tools, err := client.Collect(c.Tools(t.Context()))
	if err != nil || len(tools) != 5 || !slices.Equal(came, cursors) {
		t.Errorf("%d tools, cursors %q, %v; want 5 with %q", len(tools), came, err, cursors)
	}
}

// Spec: 2026-07-28 server/resources#error-handling.
// Both the code of this revision, if the error names the resource, and those of
// earlier ones mean that a resource does not exist.
func TestSpec2026ClientNotFound(t *testing.T) {
	for _, tt := range []struct {
		code  int
		data  string
		found bool
	}{
		{-32602, `{"uri":"x:a"}`, false}, {-32002, ``, false}, {-32002, `{"uri":"x:a"}`, false}, {-32602, ``, true}, {-32603, `{"uri":"x:a"}`, true},
	} {
		s := &scripted{script: func(s *scripted, m *jsonrpc.Message) { s.fail(m, tt.code, "Resource not found", tt.data) }}
		_, err := connectScripted(t, s, nil).ReadResource(t.Context(), "x:a")
		var rpc *jsonrpc.Error
		if errors.Is(err, client.ErrNotFound) == tt.found || !errors.As(err, &rpc) || rpc.Code != int64(tt.code) {
			t.Errorf("%d %s: %v", tt.code, tt.data, err)
		}
	}
}

// Spec: 2026-07-28 basic/patterns/cancellation#timeouts.
// Spec: 2026-07-28 basic/patterns/cancellation#behavior-requirements (5).
// A call that takes too long is cancelled by its ID, and its late response is
// ignored; a call that was answered is never cancelled.
func TestSpec2026ClientCancels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var slow *jsonrpc.Message
		var notes []string
		s := &scripted{script: func(s *scripted, m *jsonrpc.Message) {
			if slow == nil {
				slow = m
				return
			}
			s.result(slow, `{"content":[{"type":"text","text":"late"}]}`)
			s.result(m, `{"content":[{"type":"text","text":"good"}]}`)
		}, notes: func(m *jsonrpc.Message) { notes = append(notes, m.Method+string(m.Params)) }}
		c, stop := connectTo(t, s, nil)
		if _, err := c.CallTool(t.Context(), "t", nil, client.WithTimeout(time.Second)); !errors.Is(err, client.ErrTimeout) {
			t.Errorf("error = %v", err)
		}
		got, err := client.Call[string](t.Context(), c, "t", nil, client.WithTimeout(time.Second))
		if err != nil || got != "good" {
			t.Errorf("got %q, %v", got, err)
		}
		pass(time.Hour)
		stop()
		if want := fmt.Sprintf(`notifications/cancelled{"requestId":%s,"reason":"the server did not answer in time"}`, slow.ID); len(notes) != 1 || notes[0] != want {
			t.Errorf("notifications %v, want one: %s", notes, want)
		}
	})
}

// ack acknowledges a subscription.
func ack(s *scripted, m *jsonrpc.Message, filter string) {
	s.send(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":%s},"notifications":%s}}`, m.ID, filter)
}

// Spec: 2026-07-28 basic/patterns/subscriptions#acknowledgment.
// Spec: 2026-07-28 basic/patterns/subscriptions#receiving-notifications.
// A subscription knows what was agreed to, and gets the messages that carry its
// ID and were asked for, and none that carry another's ID. An update may be about a
// part of the resource.
func TestSpec2026ClientSubscription(t *testing.T) {
	s := &scripted{script: func(s *scripted, m *jsonrpc.Message) {
		if m.Method == mcp.MethodListen {
			s.send(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"%sx"},"notifications":{"promptsListChanged":true}}}`, m.ID)
			ack(s, m, `{"toolsListChanged":true}`)
			for _, id := range []string{`"` + m.ID.String() + `x"`, `99`, `"99"`} {
				s.send(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":%s}}}`, id)
			}
			s.send(`{"jsonrpc":"2.0","method":"notifications/prompts/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":%s}}}`, m.ID)
			s.send(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":%s},"uri":"x:a/sub"}}`, m.ID)
		}
	}}
	c := connectScripted(t, s, nil)
	events := make(chan client.Event, 8)
	sub, err := c.Listen(t.Context(), mcp.SubscriptionFilter{ToolsListChanged: true, ResourceSubscriptions: []string{"x:a"}}, func(_ context.Context, e client.Event) { events <- e })
	if err != nil {
		t.Fatal(err)
	}
	if got := sub.Honoured(); !got.ToolsListChanged || got.PromptsListChanged || got.ResourceSubscriptions != nil {
		t.Errorf("honoured %+v, want tools only", got)
	}
	if e := <-events; e.Change != (mcp.Change{Kind: mcp.ResourceUpdated, URI: "x:a/sub"}) {
		t.Errorf("got %+v first, which was not asked for or belongs to another", e)
	}
	check(t, "close", sub.Close())
}

// Spec: 2026-07-28 basic/patterns/cancellation#timeouts.
// A subscription that is never acknowledged is given up and cancelled; one that
// is refused, or that ends before it is acknowledged, fails at once; and one
// that is acknowledged late opens late.
func TestSpec2026ListenAcknowledgement(t *testing.T) {
	for _, tt := range []struct {
		name  string
		serve func(s *scripted, m *jsonrpc.Message)
		text  string
		after time.Duration
		notes int
	}{
		{"never", func(*scripted, *jsonrpc.Message) {}, client.ErrTimeout.Error(), time.Minute, 1},
		{"refused", func(s *scripted, m *jsonrpc.Message) { s.fail(m, -32601, "no such method", "") }, "no such method", 0, 0},
		{"ended", func(s *scripted, m *jsonrpc.Message) { s.result(m, `{"resultType":"complete"}`) }, "ended the subscription", 0, 0},
		{"torn down", func(s *scripted, m *jsonrpc.Message) {
			s.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`, m.ID)
		}, "ended the subscription", 0, 0},
		{"late", func(s *scripted, m *jsonrpc.Message) {
			pass(50 * time.Second)
			ack(s, m, `{}`)
		}, "", 50 * time.Second, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				notes := 0
				s := &scripted{script: tt.serve, notes: func(m *jsonrpc.Message) {
					if m.Method == mcp.NoteCancelled {
						notes++
					}
				}}
				c, stop := connectTo(t, s, nil)
				start := time.Now()
				sub, err := c.Listen(t.Context(), mcp.SubscriptionFilter{}, func(context.Context, client.Event) {})
				if (err == nil) != (tt.text == "") || err != nil && !strings.Contains(err.Error(), tt.text) {
					t.Errorf("error = %v, want %q", err, tt.text)
				}
				if took := time.Since(start); took != tt.after {
					t.Errorf("it took %v, want %v", took, tt.after)
				}
				if err == nil {
					check(t, "close", sub.Close())
				}
				synctest.Wait()
				stop()
				if notes != tt.notes {
					t.Errorf("%d cancellations, want %d", notes, tt.notes)
				}
			})
		})
	}
}

// Spec: 2026-07-28 basic/patterns/cancellation.
// Spec: 2026-07-28 basic/patterns/subscriptions#graceful-closure.
// A subscription that the server ends, by its response or by the notification
// that has to precede it, is opened again, and a gap is reported; if it keeps
// ending, the client gives up.
func TestSpec2026ServerEndsSubscription(t *testing.T) {
	for name, end := range map[string]func(s *scripted, m *jsonrpc.Message){
		"answer": func(s *scripted, m *jsonrpc.Message) {
			s.result(m, `{"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":`+m.ID.String()+`}}`)
		},
		"notification": func(s *scripted, m *jsonrpc.Message) {
			s.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s,"reason":"bye"}}`, m.ID)
		},
		"both": func(s *scripted, m *jsonrpc.Message) {
			s.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`, m.ID)
			s.result(m, `{"resultType":"complete"}`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				listens, cancelled := 0, 0
				s := &scripted{script: func(s *scripted, m *jsonrpc.Message) {
					if listens++; listens > 50 {
						s.fail(m, -1, "the client never loses patience", "")
						return
					}
					ack(s, m, `{}`)
					end(s, m)
				}, notes: func(*jsonrpc.Message) { cancelled++ }}
				c, stop := connectTo(t, s, nil)
				gaps := make(chan client.Event, 64)
				sub, err := c.Listen(t.Context(), mcp.SubscriptionFilter{}, func(_ context.Context, e client.Event) { gaps <- e })
				if err != nil {
					t.Fatal(err)
				}
				if e := <-gaps; !e.Gap {
					t.Errorf("got %+v, want a gap", e)
				}
				<-sub.Done()
				if err := sub.Err(); err == nil || !strings.Contains(err.Error(), "ended the subscription") {
					t.Errorf("Err = %v", err)
				}
				stop()
				if listens != 11 || cancelled != 0 {
					t.Errorf("%d subscriptions and %d cancellations, want 11 and none", listens, cancelled)
				}
			})
		})
	}
}

// Spec: 2026-07-28 basic/transports/stdio#unexpected-termination.
// Spec: 2026-07-28 basic/patterns/subscriptions#graceful-closure.
// When the server crashes, calls in flight fail, the next call reaches a new
// server, and subscriptions are sent again.
func TestSpec2026Crash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listens := 0
		s := &scripted{}
		s.script = func(s *scripted, m *jsonrpc.Message) {
			switch {
			case m.Method == mcp.MethodListen:
				listens++
				ack(s, m, `{}`)
			case strings.Contains(string(m.Params), `"crash"`):
				s.crash()
			default:
				s.result(m, `{"content":[]}`)
			}
		}
		c, stop := connectTo(t, s, nil)
		gaps := make(chan client.Event, 8)
		_, err := c.Listen(t.Context(), mcp.SubscriptionFilter{ToolsListChanged: true}, func(_ context.Context, e client.Event) { gaps <- e })
		check(t, "listen", err)
		if _, err := c.CallTool(t.Context(), "crash", nil); !errors.Is(err, jsonrpc.ErrClosed) {
			t.Errorf("error = %v, want that the connection is closed", err)
		}
		_, err = c.CallTool(t.Context(), "t", nil)
		check(t, "the call after the crash", err)
		if e := <-gaps; !e.Gap || listens != 2 {
			t.Errorf("got %+v after %d subscriptions, want a gap after 2", e, listens)
		}
		stop()
	})
}

// Spec: 2026-07-28 basic/versioning#protocol-version-negotiation.
// Spec: 2026-07-28 basic/transports/stdio#backward-compatibility.
// A client that speaks only this revision says why it cannot talk to a server:
// the server speaks others, requires a handshake, or refuses discovery. The
// client sends such a server nothing but server/discover.
func TestSpec2026ConnectFails(t *testing.T) {
	for _, tt := range []struct{ name, answer, text string }{
		{"other revisions", `"error":{"code":-32022,"message":"no","data":{"supported":["2099-01-01"],"requested":"2026-07-28"}}`, "2099-01-01"},
		{"discovered others", `"result":{"resultType":"complete","supportedVersions":["2099-01-01"],"capabilities":{}}`, "2099-01-01"},
		{"sessions", `"error":{"code":-32601,"message":"method not found"}`, "initialize"},
		{"not initialized", `"error":{"code":-32600,"message":"not initialized"}`, "initialize"},
		{"capability", `"error":{"code":-32021,"message":"elicit!","data":{"requiredCapabilities":{"elicitation":{}}}}`, "elicit!"},
		{"unknown type", `"result":{"resultType":"strange","supportedVersions":["2026-07-28"],"capabilities":{}}`, ""},
		{"question", `"result":{"resultType":"input_required","requestState":"s","supportedVersions":["2026-07-28"],"capabilities":{}}`, ""},
		{"nonsense", `"result":5`, "initialize"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &scripted{discovers: true, script: func(s *scripted, m *jsonrpc.Message) {
				if m.Method != mcp.MethodDiscover {
					t.Errorf("the client sent %s", m.Method)
				}
				s.send(`{"jsonrpc":"2.0","id":%s,%s}`, m.ID, tt.answer)
			}}
			c, err := client.Connect(t.Context(), s, &client.Options{Revisions: only2026, Logger: mcptest.Quiet()})
			if err == nil {
				_ = c.Close()
			}
			s.running.Wait()
			if err == nil || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("error = %v, want one that says %q", err, tt.text)
			}
		})
	}
}

// Spec: 2026-07-28 basic/transports/stdio#backward-compatibility.
// A client of both eras falls back to initialize on any error that is not one
// of the stateless era's, and on silence; it does not on such an error.
func TestSpec2026FallBack(t *testing.T) {
	for _, tt := range []struct {
		name, answer string
		falls        bool
	}{
		{"-32601", `"error":{"code":-32601,"message":"m"}`, true},
		{"-32602", `"error":{"code":-32602,"message":"m"}`, true},
		{"-32000", `"error":{"code":-32000,"message":"m"}`, true},
		{"0", `"error":{"code":0,"message":"m"}`, true},
		{"empty result", `"result":{}`, true},
		{"silence", ``, true},
		{"modern", `"error":{"code":-32022,"message":"m","data":{"supported":["2099-01-01"],"requested":"2026-07-28"}}`, false},
		{"modern that names sessions", `"error":{"code":-32022,"message":"m","data":{"supported":["2025-11-25"],"requested":"2026-07-28"}}`, true},
		{"modern without data", `"error":{"code":-32022,"message":"m"}`, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fell := false
				s := &scripted{discovers: true, script: func(s *scripted, m *jsonrpc.Message) {
					switch {
					case m.Method == mcp.MethodInitialize:
						fell = true
						s.result(m, `{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}`)
					case tt.answer != "":
						s.send(`{"jsonrpc":"2.0","id":%s,%s}`, m.ID, tt.answer)
					}
				}}
				c, err := client.Connect(t.Context(), s, &client.Options{Logger: mcptest.Quiet()})
				if fell != tt.falls || (err == nil) != tt.falls {
					t.Errorf("initialize was sent: %v, error = %v; want %v", fell, err, tt.falls)
				}
				if err == nil {
					check(t, "close", c.Close())
				}
				s.running.Wait()
			})
		})
	}
}
