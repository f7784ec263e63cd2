package main

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/parley-mcp/parley/bench/internal/load"
	"github.com/parley-mcp/parley/bench/payload"
)

// conversations are requests that exchange more messages than a call and its
// answer, or whose answer is not text.
func conversations() []*workload {
	var all []*workload
	all = append(all, eras(workload{name: "call with 10 progress notifications", needs: notifying, op: progress})...)
	all = append(all, eras(workload{name: "call that asks two questions", needs: asking, op: ask})...)
	return append(all, eras(workload{name: "resources/read of 1 MiB binary", op: readBlob})...)
}

func progress(w *workload, c load.Conn) load.Op {
	r, check := payload.Call(w.era, "progress", payload.Small()), load.NewChecker(load.IsEcho(payload.Small()))
	return func() (time.Duration, error) {
		a, err := c.Call(r)
		if err != nil {
			return 0, err
		}
		if a.Notifications != payload.Steps {
			return 0, fmt.Errorf("%d notifications came before the answer, not %d", a.Notifications, payload.Steps)
		}
		return a.Took, check.Check(a)
	}
}

func readBlob(w *workload, c load.Conn) load.Op {
	r := payload.NewRequest(w.era, "resources/read", payload.BlobURI, map[string]any{"uri": payload.BlobURI}, false)
	return repeatCall(c, r, load.NewChecker(load.IsBlob))
}

// ask calls the tool that asks. In a session the connection answers; in the
// stateless era the call is repeated with the answers.
func ask(w *workload, c load.Conn) load.Op {
	small := payload.Small()
	check := load.NewChecker(load.IsEcho(payload.Echo{Text: payload.AnswerName, Count: payload.AnswerSize, Tags: small.Tags}))
	first := payload.Call(w.era, "ask", small)
	if w.era == payload.Session {
		return repeatCall(c, first, check)
	}
	return func() (time.Duration, error) {
		var took time.Duration
		r := first
		for range 3 {
			a, err := c.Call(r)
			if err != nil {
				return 0, err
			}
			took += a.Took
			if r, err = nextRound(a, small); err != nil {
				return 0, err
			} else if r == nil {
				return took, check.Check(a)
			}
		}
		return 0, fmt.Errorf("the call still asks after two answers")
	}
}

// nextRound returns the call with the answers that a result asks for, or nil
// when it asks for none.
func nextRound(a load.Answer, args payload.Echo) (*payload.Request, error) {
	result, err := load.ResultOf(a)
	if err != nil {
		return nil, err
	}
	var r struct {
		ResultType    string                     `json:"resultType"`
		RequestState  string                     `json:"requestState"`
		InputRequests map[string]json.RawMessage `json:"inputRequests"`
	}
	if err := json.Unmarshal(result, &r); err != nil || r.ResultType != "input_required" {
		return nil, err
	}
	answers := map[string]any{}
	for key, question := range r.InputRequests {
		answers[key] = json.RawMessage(load.AnswerTo(question))
	}
	params := map[string]any{"name": "ask", "arguments": args, "inputResponses": answers, "requestState": r.RequestState}
	return payload.NewRequest(payload.Stateless, "tools/call", "ask", params, false), nil
}
