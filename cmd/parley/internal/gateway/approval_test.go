package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/bridge"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/approval"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
)

// decide is an answer to a question for approval.
func decide(decision string) string {
	return `{"action":"accept","content":{"decision":"` + decision + `"}}`
}

// approvals returns the questions for approval that have reached the user, and forgets all questions.
func (w *world) approvals() (questions []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	questions = slices.DeleteFunc(slices.Clone(w.asked), func(q string) bool { return !strings.Contains(q, "Do you approve") })
	w.asked = nil
	return questions
}

func (w *world) reached() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := len(w.got)
	w.got = nil
	return n
}

func (w *world) decides(answer string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.decision = answer
}

// approved calls a tool, and fails the test unless the user was asked so often, and the
// result says that it was denied, with a text; "" is none.
func (w *world) approved(t *testing.T, c *client.Client, params string, asked int, want string) {
	t.Helper()
	w.reached()
	w.approvals()
	raw, err := c.Do(t.Context(), mcp.MethodCallTool, json.RawMessage(params))
	denied := ""
	if strings.Contains(string(raw), `"isError":true`) {
		denied = string(raw)
	}
	if got := len(w.approvals()); got != asked {
		t.Errorf("%s: the user was asked %d times, want %d", params, got, asked)
	}
	switch {
	case err != nil:
		t.Errorf("%s: %v", params, err)
	case (want == "") != (denied == "") || !strings.Contains(denied, want):
		t.Errorf("%s: %s; want %q", params, denied, want)
	case want != "" && w.reached() > 0:
		t.Errorf("%s: it has reached the server", params)
	case want == "" && w.reached() == 0:
		t.Errorf("%s: it has not reached the server", params)
	}
}

// pairs calls f with all pairs of eras and transports.
func pairs(t *testing.T, f func(t *testing.T, front, back mcptest.Mode)) {
	for _, front := range modes {
		for _, back := range modes {
			t.Run(front.String()+" to "+back.String(), func(t *testing.T) { f(t, front, back) })
		}
	}
}

// The user at the client decides, whatever the eras of the two sides, and also where the
// server has questions of its own, where the call becomes a task, and where it is made by
// one of the three tools of a view with search.
func TestApproval(t *testing.T) {
	pairs(t, func(t *testing.T, front, back mcptest.Mode) {
		desk := approval.NewDesk(mcptest.Quiet())
		desk.Configure(approval.Bounds{MaxTime: time.Hour})
		w := newWorld(t, front, back, bridge.SharePrincipal, approval.New(desk, approval.Options{
			Rules: []approval.Rule{{Backend: "one", Why: "it is the first"}},
		}))
		const pay = `{"name":"one__work","arguments":{"z":1.0,"to":"B\u202eob"}}`

		w.decides(decide("once"))
		w.approved(t, w.c, `{"name":"two__work"}`, 0, "")
		w.call(t, pay)
		w.heard(t, &w.asked, `Tool: one__work (work of one)\nWhy you are asked: it is the first\nArguments:\n{\n  \"z\": 1.0,\n  \"to\": \"B\\u202eob\"\n}`)
		w.heard(t, &w.got, `"arguments":{"z":1.0,"to":"B\u202eob"}`)
		w.approved(t, w.c, pay, 1, "")

		for _, no := range []string{decide("deny"), `{"action":"decline"}`} {
			w.decides(no)
			w.approved(t, w.c, pay, 1, "the person at the client has not approved it: declined")
		}

		w.decides(decide("once"))
		w.call(t, `{"name":"one__work","arguments":{"do":"form"}}`)
		w.heard(t, &w.asked, "Do you approve", "elicitation/create "+strings.TrimSuffix(form, "}"))
		w.heard(t, &w.got, `"name":"Ann"`)
		w.approved(t, w.c, `{"name":"one__work","arguments":{"do":"several"}}`, 1, "")

		search := w.connect(t, "search")
		w.approved(t, search, `{"name":"call_tool","arguments":{"name":"one__work","arguments":{"do":"form"}}}`, 1, "")

		task, err := w.taking(t).StartTask(t.Context(), "one__task", nil)
		if err != nil {
			t.Fatal(err)
		}
		r, err := task.Wait(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		text, _ := r.Content[0].(*mcp.TextContent)
		has(t, text.Text, "Hello Ann, from one")
		w.heard(t, &w.asked, "Do you approve", "Who are you?")

		w.decides(decide("10m"))
		w.approved(t, w.c, pay, 1, "")
		w.approved(t, w.c, pay, 0, "")
		w.approved(t, w.c, strings.Replace(pay, "1.0", "1.00", 1), 1, "")
		if given := desk.Given(); len(given) != 2 || given[0].Used != 1 {
			t.Errorf("given is %+v", given)
		}
		if waiting := desk.Waiting(); len(waiting) != 0 {
			t.Errorf("still waiting: %+v", waiting)
		}
	})
}

// An operator decides about the calls of a client that cannot ask anybody.
func TestApprovalByOperator(t *testing.T) {
	pairs(t, func(t *testing.T, front, back mcptest.Mode) {
		desk := approval.NewDesk(mcptest.Quiet())
		w := newWorld(t, front, back, bridge.SharePrincipal, approval.New(desk, approval.Options{Rules: []approval.Rule{{}}}))
		c := mcptest.Connect(t, w.g.View(""), front, nil)
		asked, withdrawn := make(chan string, 1), make(chan string, 1)
		told := map[approval.Kind]chan string{approval.Asked: asked, approval.Withdrawn: withdrawn}
		defer desk.Watch(func(e approval.Event) {
			if ch := told[e.Kind]; ch != nil {
				ch <- e.ID
			}
		})()
		call := func() <-chan string {
			ended := make(chan string, 1)
			go func() { // ends with the call
				raw, err := c.Do(t.Context(), mcp.MethodCallTool, json.RawMessage(`{"name":"one__work","arguments":{"amount":5}}`))
				ended <- fmt.Sprint(string(raw), err)
			}()
			return ended
		}
		ended := call()
		id := within(t, "the request", asked)
		if r := desk.Waiting()[0]; r.ID != id || r.Shown != "one__work" || string(r.Arguments) != `{"amount":5}` {
			t.Errorf("waiting is %+v", r)
		}
		if w.reached() > 0 {
			t.Error("it was done before anybody has approved it")
		}
		if err := desk.Allow(id, approval.Terms{}, "ann"); err != nil {
			t.Error(err)
		}
		has(t, within(t, "the end of the call", ended), `"com.example/first":1.0`)
		ended = call()
		if err := desk.Deny(within(t, "the request", asked), "not today", "ann"); err != nil {
			t.Error(err)
		}
		has(t, within(t, "the end of the call", ended), "ann has not approved it: not today", `"isError":true`)

		ctx, cancel := context.WithCancel(t.Context())
		given := make(chan error, 1)
		go func() { // ends with the call
			_, err := c.CallTool(ctx, "one__work", nil)
			given <- err
		}()
		id = within(t, "the request", asked)
		cancel()
		if err := within(t, "the end of the call", given); !errors.Is(err, context.Canceled) {
			t.Errorf("a call that is cancelled: %v", err)
		}
		if got := within(t, "the end of the request", withdrawn); got != id || len(desk.Waiting()) != 0 {
			t.Errorf("%s was withdrawn, and not %s; waiting is %+v", got, id, desk.Waiting())
		}
	})
}

// A client without a session comes back with the answer to the question. It cannot say that
// it was asked when it was not, or about something else, nor use an answer twice.
func TestApprovalIsBound(t *testing.T) {
	desk := approval.NewDesk(mcptest.Quiet())
	w := newWorld(t, modes[2], modes[2], bridge.SharePrincipal, approval.New(desk, approval.Options{Rules: []approval.Rule{{}}}))
	const pay, more = `{"name":"one__work","arguments":{"amount":5}}`, `{"name":"one__work","arguments":{"amount":5000}}`
	call := func(params string, opts ...client.CallOption) (*mcp.InputRequired, error) {
		w.reached()
		_, err := w.c.Do(t.Context(), mcp.MethodCallTool, json.RawMessage(params), append(opts, client.WithInputRequired())...)
		ask, _ := errors.AsType[*mcp.InputRequired](err)
		return ask, err
	}
	ask, err := call(pay)
	if ask == nil || w.reached() > 0 {
		t.Fatal(err)
	}
	yes := map[string]json.RawMessage{ask.Requests[0].Key: json.RawMessage(decide("once"))}

	if again, err := call(pay, client.WithAnswers(yes, nil)); again == nil || w.reached() > 0 {
		t.Errorf("an answer to what was not asked: %v", err)
	}
	if _, err := call(more, client.WithAnswers(yes, ask.State)); err == nil || !strings.Contains(err.Error(), "requestState is not valid") || w.reached() > 0 {
		t.Errorf("an answer about something else: %v", err)
	}
	if again, err := call(pay, client.WithAnswers(nil, ask.State)); again == nil {
		t.Errorf("no answer: %v", err)
	} else {
		ask = again
	}
	if _, err := call(pay, client.WithAnswers(yes, ask.State)); err != nil || w.reached() != 1 {
		t.Errorf("the answer: %v", err)
	}
	if _, err := call(pay, client.WithAnswers(yes, ask.State)); err == nil || !strings.Contains(err.Error(), "start again") || w.reached() > 0 {
		t.Errorf("the answer again: %v", err)
	}

	ask, _ = call(`{"name":"one__work","arguments":{"do":"form"}}`)
	yes = map[string]json.RawMessage{ask.Requests[0].Key: json.RawMessage(decide("once"))}
	if ask, err = call(`{"name":"one__work","arguments":{"do":"form"}}`, client.WithAnswers(yes, ask.State)); ask == nil || ask.Requests[0].Key != "a" {
		t.Fatal(err)
	}
	own := map[string]json.RawMessage{"a": json.RawMessage(answers["form"])}
	if _, err := call(`{"name":"one__work","arguments":{"do":"form"}}`, client.WithAnswers(own, ask.State)); err != nil {
		t.Errorf("the answer to the server's question: %v", err)
	}
	if _, err := call(`{"name":"one__work","arguments":{"do":"form"}}`, client.WithAnswers(own, ask.State)); err == nil || w.reached() > 0 {
		t.Errorf("the answer to the server's question, again: %v", err)
	}
}

// Rules can be about prompts and resources, too. What is denied of these is an error.
func TestApprovalOfOthers(t *testing.T) {
	pairs(t, func(t *testing.T, front, back mcptest.Mode) {
		desk := approval.NewDesk(mcptest.Quiet())
		w := newWorld(t, front, back, bridge.SharePrincipal, approval.New(desk, approval.Options{
			Rules: []approval.Rule{{Method: "prompts/get"}, {Method: "resources/*", Subject: "note://*"}},
		}))
		for method, one := range map[string]struct{ params, question string }{
			mcp.MethodGetPrompt:    {`{"name":"one__greet","arguments":{"name":"Ann"}}`, `Prompt: one__greet (greet of one)\nArguments:\n{\n  \"name\": \"Ann\"\n}`},
			mcp.MethodReadResource: {`{"uri":"mcp:one:note://7"}`, `Resource: mcp:one:note://7 (note://7 of one)\nArguments: none`},
		} {
			for decision, want := range map[string]string{"once": "", "deny": "is denied: the person at the client"} {
				w.decides(decide(decision))
				_, err := w.c.Do(t.Context(), method, json.RawMessage(one.params))
				w.heard(t, &w.asked, one.question)
				if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
					t.Errorf("%s, %s: error %v", method, decision, err)
				}
			}
		}
		if _, err := w.c.ReadResource(t.Context(), "mcp:one:test://static"); err != nil || len(w.approvals()) > 0 {
			t.Errorf("another resource: error %v", err)
		}
	})
}

// What the operator decides while the user at the client thinks holds, but the user can
// still say no.
func TestApprovalMeanwhile(t *testing.T) {
	desk := approval.NewDesk(mcptest.Quiet())
	w := newWorld(t, modes[2], modes[0], bridge.SharePrincipal, approval.New(desk, approval.Options{Rules: []approval.Rule{{}}}))
	for answer, want := range map[string]string{
		decide("once"): "", `{"action":"cancel"}`: "", decide("deny"): "the person at the client has declined",
	} {
		const pay = `{"name":"one__work"}`
		w.reached()
		_, err := w.c.Do(t.Context(), mcp.MethodCallTool, json.RawMessage(pay), client.WithInputRequired())
		ask, ok := errors.AsType[*mcp.InputRequired](err)
		if !ok {
			t.Fatal(err)
		}
		if err := desk.Allow(desk.Waiting()[0].ID, approval.Terms{}, "ann"); err != nil {
			t.Fatal(err)
		}
		raw, err := w.c.Do(t.Context(), mcp.MethodCallTool, json.RawMessage(pay),
			client.WithAnswers(map[string]json.RawMessage{ask.Requests[0].Key: json.RawMessage(answer)}, ask.State))
		if err != nil || !strings.Contains(string(raw), want) || (w.reached() > 0) != (want == "") {
			t.Errorf("%s: %s, error %v; want %q", answer, raw, err, want)
		}
	}
}
