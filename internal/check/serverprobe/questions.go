package serverprobe

import (
	"maps"
	"slices"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/mcp"
)

// question is something that a server asks its client: a request in a session,
// and an entry of inputRequests where there are none.
type question struct {
	Message *peer.Message
	Key     string // that of the entry; "" in a session
	At      string // the JSON pointer of the request in the message
	Method  string
	Params  map[string]any
	// Needed is set for those that an error lists: the request has to wait for
	// them.
	Needed bool
}

// questionsOf returns what a message asks.
func questionsOf(m *peer.Message) []question {
	switch {
	case m.IsRequest():
		return []question{{Message: m, Method: m.Method, Params: m.Object("params")}}
	case m.IsError():
		return neededVisits(m)
	}
	if !asksForInput(m) {
		return nil
	}
	var all []question
	requests := m.Object("result/inputRequests")
	for _, key := range slices.Sorted(maps.Keys(requests)) {
		request, _ := requests[key].(map[string]any)
		q := question{Message: m, Key: key, At: "/result/inputRequests/" + pointer(key)}
		q.Method, _ = request["method"].(string)
		q.Params, _ = request["params"].(map[string]any)
		all = append(all, q)
	}
	return all
}

// neededVisits are the questions that an error lists.
//
// Spec: 2025-11-25 client/elicitation#url-elicitation-required-error.
func neededVisits(m *peer.Message) []question {
	if code, ok := m.Code(); !ok || code != mcp.CodeURLElicitation {
		return nil
	}
	var all []question
	for n, v := range m.List("error/data/elicitations") {
		params, _ := v.(map[string]any)
		all = append(all, question{
			Message: m, At: "/error/data/elicitations/" + string(peer.Encode(n)), Method: mcp.MethodElicit, Params: params, Needed: true,
		})
	}
	return all
}

// asksForInput reports whether a message is a result that wants more of the client.
func asksForInput(m *peer.Message) bool {
	return m != nil && m.IsResult() && m.Text("result/resultType") == "input_required"
}

// at is the JSON pointer of a parameter, or of the parameters if it is "".
func (q question) at(name string) string {
	at := q.At + "/params"
	if q.Needed {
		at = q.At
	}
	if name == "" {
		return at
	}
	return at + "/" + name
}

// isVisit reports whether it sends the user to a page.
func (q question) isVisit() bool { return q.Method == mcp.MethodElicit && q.Params["mode"] == "url" }

// isForm reports whether it asks for a form.
func (q question) isForm() bool {
	mode, given := q.Params["mode"]
	return q.Method == mcp.MethodElicit && !q.Needed && (!given || mode == "form")
}

// questions returns all that the server has asked.
func (x *X) questions() []question {
	var all []question
	for _, m := range x.Received(nil) {
		if x.Stateless && m.IsRequest() {
			continue // it is not a question, but a fault of its own
		}
		all = append(all, questionsOf(m)...)
	}
	return all
}

// watchQuestions judges each question of a kind.
func watchQuestions(kind func(question) bool, check func(*probe.Watch, question)) func(*X, *probe.Watch) {
	return func(x *X, w *probe.Watch) {
		w.Nothing(probe.Unverified("no tool that may be called asks such a thing"))
		for _, q := range x.questions() {
			if kind(q) {
				w.Saw(q.Message)
				check(w, q)
			}
		}
	}
}

func ofMethod(method string) func(question) bool {
	return func(q question) bool { return q.Method == method && !q.Needed }
}
