package mcp

import (
	"encoding/json"
	"strings"
)

// InputRequest is one question to the client.
//
// Spec: 2026-07-28 basic/patterns/mrtr#inputrequests.
type InputRequest struct {
	// Key names the question within its exchange. A handler that runs again
	// finds the answer by it, so the same question needs the same key.
	Key string `json:"-"`
	// Method is MethodElicit, MethodSample or MethodRoots.
	Method string `json:"method"`
	// Params are the *ElicitParams, *CreateMessageParams, a json.RawMessage of
	// either, or nil. Raw params are sent as they are, except for the reserved
	// keys of _meta and what the client's revision lacks.
	Params any `json:"params,omitzero"`
	// Task is the ID of the task that asks, or "".
	Task string `json:"-"`
}

// UnmarshalJSON reads params as they are: Params is a json.RawMessage, or nil if
// there are none.
func (q *InputRequest) UnmarshalJSON(data []byte) error {
	var raw struct {
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
	}
	if err := unmarshal(data, &raw); err != nil {
		return err
	}
	q.Method, q.Params = raw.Method, nil
	if raw.Params != nil {
		q.Params = raw.Params
	}
	return nil
}

// InputRequired says that an exchange cannot go on without answers from the
// client. A handler returns it like any error, either as it came from
// Backchannel.Input or made by hand; the transport side asks the questions and
// serves the request again.
//
// Spec: 2026-07-28 basic/patterns/mrtr#inputrequiredresult.
type InputRequired struct {
	Requests []InputRequest
	// State is what a hand-made InputRequired wants back on the retry, in
	// Exchange.State: any JSON value, or nil. It is sealed on its way through
	// the client. In an InputRequired that a client.Client returns, State is
	// the server's requestState as a JSON string, or null.
	State json.RawMessage
	// VisitFirst says that all questions are visits to URLs, without which the
	// request cannot be served at all. A client of 2025-11-25 is not asked in
	// place, but gets the error CodeURLElicitation, and repeats the request
	// afterwards.
	//
	// Spec: 2025-11-25 client/elicitation#url-elicitation-required-error.
	VisitFirst bool
}

// Error says which questions are open.
func (r *InputRequired) Error() string {
	keys := make([]string, len(r.Requests))
	for i, q := range r.Requests {
		keys[i] = q.Key
	}
	return "input required: " + strings.Join(keys, ", ")
}

// InputRequiredResult is the wire form of InputRequired.
//
// Spec: 2026-07-28 basic/patterns/mrtr#inputrequiredresult.
type InputRequiredResult struct {
	ResultFields
	InputRequests map[string]*InputRequest `json:"inputRequests,omitzero"`
	RequestState  string                   `json:"requestState,omitzero"`
}
