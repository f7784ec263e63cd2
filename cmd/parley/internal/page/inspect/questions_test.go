package inspect

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/parley-mcp/parley/cmd/parley/internal/page/web"
	"github.com/parley-mcp/parley/internal/revision"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
)

// A form waits for an answer that fits; one that does not is refused, and the question
// waits on.
func TestForm(t *testing.T) {
	inEachRevision(t, func(t *testing.T, v visited) {
		if !revision.Of(v.client.Revision()).Elicitation {
			t.Skip("the revision has no elicitation")
		}
		done := v.start(t.Context(), "form")
		q := v.waiting()
		if q.Kind != kindForm || q.Call == nil || q.Call.Subject != "form" || q.Call.Method != mcp.MethodCallTool {
			t.Errorf("asked as %+v", q)
		}
		if n := must[said](v.stage, "GET", v.path, nil).Counts["questions"]; n != 1 {
			t.Errorf("%d questions are counted", n)
		}
		path := v.path + "/questions/" + q.ID + "/answer"
		if err := v.refused("POST", path, json.RawMessage(`{"action":"accept","content":{"name":"A"}}`)); err.Status != http.StatusUnprocessableEntity || err.Field != "content.name" {
			t.Errorf("a name that is too short: %+v", err)
		}
		must[askedQuestion](v.stage, "POST", path, json.RawMessage(`{"action":"accept","content":{"name":"Ada"}}`))
		if got := (<-done).text(); got != "Ada slow" {
			t.Errorf("the tool got %q", got)
		}
		if err := v.refused("POST", path, json.RawMessage(`{"action":"accept","content":{"name":"Ada"}}`)); err.Code != "over" {
			t.Errorf("answering twice: %+v", err)
		}
	})
}

func TestRefusals(t *testing.T) {
	inEachRevision(t, func(t *testing.T, v visited) {
		for _, tool := range []string{"form", "sample"} {
			if tool == "form" && !revision.Of(v.client.Revision()).Elicitation {
				continue
			}
			for _, action := range []string{"decline", "cancel"} {
				done := v.start(t.Context(), tool)
				must[askedQuestion](v.stage, "POST", v.path+"/questions/"+v.waiting().ID+"/answer", given{Action: action})
				o := <-done
				if o.err == nil && !o.result.IsError {
					t.Errorf("%s after %s: the tool succeeded with %q", tool, action, o.text())
				}
			}
		}
	})
}

func TestVisit(t *testing.T) {
	inEachRevision(t, func(t *testing.T, v visited) {
		if !revision.Of(v.client.Revision()).ElicitURL {
			t.Skip("the revision has no pages to visit")
		}
		done := v.start(t.Context(), "visit")
		q := v.waiting()
		if q.Kind != kindURL || !strings.Contains(string(q.Params), `"https://example.com/look"`) {
			t.Errorf("asked as %+v", q)
		}
		path := v.path + "/questions/" + q.ID
		if err := v.refused("POST", path+"/answer", json.RawMessage(`{"action":"accept","content":{}}`)); err.Field != "content" {
			t.Errorf("content for a visit: %+v", err)
		}
		if err := v.refused("POST", path+"/visited", json.RawMessage(`{"over":true}`)); err.Code != "no_wait" {
			t.Errorf("ending a visit that nobody waits for: %+v", err)
		}
		must[askedQuestion](v.stage, "POST", path+"/answer", given{Action: "accept"})
		if got := (<-done).text(); got != "been there" {
			t.Errorf("the tool said %q", got)
		}
	})
}

func TestSampling(t *testing.T) {
	inEachRevision(t, func(t *testing.T, v visited) {
		done := v.start(t.Context(), "sample")
		q := v.waiting()
		if q.Kind != kindSampling || q.Call == nil {
			t.Errorf("asked as %+v", q)
		}
		path := v.path + "/questions/" + q.ID + "/answer"
		for body, field := range map[string]string{
			`{"action":"accept"}`:                                   "result",
			`{"action":"accept","result":{"role":"assistant"}}`:     "result",
			`{"action":"accept","result":7}`:                        "result",
			`{"action":"maybe"}`:                                    "action",
			`{"action":"accept","content":{}}`:                      "content",
			`{"action":"accept","result":{"content":[],"model":1}}`: "result",
			`{"action":"accept","result":{"role":"robot","content":{"type":"text","text":"x"},"model":"m"}}`: "result",
		} {
			if err := v.refused("POST", path, json.RawMessage(body)); err.Field != field {
				t.Errorf("%s: %+v, want an error about %s", body, err, field)
			}
		}
		must[askedQuestion](v.stage, "POST", path, json.RawMessage(`{"action":"accept","result":{"role":"assistant","content":{"type":"text","text":"Something"},"model":"me"}}`))
		if got := (<-done).text(); got != "Something" {
			t.Errorf("the tool got %q", got)
		}
		list := must[askedList](v.stage, "GET", v.path+"/questions", nil)
		if want := len(revision.Of(v.client.Revision()).Deprecated) > 0; list.SamplingDeprecated != want {
			t.Errorf("deprecated: %t", list.SamplingDeprecated)
		}
	})
}

// A question ends with the call that asks.
func TestWithdrawn(t *testing.T) {
	inEachRevision(t, func(t *testing.T, v visited) {
		ctx, cancel := context.WithCancelCause(t.Context())
		done := v.start(ctx, "sample")
		q := v.waiting()
		cancel(errors.New("enough"))
		<-done
		q = untilGet(v, "/questions/"+q.ID, func(q askedQuestion) bool { return q.State != questionWaiting })
		if q.State != questionWithdrawn || q.Note == "" {
			t.Errorf("the question is %+v", q)
		}
	})
}

func TestRules(t *testing.T) {
	inEachRevision(t, func(t *testing.T, v visited) {
		doc := `{"on":true,"rules":[
			{"name":"other tool","kind":"sampling","tool":"form","action":"decline"},
			{"name":"other text","text":"Shout","action":"decline"},
			{"name":"never fits","kind":"form","action":"accept","content":{"speed":"warp"}},
			{"name":"to Ada","kind":"form","text":"WHERE","action":"accept","content":{"name":"Ada","speed":"fast"}},
			{"name":"sample","kind":"sampling","tool":"sample","action":"accept","result":{"role":"assistant","content":{"type":"text","text":"A sample"},"model":"m"}}]}`
		must[rules](v.stage, "PUT", v.path+"/rules", json.RawMessage(doc))
		want := map[string]string{"sample": "A sample", "form": "Ada fast"}
		names := map[string]string{"sample": "sample", "form": "to Ada"}
		for tool, text := range want {
			if tool == "form" && !revision.Of(v.client.Revision()).Elicitation {
				continue
			}
			if got := (<-v.start(t.Context(), tool)).text(); got != text {
				t.Errorf("%s said %q", tool, got)
			}
			if q := must[askedList](v.stage, "GET", v.path+"/questions", nil).Questions[0]; q.Rule != names[tool] || q.Answer == nil {
				t.Errorf("answered as %+v", q)
			}
		}
		back := must[rules](v.stage, "GET", v.path+"/rules", nil)
		if len(back.Rules) != 5 || !back.On || back.Rules[3].Name != "to Ada" {
			t.Errorf("the rules are %+v", back)
		}
	})
}

// A rule whose answer does not fit leaves the question to a person, and says so.
func TestRuleThatDoesNotFit(t *testing.T) {
	v := visitCurious(t, mcp.Revision20260728)
	must[rules](v.stage, "PUT", v.path+"/rules", json.RawMessage(`{"on":true,"rules":[{"name":"bad","kind":"form","action":"accept","content":{"name":"A"}}]}`))
	done := v.start(t.Context(), "form")
	q := v.waiting()
	if !strings.Contains(q.Note, `"bad"`) {
		t.Errorf("the note is %q", q.Note)
	}
	must[askedQuestion](v.stage, "POST", v.path+"/questions/"+q.ID+"/answer", given{Action: "decline"})
	<-done
}

func TestBadRules(t *testing.T) {
	for doc, field := range map[string]string{
		`{"action":"decline"}`:                                                       "rules[0].name",
		`{"name":"a","kind":"poem","action":"decline"}`:                              "rules[0].kind",
		`{"name":"a","action":"accept"}`:                                             "rules[0].kind",
		`{"name":"a","action":"perhaps"}`:                                            "rules[0].content",
		`{"name":"a","kind":"sampling","action":"perhaps"}`:                          "rules[0].action",
		`{"name":"a","kind":"form","action":"accept","content":[]}`:                  "rules[0].content",
		`{"name":"a","kind":"form","action":"decline","content":{}}`:                 "rules[0].content",
		`{"name":"a","kind":"sampling","action":"accept"}`:                           "rules[0].result",
		`{"name":"a","kind":"url","action":"accept","result":{}}`:                    "rules[0].result",
		`{"name":"a","action":"decline"},{"name":"a","action":"cancel"}`:             "rules[1].name",
		`{"name":"a","kind":"form","action":"accept","content":{},"result":{}}`:      "rules[0].result",
		`{"name":"a","action":"decline","text":"` + strings.Repeat("x", 2) + `"},{}`: "rules[1].name",
	} {
		var r rules
		if err := json.Unmarshal([]byte(`{"rules":[`+doc+`]}`), &r); err != nil {
			t.Fatal(err)
		}
		if e, ok := errors.AsType[*web.Error](r.check()); !ok || e.Field != field {
			t.Errorf("%s: %+v, want an error about %s", doc, e, field)
		}
	}
	var many rules
	many.Rules = make([]rule, maxRules+1)
	if many.check() == nil {
		t.Error("there is no bound on rules")
	}
}

// alone returns a connection that was never connected.
func alone(t *testing.T) *Connection {
	s := &Server{opts: Options{Hub: new(web.Hub), Dir: t.TempDir(), Logger: mcptest.Quiet()}}
	c, err := newConnection(s, "c1", &wish{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.end() })
	return c
}

// Nobody waits forever.
func TestQuestionExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := alone(t)
		q := partOf[questions](c)
		p := &mcp.ElicitParams{Message: "Well?", RequestedSchema: anyForm}
		r, err := asked[mcp.ElicitResult](q.ask(t.Context(), c, kindForm, p, fitForm(p)))
		if err != nil || r.Action != mcp.ActionCancel {
			t.Errorf("the answer is %+v, %v", r, err)
		}
		if all := q.list(); all[0].State != questionExpired || all[0].Ended.Sub(all[0].Asked) != answerTime {
			t.Errorf("the question is %+v", all[0])
		}
		if _, err := asked[mcp.CreateMessageResult](q.ask(t.Context(), c, kindSampling, &mcp.CreateMessageParams{}, fitSample)); err == nil {
			t.Error("sampling that nobody answered succeeded")
		}
	})
}

// A server cannot fill the page with questions.
func TestQuestionsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := alone(t)
		q := partOf[questions](c)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		p := &mcp.ElicitParams{Message: strings.Repeat("x", 100)}
		for range maxWaiting {
			go func() { _, _ = q.ask(ctx, c, kindURL, p, fitVisit) }()
		}
		synctest.Wait()
		if _, err := q.ask(ctx, c, kindURL, p, fitVisit); err == nil || !strings.Contains(err.Error(), "64 questions") {
			t.Errorf("one more question: %v", err)
		}
		cancel()
		synctest.Wait()
		long := &mcp.ElicitParams{Message: strings.Repeat("x", maxQuestionBytes)}
		if _, err := q.ask(t.Context(), c, kindURL, long, fitVisit); err == nil || !strings.Contains(err.Error(), "bytes") {
			t.Errorf("a question that is too long: %v", err)
		}
		q.rules = rules{On: true, Rules: []rule{{Name: "no", given: given{Action: mcp.ActionDecline}}}}
		for range 2 * keptQuestions {
			if _, err := q.ask(t.Context(), c, kindURL, p, fitVisit); err != nil {
				t.Fatal(err)
			}
		}
		if n := len(q.list()); n > keptQuestions {
			t.Errorf("%d questions are kept", n)
		}
	})
}
