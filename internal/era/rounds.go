package era

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// Rounds says which part of a call's rounds the caller of a client handles itself.
type Rounds struct {
	// HandOver returns the questions to the caller, as an *mcp.InputRequired,
	// instead of asking the Answerer.
	HandOver bool
	// Answers and State continue a call whose questions were handed over.
	Answers map[string]json.RawMessage
	State   json.RawMessage
}

// Resumes reports whether this call continues one whose questions were handed over.
func (r *Rounds) Resumes() bool { return r != nil && (len(r.Answers) > 0 || r.state() != nil) }

// state returns the state, or nil if there is none.
func (r *Rounds) state() json.RawMessage {
	if string(r.State) == "null" {
		return nil
	}
	return r.State
}

// first returns the params of the first round.
func (o *Outgoing) first() (json.RawMessage, error) {
	if !o.Rounds.Resumes() {
		return o.Params, nil
	}
	if !mayAsk(o.Method) {
		return nil, fmt.Errorf("%s: answers were given, but a call of this method asks nothing", o.Method)
	}
	var state *string
	if raw := o.Rounds.state(); raw != nil {
		if err := wire.Unmarshal(raw, &state); err != nil {
			return nil, fmt.Errorf("%s: the state to go on from is not the State of an mcp.InputRequired that a call has returned: %w", o.Method, err)
		}
	}
	var answers json.RawMessage
	if len(o.Rounds.Answers) > 0 {
		var err error
		if answers, err = encodeAnswers(o.Rounds.Answers); err != nil {
			return nil, fmt.Errorf("%s: %w", o.Method, err)
		}
	}
	return again(o.Params, answers, state)
}

// encodeAnswers encodes answers, each of which is JSON already and keeps its text.
func encodeAnswers(answers map[string]json.RawMessage) (json.RawMessage, error) {
	doc := json.RawMessage("{}")
	for _, key := range slices.Sorted(maps.Keys(answers)) {
		raw, err := wire.Marshal(answers[key])
		if err == nil {
			doc, err = wire.Set(doc, key, raw)
		}
		if err != nil {
			return nil, fmt.Errorf("the answer to %q: %w", key, err)
		}
	}
	return doc, nil
}

// again returns the params of the next round. The state is echoed verbatim; answers
// and state are left out if nil.
//
// Spec: 2026-07-28 basic/patterns/mrtr#client-requirements-basic-workflow (2).
func again(params, answers json.RawMessage, state *string) (_ json.RawMessage, err error) {
	params = orEmpty(params)
	if answers != nil {
		if params, err = wire.Set(params, "inputResponses", answers); err != nil {
			return nil, err
		}
	}
	if state == nil {
		return params, nil
	}
	raw, err := wire.Marshal(*state)
	if err != nil {
		return nil, err
	}
	return wire.Set(params, "requestState", raw)
}

// required returns what a server wants to know, for a caller that answers it
// itself. If the server has sent no state, State is null, so that a caller that
// keeps the latest state does not send back an older one.
func (h *head) required() (*mcp.InputRequired, error) {
	r := &mcp.InputRequired{State: json.RawMessage("null")}
	for _, key := range slices.Sorted(maps.Keys(h.Requests)) {
		method, params, err := ReadQuestion(h.Requests[key])
		if err != nil {
			return nil, fmt.Errorf("the server's question %q: %w", key, err)
		}
		q := mcp.InputRequest{Key: key, Method: method}
		if params != nil {
			q.Params = params
		}
		r.Requests = append(r.Requests, q)
	}
	if h.State == nil {
		return r, nil
	}
	raw, err := wire.Marshal(*h.State)
	r.State = raw
	return r, err
}

// ReadQuestion splits a question into its method and its params, nil if it has none.
func ReadQuestion(raw json.RawMessage) (method string, params json.RawMessage, err error) {
	var q struct {
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
	}
	err = wire.Unmarshal(raw, &q)
	return q.Method, q.Params, err
}
