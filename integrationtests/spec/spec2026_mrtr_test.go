package spec_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
)

// asker has a tool that asks two questions at once, then one more.
func asker() *server.Server {
	s := plainServer(nil)
	server.AddTool(s, mcp.Tool{Name: "ask"}, func(ctx context.Context, call *server.Call, _ struct {
		Note string `json:"note,omitempty"`
	},
	) (string, error) {
		a, err := call.Ask(ctx, server.Form[city]("one", "One?"), server.Form[city]("two", "Two?"))
		if err != nil {
			return "", err
		}
		one, err := server.Answer[city](a, "one")
		if err != nil {
			return "", err
		}
		two, err := server.Answer[city](a, "two")
		if err != nil {
			return "", err
		}
		three, err := server.Elicit[city](ctx, call, "three", "Three?")
		return one.City + two.City + three.City, err
	})
	return s
}

// required is an InputRequiredResult.
type required struct {
	ResultType    string                     `json:"resultType"`
	InputRequests map[string]json.RawMessage `json:"inputRequests"`
	RequestState  *string                    `json:"requestState"`
}

func (r *required) keys() string {
	var keys []string
	for _, k := range []string{"one", "two", "three"} {
		if _, ok := r.InputRequests[k]; ok {
			keys = append(keys, k)
		}
	}
	return strings.Join(keys, " ")
}

func asked(t *testing.T, a message) *required {
	t.Helper()
	r := new(required)
	if err := json.Unmarshal(a.Result, r); err != nil || r.ResultType != "input_required" {
		t.Fatalf("got %s, %v; want input_required", a.raw, err)
	}
	return r
}

const formCaps = `{"elicitation":{"form":{}}}`

func accept(key, value string) string {
	return `"` + key + `":{"action":"accept","content":{"city":"` + value + `"}}`
}

// Spec: 2026-07-28 basic/patterns/mrtr#error-handling.
// Questions that a client leaves unanswered are asked again, superfluous
// answers are ignored, and earlier answers need not be sent again; the retry
// may use any connection. A result that asks has no caching hints.
func TestSpec2026PartialAnswers(t *testing.T) {
	s := asker()
	call := func(members string) message {
		a, _ := rawly(t, s, nil).exchange(`1`, frameWith(`1`, mcp.MethodCallTool, `"name":"ask"`+members, metaWith(formCaps, "")))
		return a
	}
	retry := func(r *required, answers string) message {
		if r.RequestState == nil {
			t.Fatal("there is no requestState")
		}
		return call(`,"requestState":"` + *r.RequestState + `","inputResponses":{` + answers + `}`)
	}
	first := call(``)
	r := asked(t, first)
	if r.keys() != "one two" || strings.Contains(first.raw, "ttlMs") {
		t.Errorf("asked %q in %s; want one two, and no ttlMs", r.keys(), first.raw)
	}
	r = asked(t, retry(r, accept("two", "B")+`,"unheard":{"action":"accept"},`+accept("three", "forward")))
	if r.keys() != "one" {
		t.Errorf("asked %q, want one", r.keys())
	}
	r = asked(t, retry(r, ``))
	if r.keys() != "one" {
		t.Errorf("asked %q, want one again", r.keys())
	}
	r = asked(t, retry(r, accept("one", "A")))
	if r.keys() != "three" {
		t.Errorf("asked %q, want three", r.keys())
	}
	if a := retry(r, accept("three", "C")); !strings.Contains(a.raw, `"text":"ABC"`) {
		t.Errorf("got %s, want ABC", a.raw)
	}
}

// Spec: 2026-07-28 basic/patterns/mrtr#server-requirements-basic-workflow (4).
// A state that was changed, or belongs to another request, is refused; the same
// request written differently is still the same.
func TestSpec2026StateIsVerified(t *testing.T) {
	s := asker()
	s.AddResource(mcp.Resource{URI: "x:a", Name: "a"}, func(context.Context, *server.Call, string) (*mcp.ReadResourceResult, error) {
		return server.Contents(), nil
	})
	w := rawly(t, s, nil)
	send := func(method, members string) message {
		a, _ := w.exchange(`1`, frameWith(`1`, method, members, metaWith(formCaps, "")))
		return a
	}
	state := *asked(t, send(mcp.MethodCallTool, `"name":"ask","arguments":{"note":"n"}`)).RequestState
	flipped := []byte(state)
	flipped[len(flipped)/2] ^= 1
	for name, members := range map[string]string{
		"changed":         `"name":"ask","arguments":{"note":"n"},"requestState":"` + string(flipped) + `"`,
		"cut":             `"name":"ask","arguments":{"note":"n"},"requestState":"` + state[:len(state)-4] + `"`,
		"longer":          `"name":"ask","arguments":{"note":"n"},"requestState":"` + state + `AAAA"`,
		"other arguments": `"name":"ask","arguments":{"note":"m"},"requestState":"` + state + `"`,
		"no arguments":    `"name":"ask","requestState":"` + state + `"`,
	} {
		if a := send(mcp.MethodCallTool, members); a.Error == nil || a.Error.Code != jsonrpc.CodeInvalidParams || strings.Contains(a.raw, "cipher") {
			t.Errorf("%s: %s; want invalid params", name, a.raw)
		}
	}
	if a := send(mcp.MethodReadResource, `"uri":"x:a","requestState":"`+state+`"`); a.Error == nil || a.Error.Code != jsonrpc.CodeInvalidParams {
		t.Errorf("another method: %s; want invalid params", a.raw)
	}
	if a := send(mcp.MethodCallTool, `"requestState":"`+state+`","arguments":{ "note" : "n" },"name":"ask"`); asked(t, a).keys() != "one two" {
		t.Errorf("the same request: %s", a.raw)
	}
	w.alive()
}

// stateOfAsk makes the tool "ask" ask, and returns the member of a retry that has
// its state.
func stateOfAsk(t *testing.T, w *wire) string {
	t.Helper()
	a, _ := w.exchange(`1`, frameWith(`1`, mcp.MethodCallTool, `"name":"ask"`, metaWith(formCaps, "")))
	return `"requestState":"` + *asked(t, a).RequestState + `"`
}

// Spec: 2026-07-28 basic/patterns/mrtr#error-handling.
// Malformed answers are invalid params, and a value that is not an answer at all
// counts as missing. Where only the content does not fit the form, the tool fails.
func TestSpec2026MalformedAnswers(t *testing.T) {
	w := rawly(t, asker(), nil)
	state := stateOfAsk(t, w)
	for _, bad := range []string{
		`{}`, `{"action":5}`, `{"action":"maybe"}`, `{"action":"accept","content":null}`, `{"action":"accept","content":[]}`,
	} {
		w.refused(`1`, frameWith(`1`, mcp.MethodCallTool, `"name":"ask",`+state+`,"inputResponses":{"one":`+bad+`,`+accept("two", "B")+`}`, metaWith(formCaps, "")), jsonrpc.CodeInvalidParams, "one")
	}
	for _, misfit := range []string{`{"action":"accept"}`, `{"action":"accept","content":{}}`, `{"action":"accept","content":{"city":5}}`} {
		a, _ := w.exchange(`1`, frameWith(`1`, mcp.MethodCallTool, `"name":"ask",`+state+`,"inputResponses":{"one":`+misfit+`,`+accept("two", "B")+`}`, metaWith(formCaps, "")))
		if !strings.Contains(a.raw, `"text":"the answer to the form \"one\" does not fit it: `) || !strings.Contains(a.raw, `"isError":true`) {
			t.Errorf("%s: %s", misfit, a.raw)
		}
	}
	for _, none := range []string{`5`, `null`, `"x"`, `[]`} {
		a, _ := w.exchange(`1`, frameWith(`1`, mcp.MethodCallTool, `"name":"ask",`+state+`,"inputResponses":{"one":`+none+`,`+accept("two", "B")+`}`, metaWith(formCaps, "")))
		if r := asked(t, a); r.keys() != "one" {
			t.Errorf("%s: asked %q, want one", none, r.keys())
		}
	}
	w.alive()
}

// Spec: 2026-07-28 basic/patterns/mrtr#server-requirements-basic-workflow (7).
// Spec: 2026-07-28 client/sampling#tools-in-sampling.
// Spec: 2026-07-28 client/elicitation#capabilities.
// A client is not asked for what it has not declared; the error says what that
// is. An empty elicitation capability means forms.
func TestSpec2026UndeclaredQuestions(t *testing.T) {
	message := []*mcp.SamplingMessage{{Role: mcp.RoleUser, Content: mcp.OneOrMany{mcp.Text("?")}}}
	questions := map[string]mcp.InputRequest{
		"form":   {Method: mcp.MethodElicit, Params: &mcp.ElicitParams{Message: "m", RequestedSchema: json.RawMessage(`{"type":"object","properties":{}}`)}},
		"url":    {Method: mcp.MethodElicit, Params: &mcp.ElicitParams{Mode: "url", Message: "m", URL: "https://example.com"}},
		"sample": {Method: mcp.MethodSample, Params: &mcp.CreateMessageParams{Messages: message, MaxTokens: 1}},
		"tools":  {Method: mcp.MethodSample, Params: &mcp.CreateMessageParams{Messages: message, MaxTokens: 1, Tools: []*mcp.Tool{{Name: "t", InputSchema: json.RawMessage(`{"type":"object"}`)}}}},
		"choice": {Method: mcp.MethodSample, Params: &mcp.CreateMessageParams{Messages: message, MaxTokens: 1, ToolChoice: &mcp.ToolChoice{Mode: "none"}}},
		"roots":  {Method: mcp.MethodRoots},
	}
	s := plainServer(nil)
	for name, q := range questions {
		q.Key = "q"
		s.AddRawTool(mcp.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)}, func(context.Context, *server.Call, json.RawMessage) (*mcp.CallToolResult, error) {
			return nil, &mcp.InputRequired{Requests: []mcp.InputRequest{q}}
		})
	}
	w := rawly(t, s, nil)
	for _, tt := range []struct{ tool, caps, missing string }{
		{"form", `{}`, `{"elicitation":{"form":{}}}`},
		{"form", `{"elicitation":{"url":{}}}`, `{"elicitation":{"form":{}}}`},
		{"form", `{"elicitation":{}}`, ``},
		{"form", `{"elicitation":{"form":{}}}`, ``},
		{"url", `{"elicitation":{}}`, `{"elicitation":{"url":{}}}`},
		{"url", `{"elicitation":{"form":{}}}`, `{"elicitation":{"url":{}}}`},
		{"url", `{"elicitation":{"url":{}}}`, ``},
		{"sample", `{"elicitation":{},"roots":{}}`, `{"sampling":{}}`},
		{"sample", `{"sampling":{}}`, ``},
		{"tools", `{"sampling":{}}`, `{"sampling":{"tools":{}}}`},
		{"tools", `{"sampling":{"tools":{}}}`, ``},
		{"choice", `{"sampling":{}}`, `{"sampling":{"tools":{}}}`},
		{"choice", `{"sampling":{"tools":{}}}`, ``},
		{"roots", `{"sampling":{}}`, `{"roots":{}}`},
		{"roots", `{"roots":{}}`, ``},
	} {
		a, _ := w.exchange(`1`, frameWith(`1`, mcp.MethodCallTool, `"name":"`+tt.tool+`"`, metaWith(tt.caps, "")))
		if tt.missing == "" {
			asked(t, a)
			continue
		}
		if want := `{"requiredCapabilities":` + tt.missing + `}`; a.Error == nil || a.Error.Code != mcp.CodeMissingCapability || string(a.Error.Data) != want {
			t.Errorf("%s with %s: %s; want %s", tt.tool, tt.caps, a.raw, want)
		}
	}
}

// Spec: 2026-07-28 basic/patterns/mrtr#supported-requests.
// Handlers of prompts, resources and tools may ask. If one of any other method
// asks, that is an internal error, and the question is not sent.
func TestSpec2026WhoMayAsk(t *testing.T) {
	s := plainServer(nil)
	ask := func(ctx context.Context, call *server.Call) error {
		_, err := server.Elicit[city](ctx, call, "q", "Where?")
		return err
	}
	server.AddTool(s, mcp.Tool{Name: "t"}, func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
		return "", ask(ctx, call)
	})
	s.AddResource(mcp.Resource{URI: "x:a", Name: "a"}, func(ctx context.Context, call *server.Call, _ string) (*mcp.ReadResourceResult, error) {
		return server.Contents(), ask(ctx, call)
	})
	s.AddRawPrompt(mcp.Prompt{Name: "p", Arguments: []*mcp.PromptArgument{{Name: "x"}}}, func(ctx context.Context, call *server.Call, _ map[string]string) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{}, ask(ctx, call)
	})
	s.CompletePrompt("p", "x", func(ctx context.Context, call *server.Call, _ server.Completing) (mcp.Completion, error) {
		return mcp.Completion{}, ask(ctx, call)
	})
	s.HandleMethod("x/ask", func(ctx context.Context, call *server.Call, _ json.RawMessage) (any, error) {
		return nil, ask(ctx, call)
	})
	s.HandleMethod("x/made", func(context.Context, *server.Call, json.RawMessage) (any, error) {
		return nil, &mcp.InputRequired{Requests: []mcp.InputRequest{{Key: "q", Method: mcp.MethodRoots}}}
	})
	w := rawly(t, s, nil)
	for _, tt := range []struct {
		method, members string
		may             bool
	}{
		{mcp.MethodCallTool, `"name":"t"`, true},
		{mcp.MethodReadResource, `"uri":"x:a"`, true},
		{mcp.MethodGetPrompt, `"name":"p"`, true},
		{mcp.MethodComplete, `"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"x","value":""}`, false},
		{"x/ask", ``, false},
		{"x/made", ``, false},
	} {
		a, _ := w.exchange(`1`, frameWith(`1`, tt.method, tt.members, metaWith(`{"elicitation":{},"roots":{}}`, "")))
		if tt.may {
			asked(t, a)
		} else if a.Error == nil || a.Error.Code != jsonrpc.CodeInternalError {
			t.Errorf("%s: %s; want an internal error", tt.method, a.raw)
		}
	}
}

// Spec: 2026-07-28 basic/patterns/mrtr#server-requirements-basic-workflow (6).
// A server that asks no question, but wants to be called again, still sends a
// state.
func TestSpec2026StateAlone(t *testing.T) {
	s := plainServer(nil)
	s.AddRawTool(mcp.Tool{Name: "t", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(_ context.Context, call *server.Call, _ json.RawMessage) (*mcp.CallToolResult, error) {
		if state := call.Exchange().State; state != nil {
			return &mcp.CallToolResult{Content: mcp.Contents{mcp.Text(string(state))}}, nil
		}
		return nil, &mcp.InputRequired{State: json.RawMessage(`{"seen":1}`)}
	})
	w := rawly(t, s, nil)
	a, _ := w.call(`1`, mcp.MethodCallTool, `"name":"t"`)
	r := asked(t, a)
	if r.InputRequests != nil || r.RequestState == nil || strings.Contains(*r.RequestState, "seen") {
		t.Fatalf("got %s; want a sealed state alone", a.raw)
	}
	if a, _ = w.call(`2`, mcp.MethodCallTool, `"name":"t","requestState":"`+*r.RequestState+`"`); !strings.Contains(a.raw, `{\"seen\":1}`) {
		t.Errorf("got %s, want the state", a.raw)
	}
}

// Spec: 2026-07-28 basic/patterns/mrtr#server-requirements-basic-workflow (2).
// Two questions with the same key are a mistake of the handler, not one
// question.
func TestSpec2026KeysAreUnique(t *testing.T) {
	s := plainServer(nil)
	s.AddRawTool(mcp.Tool{Name: "t", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(context.Context, *server.Call, json.RawMessage) (*mcp.CallToolResult, error) {
		q := mcp.InputRequest{Key: "q", Method: mcp.MethodRoots}
		return nil, &mcp.InputRequired{Requests: []mcp.InputRequest{q, q}}
	})
	w := rawly(t, s, nil)
	w.refused(`1`, frameWith(`1`, mcp.MethodCallTool, `"name":"t"`, metaWith(`{"roots":{}}`, "")), jsonrpc.CodeInternalError, "internal error")
}

// Spec: 2026-07-28 client/elicitation#elicitation-requests.
// Spec: 2026-07-28 client/sampling#capabilities.
// Questions are in the form of this revision: with a mode and a message,
// without an identifier, and without context that the client has not declared.
func TestSpec2026QuestionForms(t *testing.T) {
	w := rawly(t, everything(), nil)
	for tool, want := range map[string]string{
		"visit": `{"method":"elicitation/create","params":{"mode":"url","message":"Go there","url":"https://example.com/x"}}`,
		"roots": `{"method":"roots/list","params":{}}`,
		"think": `"maxTokens":10`,
		"ask":   `"mode":"form","message":"Who?","requestedSchema":{`,
	} {
		a, _ := w.exchange(`1`, frameWith(`1`, mcp.MethodCallTool, `"name":"`+tool+`"`, metaWith(`{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{}}`, "")))
		asked(t, a)
		if !strings.Contains(a.raw, want) || strings.Contains(a.raw, "includeContext") || strings.Contains(a.raw, "elicitationId") {
			t.Errorf("%s: %s; want %s", tool, a.raw, want)
		}
	}
	a, _ := w.exchange(`1`, frameWith(`1`, mcp.MethodCallTool, `"name":"think"`, metaWith(`{"sampling":{"context":{}}}`, "")))
	if !strings.Contains(a.raw, `"includeContext":"allServers"`) {
		t.Errorf("context was declared, but not asked for: %s", a.raw)
	}
}

// Spec: 2026-07-28 client/elicitation#error-handling.
// A user who declines or cancels is distinguished from one who answers, and the
// tool decides how to continue.
func TestSpec2026Refusals(t *testing.T) {
	w := rawly(t, asker(), nil)
	state := stateOfAsk(t, w)
	for _, action := range []string{"decline", "cancel"} {
		a, _ := w.exchange(`1`, frameWith(`1`, mcp.MethodCallTool,
			fmt.Sprintf(`"name":"ask",%s,"inputResponses":{"one":{"action":%q},%s}`, state, action, accept("two", "B")), metaWith(formCaps, "")))
		if !strings.Contains(a.raw, `"isError":true`) || !strings.Contains(a.raw, action) {
			t.Errorf("%s: %s; want a tool error that says so", action, a.raw)
		}
	}
}
