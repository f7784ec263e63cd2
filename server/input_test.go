package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/parley-mcp/parley/mcp"
)

// newCall returns a call whose client gives these answers.
func newTestCall(answers map[string]string) (*Call, *fakeBack) {
	s, _ := newServer(Options{})
	back := &fakeBack{answers: map[string]json.RawMessage{}}
	for key, a := range answers {
		back.answers[key] = json.RawMessage(a)
	}
	x := request(mcp.MethodCallTool, "")
	x.Back = back
	return s.newCall(x), back
}

type contact struct {
	Name   string    `json:"name" title:"Name" description:"Yours" minLength:"2" maxLength:"50"`
	Mail   string    `json:"mail,omitempty" format:"email"`
	Age    *int      `json:"age" minimum:"18" maximum:"120"`
	Weight float64   `json:"weight" default:"70.5"`
	News   bool      `json:"news" default:"true"`
	Color  string    `json:"color" enum:"#f00,#0f0" enumTitles:"Red, Green"`
	Size   string    `json:"size" enum:"S,M" default:"M"`
	Pets   []string  `json:"pets,omitempty" enum:"cat,dog" minItems:"1" maxItems:"2"`
	Tags   []string  `json:"tags,omitempty" enum:"a,b" enumTitles:"A,B" default:"[\"a\"]"`
	When   time.Time `json:"when,omitzero"`
}

func TestFormSchema(t *testing.T) {
	c, back := newTestCall(nil)
	_, err := Elicit[contact](t.Context(), c, "who", "Who are you?")
	var input *mcp.InputRequired
	if !errors.As(err, &input) || input.Requests[0].Key != "who" {
		t.Fatalf("got %v", err)
	}
	same(t, toJSON(t, back.asked[0]), `{"method":"elicitation/create","params":{"mode":"form","message":"Who are you?","requestedSchema":{"type":"object","properties":{`+
		`"name":{"type":"string","title":"Name","description":"Yours","minLength":2,"maxLength":50},`+
		`"mail":{"type":"string","format":"email"},`+
		`"age":{"type":"integer","minimum":18,"maximum":120},`+
		`"weight":{"type":"number","default":70.5},`+
		`"news":{"type":"boolean","default":true},`+
		`"color":{"type":"string","oneOf":[{"const":"#f00","title":"Red"},{"const":"#0f0","title":"Green"}]},`+
		`"size":{"type":"string","enum":["S","M"],"default":"M"},`+
		`"pets":{"type":"array","minItems":1,"maxItems":2,"items":{"type":"string","enum":["cat","dog"]}},`+
		`"tags":{"type":"array","items":{"anyOf":[{"const":"a","title":"A"},{"const":"b","title":"B"}]},"default":["a"]},`+
		`"when":{"type":"string","format":"date-time"}},"required":["name","color"]}}}`)
}

func TestElicit(t *testing.T) {
	for _, c := range []struct{ answer, want string }{
		{`{"action":"accept","content":{"name":"Ann","color":"#f00"}}`, `{"name":"Ann","age":null,"weight":70.5,"news":true,"color":"#f00","size":"M","tags":["a"]}`},
		{`{"action":"accept","content":{"name":"Ann","color":"#f00","age":20,"news":false,"pets":["cat"],"x":1}}`, `{"name":"Ann","age":20,"weight":70.5,"news":false,"color":"#f00","size":"M","pets":["cat"],"tags":["a"]}`},
		{`{"action":"accept","content":{"name":"A","color":"#f00"}}`, `error: the answer to the form "k" does not fit it: "name": `},
		{`{"action":"accept","content":{"name":"Ann","color":"blue"}}`, `error: the answer to the form "k" does not fit it: "color": `},
		{`{"action":"accept","content":{"name":"Ann","color":"#f00","mail":"nope"}}`, `error: the answer to the form "k" does not fit it: "mail": `},
		{`{"action":"accept"}`, `error: the answer to the form "k" does not fit it: missing`},
		{`{"action":"accept","content":[]}`, `error: answer to "k": `},
		{`{"action":"decline"}`, `error: the user declined: "k"`},
		{`{"action":"cancel","content":{"name":"Ann"}}`, `error: the user cancelled: "k"`},
		{`{"action":"maybe"}`, `error: answer to "k": unknown action "maybe"`},
		{`{}`, `error: answer to "k": unknown action ""`},
		{`[]`, `error: answer to "k": `},
	} {
		call, _ := newTestCall(map[string]string{"k": c.answer})
		got, err := Elicit[contact](t.Context(), call, "k", "m")
		text := toJSON(t, got)
		if err != nil {
			text = "error: " + err.Error()
		}
		if !strings.HasPrefix(text, c.want) {
			t.Errorf("%s: got %s, want %s", c.answer, text, c.want)
		}
	}
}

func TestDeclined(t *testing.T) {
	call, _ := newTestCall(map[string]string{"d": `{"action":"decline"}`, "c": `{"action":"cancel"}`})
	declined := ElicitURL(t.Context(), call, "d", "m", "https://example.com/")
	cancelled := ElicitURL(t.Context(), call, "c", "m", "https://example.com/")
	if !errors.Is(declined, ErrDeclined) || errors.Is(declined, ErrCancelled) || !errors.Is(cancelled, ErrCancelled) {
		t.Errorf("got %v and %v", declined, cancelled)
	}
	var d *DeclinedError
	if !errors.As(declined, &d) || d.Key != "d" {
		t.Errorf("got %v", d)
	}
}

// Spec: 2026-07-28 client/elicitation#safe-url-handling.
func TestPagesToVisit(t *testing.T) {
	for _, page := range []string{"https://example.com/x?y=z#", "http://localhost:8080/x", "http://127.0.0.1/", "http://[::1]:8080/"} {
		call, back := newTestCall(map[string]string{"k": `{"action":"accept"}`})
		if err := ElicitURL(t.Context(), call, "k", "m", page); err != nil || len(back.asked) != 1 {
			t.Errorf("%s: %v", page, err)
		}
	}
}

// Who has agreed to one question has not agreed to another one with the same key.
func TestOneKeyForTwoQuestions(t *testing.T) {
	call, back := newTestCall(map[string]string{"sure": `{"action":"accept","content":{}}`, RootsKey: `{"roots":[]}`})
	ask := func(message string) error {
		_, err := Elicit[struct{}](t.Context(), call, "sure", message)
		return err
	}
	if err := ask("Delete a?"); err != nil {
		t.Fatal(err)
	}
	if err := ask("Delete b?"); err == nil || !strings.Contains(err.Error(), `"sure"`) || len(back.asked) != 1 {
		t.Errorf("%v; %d questions", err, len(back.asked))
	}
	for _, what := range []func() error{
		func() error { return ask("Delete a?") },
		func() error { _, err := Roots(t.Context(), call); return err },
		func() error { _, err := Roots(t.Context(), call); return err },
	} {
		if err := what(); err != nil {
			t.Errorf("the same question: %v", err)
		}
	}
}

func TestFormsThatAreNone(t *testing.T) {
	call, back := newTestCall(nil)
	ask := func(_ any, err error) error { return err }
	elicit := func(q Question) error {
		_, err := call.Ask(t.Context(), q)
		return err
	}
	for _, c := range []struct {
		err  error
		want string
	}{
		{ask(Elicit[int](t.Context(), call, "k", "m")), "made of a struct"},
		{elicit(Form[struct{ S struct{ A int } }]("k", "m")), "not possible in a form"},
		{elicit(Form[struct{ L []string }]("k", "m")), "needs an enum"},
		{elicit(Form[struct{ L []int }]("k", "m")), "needs an enum"},
		{elicit(Form[struct{ M map[string]int }]("k", "m")), "not possible in a form"},
		{elicit(Form[struct{ B []byte }]("k", "m")), "not possible in a form"},
		{elicit(Form[struct{ A any }]("k", "m")), `type ""`},
		{elicit(Form[struct {
			S string `format:"uuid"`
		}]("k", "m")), `format "uuid"`},
		{elicit(Form[struct {
			S string `pattern:"a"`
		}]("k", "m")), `"pattern" is not possible`},
		{elicit(Form[struct {
			N int `enum:"1,2"`
		}]("k", "m")), "enum"},
		{elicit(Form[struct {
			S string `enum:"a,b" enumTitles:"A"`
		}]("k", "m")), "1 titles for 2"},
		{elicit(Form[struct{}]("", "m")), "key"},
		{elicit(Question{}), "key"},
		{elicit(URLQuestion("k", "m", "file:///etc/passwd")), "not an absolute http"},
		{elicit(URLQuestion("k", "m", "/path")), "not an absolute http"},
		{ElicitURL(t.Context(), call, "k", "m", "https://%zz"), "not an absolute http"},
		{ElicitURL(t.Context(), call, "k", "m", "https://:443/"), "not an absolute http"},
		{ElicitURL(t.Context(), call, "k", "m", "https://me:secret@example.com/"), `"https://me:xxxxx@example.com/" holds a user name`},
		{ElicitURL(t.Context(), call, "k", "m", "http://example.com/"), "is not https"},
		{ElicitURL(t.Context(), call, "k", "m", "http://127.0.0.1.example.com/"), "is not https"},
		{ElicitURL(t.Context(), call, "k", "m", "https://example.com/ä"), "percent-encoded"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("got %v, want %q", c.err, c.want)
		}
	}
	if len(back.asked) != 0 {
		t.Errorf("asked %v", back.asked)
	}
}

func TestAsk(t *testing.T) {
	call, back := newTestCall(map[string]string{
		"form": `{"action":"accept","content":{"N":1}}`, "none": `{"action":"accept","content":{}}`,
		"no": `{"action":"decline"}`, "url": `{"action":"accept"}`,
		"roots": `{"roots":[{"uri":"file:///a","name":"A"}]}`,
		"model": `{"role":"assistant","model":"m","content":{"type":"text","text":"hi"}}`,
	})
	type form struct{ N int }
	answers, err := call.Ask(t.Context(), Form[form]("form", "m"), Form[struct{}]("none", "m"), Form[form]("no", "m"),
		URLQuestion("url", "m", "https://example.com/x"), RootsQuestion(), SampleQuestion("model", sampling(user("hi"))))
	if err != nil {
		t.Fatal(err)
	}
	f, err := Answer[form](answers, "form")
	if f.N != 1 || err != nil {
		t.Errorf("got %v, %v", f, err)
	}
	if _, err := Answer[form](answers, "no"); !errors.Is(err, ErrDeclined) {
		t.Errorf("got %v", err)
	}
	if _, err := Answer[struct{}](answers, "url"); err != nil {
		t.Errorf("got %v", err)
	}
	roots, err := Answer[[]*mcp.Root](answers, RootsKey)
	if err != nil || len(roots) != 1 || roots[0].Name != "A" {
		t.Errorf("got %v, %v", roots, err)
	}
	if _, err := Answer[string](answers, "form"); err == nil {
		t.Error("the wrong type was accepted")
	}
	if _, err := Answer[string](answers, "other"); err == nil {
		t.Error("an answer without a question")
	}
	same(t, toJSON(t, back.asked[1]), `{"method":"elicitation/create","params":{"mode":"form","message":"m","requestedSchema":{"type":"object","properties":{}}}}`)
	same(t, toJSON(t, back.asked[3]), `{"method":"elicitation/create","params":{"mode":"url","message":"m","url":"https://example.com/x"}}`)
	same(t, toJSON(t, back.asked[4]), `{"method":"roots/list"}`)
	if _, err := call.Ask(t.Context(), Form[form]("a", ""), Form[form]("a", "")); err == nil {
		t.Error("one key for two questions")
	}
	if answers, err := call.Ask(t.Context()); err != nil || len(answers.byKey) != 0 {
		t.Errorf("nothing asked: %v, %v", answers, err)
	}
	back.fail = &mcp.MissingCapabilityError{Feature: "roots"}
	if _, err := Roots(t.Context(), call); !errors.Is(err, back.fail) {
		t.Errorf("got %v", err)
	}
}

func user(blocks ...any) *mcp.SamplingMessage { return message(mcp.RoleUser, blocks...) }

func assistant(blocks ...any) *mcp.SamplingMessage { return message(mcp.RoleAssistant, blocks...) }

func message(role mcp.Role, blocks ...any) *mcp.SamplingMessage {
	m := &mcp.SamplingMessage{Role: role}
	for _, b := range blocks {
		if s, ok := b.(string); ok {
			b = mcp.Text(s)
		}
		m.Content = append(m.Content, b.(mcp.Content))
	}
	return m
}

func use(id string) *mcp.ToolUseContent {
	return &mcp.ToolUseContent{ID: id, Name: "t", Input: json.RawMessage("{}")}
}

func result(id string) *mcp.ToolResultContent {
	return &mcp.ToolResultContent{ToolUseID: id, Content: mcp.Contents{}}
}

func sampling(messages ...*mcp.SamplingMessage) *mcp.CreateMessageParams {
	return &mcp.CreateMessageParams{Messages: messages, MaxTokens: 10}
}

// object is a schema, and an object.
var object = json.RawMessage(`{"type":"object"}`)

var counter = &mcp.Tool{Name: "t", InputSchema: object, OutputSchema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`)}

func preferring(p *mcp.ModelPreferences) *mcp.CreateMessageParams {
	params := sampling(user("a"))
	params.ModelPreferences = p
	return params
}

func offering(tool *mcp.Tool, more ...*mcp.SamplingMessage) *mcp.CreateMessageParams {
	params := sampling(append([]*mcp.SamplingMessage{user("a")}, more...)...)
	params.Tools = []*mcp.Tool{tool}
	return params
}

func structured(id, raw string) *mcp.ToolResultContent {
	return &mcp.ToolResultContent{ToolUseID: id, Content: mcp.Contents{}, StructuredContent: json.RawMessage(raw)}
}

// Spec: 2026-07-28 client/sampling#creating-messages.
func TestSamplingRules(t *testing.T) {
	choice := sampling(user("a"))
	choice.ToolChoice = &mcp.ToolChoice{Mode: "always"}
	for _, c := range []struct {
		name   string
		params *mcp.CreateMessageParams
		want   string
	}{
		{"text", sampling(user("a"), assistant("b"), user("c")), ""},
		{"balanced", sampling(user("a"), assistant("thinking", use("1"), use("2")), user(result("2"), result("1")), assistant("b")), ""},
		{"nil", nil, "no messages"},
		{"none", sampling(), "no messages"},
		{"no tokens", &mcp.CreateMessageParams{Messages: []*mcp.SamplingMessage{user("a")}}, "MaxTokens is 0"},
		{"tool choice", choice, `"always"`},
		{"empty", sampling(user()), "no content"},
		{"nil message", sampling(nil), "no content"},
		{"role", sampling(message("system", "a")), `"system"`},
		{"kind", sampling(user(&mcp.ResourceLink{})), "ResourceLink"},
		{"mixed", sampling(assistant(use("1")), user("here", result("1"))), "nothing else"},
		{"missing result", sampling(assistant(use("1"), use("2")), user(result("1"))), `"2" has no result`},
		{"text instead", sampling(assistant(use("1")), user("a")), `"1" has no result`},
		{"no result follows", sampling(assistant(use("1"))), "no results follow"},
		{"result of nothing", sampling(user(result("1"))), "answers no tool use"},
		{"result twice", sampling(assistant(use("1")), user(result("1"), result("1"))), "answers no tool use"},
		{"assistant's result", sampling(assistant(use("1")), assistant(result("1"))), "answers no tool use"},
		{"user's use", sampling(user(use("1"))), "must be an assistant's"},
		{"ID twice", sampling(assistant(use("1"), use("1"))), "ID of its own"},
		{"no input", sampling(assistant(&mcp.ToolUseContent{ID: "1", Name: "t"})), "input is not a JSON object"},
		{"nil block", sampling(user((*mcp.TextContent)(nil))), "messages[0]: content[0]: it is nil"},
		{"MIME type", sampling(user("a"), assistant(&mcp.ImageContent{Data: []byte{1}})), `messages[1]: content[0]: mimeType ""`},
		{"annotations", sampling(user(&mcp.TextContent{Annotations: &mcp.Annotations{Priority: new(7.5)}})), "priority 7.5"},
		{"key of a message", sampling(&mcp.SamplingMessage{Role: "user", Content: mcp.OneOrMany{mcp.Text("a")}, Meta: mcp.Meta{"a b": nil}}), `"a b" is not valid`},
		{"key", &mcp.CreateMessageParams{Meta: mcp.Meta{"dev.mcp/a": nil}, Messages: []*mcp.SamplingMessage{user("a")}, MaxTokens: 1}, "reserved"},
		{"priorities", preferring(&mcp.ModelPreferences{CostPriority: new(0.0), SpeedPriority: new(1.0)}), ""},
		{"cost", preferring(&mcp.ModelPreferences{CostPriority: new(-0.1)}), "CostPriority -0.1 is not between 0 and 1"},
		{"speed", preferring(&mcp.ModelPreferences{SpeedPriority: new(2.0)}), "SpeedPriority 2 is"},
		{"intelligence", preferring(&mcp.ModelPreferences{IntelligencePriority: new(math.NaN())}), "IntelligencePriority NaN is"},
		{"tool without a name", offering(&mcp.Tool{}), "tools[0] has no valid name"},
		{"nil tool", offering(nil), "tools[0] has no valid name"},
		{"tool without a schema", offering(&mcp.Tool{Name: "t"}), "not a JSON object"},
		{"tool with an icon", offering(&mcp.Tool{Name: "t", InputSchema: object, Icons: []mcp.Icon{{Src: "file:///a"}}}), `tool "t": icons[0]`},
		{"structured", offering(counter, assistant(use("1")), user(structured("1", `{"n":1}`))), ""},
		{"structured otherwise", offering(counter, assistant(use("1")), user(structured("1", `{"n":"x"}`))), `messages[2]: content[0]: the result of tool "t": structured content does not conform`},
		{"structured by another tool", offering(&mcp.Tool{Name: "u", InputSchema: object, OutputSchema: object}, assistant(use("1")), user(structured("1", `3`))), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			call, back := newTestCall(map[string]string{"k": `{"role":"assistant","model":"m","content":[{"type":"text","text":"x"},{"type":"text","text":"y"}]}`})
			got, err := Sample(t.Context(), call, "k", c.params)
			if c.want == "" {
				if err != nil || got.Text() != "xy" {
					t.Errorf("got %v, %v", got, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.want) || len(back.asked) != 0 {
				t.Errorf("got %v, want %q; asked %v", err, c.want, back.asked)
			}
		})
	}
}

func TestSampleText(t *testing.T) {
	call, back := newTestCall(map[string]string{"k": `{"role":"assistant","model":"m","content":{"type":"text","text":"42"}}`, "bad": `{"content":3}`})
	got, err := SampleText(t.Context(), call, "k", "6 x 7?", 5)
	if got != "42" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	same(t, toJSON(t, back.asked[0]), `{"method":"sampling/createMessage","params":{"messages":[{"role":"user","content":{"type":"text","text":"6 x 7?"}}],"maxTokens":5}}`)
	var invalid *mcp.InvalidParamsError
	if _, err := SampleText(t.Context(), call, "bad", "x", 5); !errors.As(err, &invalid) {
		t.Errorf("got %v", err)
	}
}

func TestOnce(t *testing.T) {
	call, back := newTestCall(nil)
	type receipt struct{ ID int }
	ran := 0
	charge := func(context.Context) (receipt, error) {
		ran++
		return receipt{ran}, nil
	}
	for range 3 {
		got, err := Once(t.Context(), call, "charge", charge)
		if got.ID != 1 || err != nil {
			t.Errorf("got %v, %v", got, err)
		}
	}
	boom := errors.New("boom")
	if _, err := Once(t.Context(), call, "fails", func(context.Context) (int, error) { return 0, boom }); !errors.Is(err, boom) {
		t.Errorf("got %v", err)
	}
	if _, err := Once(t.Context(), call, "channel", func(context.Context) (chan int, error) { return nil, nil }); err == nil {
		t.Error("a channel was encoded")
	}
	if _, err := Once(t.Context(), call, "charge", func(context.Context) (string, error) { return "", nil }); err == nil {
		t.Error("the result of another type was accepted")
	}
	same(t, fmt.Sprintf("%s", back.once), `map[charge:{"ID":1}]`)
}

// A request for input passes through middleware and typed wrappers unchanged.
func TestInputRequiredPassesThrough(t *testing.T) {
	s, _ := newServer(Options{})
	s.Use(func(next mcp.ServeFunc) mcp.ServeFunc { return next })
	ask := func(ctx context.Context, call *Call) error {
		_, err := Elicit[contact](ctx, call, "who", "m")
		return err
	}
	AddTool(s, mcp.Tool{Name: "t"}, func(ctx context.Context, c *Call, _ struct{}) (sum, error) { return sum{}, ask(ctx, c) })
	AddPrompt(s, mcp.Prompt{Name: "t"}, func(ctx context.Context, c *Call, _ struct{}) (*mcp.GetPromptResult, error) {
		return nil, fmt.Errorf("wrapped: %w", ask(ctx, c))
	})
	s.AddResource(mcp.Resource{URI: "x:t", Name: "t"}, func(ctx context.Context, c *Call, _ string) (*mcp.ReadResourceResult, error) {
		return nil, ask(ctx, c)
	})
	for _, method := range []string{mcp.MethodCallTool, mcp.MethodGetPrompt, mcp.MethodReadResource} {
		_, err := s.Serve(t.Context(), request(method, `{"name":"t","uri":"x:t"}`))
		var input *mcp.InputRequired
		if !errors.As(err, &input) || input.Requests[0].Key != "who" {
			t.Errorf("%s: got %v", method, err)
		}
	}
}
