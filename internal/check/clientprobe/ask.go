package clientprobe

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/mcp"
)

// question is something that the server asks the client.
type question struct {
	name   string // what probes know it by
	method string
	params object // nil for none
}

// round is what the server asks before it goes on: in a stateless revision at
// once, in a session one after the other.
type round struct {
	questions []question
	// state is the requestState of a stateless revision; nil means none.
	state *string
}

// inquire asks what is to be asked for a request. It reports whether it has
// answered the request with questions: then the next round is played when the
// client comes again.
//
// Spec: 2026-07-28 basic/patterns/mrtr#basic-workflow.
func (t *Turn) inquire(rounds []round) bool {
	if !t.Stateless {
		for _, r := range rounds {
			for _, q := range r.questions {
				t.Ask(q.method, q.params)
			}
		}
		return false
	}
	for n := t.roundsOver(rounds); n < len(rounds); n++ {
		r := rounds[n]
		if len(r.questions) == 0 && r.state == nil {
			continue
		}
		result := object{"resultType": "input_required"}
		if len(r.questions) > 0 {
			result["inputRequests"] = inputRequests(n, r.questions)
		}
		if r.state != nil {
			result["requestState"] = *r.state
		}
		t.Result(result)
		return true
	}
	return false
}

func inputRequests(n int, questions []question) object {
	all := object{}
	for _, q := range questions {
		one := object{"method": q.method}
		if q.params != nil {
			one["params"] = q.params
		}
		all[inputKey(n, q.name)] = one
	}
	return all
}

func inputKey(n int, name string) string { return fmt.Sprintf("%d/%s", n, name) }

// roundsOver is how many rounds a request has behind it, as far as it tells.
func (t *Turn) roundsOver(rounds []round) int {
	over := 0
	for n, r := range rounds {
		if state, ok := t.Params["requestState"].(string); ok && r.state != nil && *r.state == state {
			over = max(over, n+1)
		}
		for key := range t.Request.Object("params/inputResponses") {
			if strings.HasPrefix(key, inputKey(n, "")) {
				over = max(over, n+1)
			}
		}
	}
	if _, state := t.Params["requestState"]; over == 0 && (state || t.Params["inputResponses"] != nil) {
		return len(rounds) // what it sends is none of ours: it is a matter of the probes
	}
	return over
}

// declared is what the client has declared: for the request, or the session.
func (t *Turn) declared() object {
	if t.Stateless {
		return t.Request.Object("params/_meta/" + pointer(mcp.MetaClientCapabilities))
	}
	return t.Capabilities()
}

// declares reports whether capabilities have what a question needs, such as
// elicitation/url. An elicitation that names no mode has forms.
//
// Spec: 2025-11-25 client/elicitation#capabilities.
func declares(capabilities object, what string) bool {
	if _, ok := peer.Get(capabilities, what); ok {
		return true
	}
	if what != "elicitation/form" {
		return false
	}
	elicitation, ok := capabilities["elicitation"].(object)
	_, url := elicitation["url"]
	return ok && !url
}

// declaredFor is what the client has declared where a message stands.
func (x *X) declaredFor(m *peer.Message) object {
	if x.Stateless {
		return m.Object("params/_meta/" + pointer(mcp.MetaClientCapabilities))
	}
	var hello *peer.Message
	for _, other := range x.Received(is("initialize")) {
		if other.Conn == m.Conn && other.Number < m.Number {
			hello = other
		}
	}
	if hello == nil {
		return nil
	}
	return hello.Object("params/capabilities")
}

// asked is a question with what came of it.
type asked struct {
	// Name is that of the question, in a stateless revision.
	Name, Method string
	Params       object
	// Question is the message that has it: a request, or a result that wants input.
	Question *peer.Message
	// Asker is the client's request that the question belongs to, in a stateless
	// revision.
	Asker *peer.Message
	// Answer is the response, or the client's next request; nil if none came.
	Answer *peer.Message
	// At is the pointer of the result in it, without the slash in front.
	At string
}

// result is the answer's result, if it has one.
func (a *asked) result() object {
	if a.Answer == nil {
		return nil
	}
	return a.Answer.Object(a.At)
}

func (a *asked) get(path string) (any, bool) { return peer.Get(any(a.result()), path) }

func (a *asked) text(path string) string {
	v, _ := a.get(path)
	s, _ := v.(string)
	return s
}

// asked returns the questions of some methods.
func (x *X) asked(methods ...string) []*asked {
	var all []*asked
	if !x.Stateless {
		for _, q := range x.Sent(func(m *peer.Message) bool { return m.IsRequest() && slices.Contains(methods, m.Method) }) {
			all = append(all, &asked{Method: q.Method, Params: q.Object("params"), Question: q, Answer: x.Log.ResponseTo(q), At: "result"})
		}
		return all
	}
	for _, again := range x.retries() {
		requests := again.Wanted.Object("result/inputRequests")
		for _, key := range slices.Sorted(maps.Keys(requests)) {
			q, _ := requests[key].(object)
			method, _ := q["method"].(string)
			if !slices.Contains(methods, method) {
				continue
			}
			params, _ := q["params"].(object)
			_, name, _ := strings.Cut(key, "/")
			a := &asked{Name: name, Method: method, Params: params, Question: again.Wanted, Asker: again.First, At: "params/inputResponses/" + pointer(key)}
			if again.Again != nil {
				if _, ok := again.Again.Get(a.At); ok {
					a.Answer = again.Again
				}
			}
			all = append(all, a)
		}
	}
	return all
}

// retry is a request that was answered with the wish for input.
type retry struct {
	First, Wanted *peer.Message // the request, and its result
	Again         *peer.Message // the request that came with the input, or nil
}

// retries are the requests that input was wanted for, in order.
func (x *X) retries() []*retry {
	var all []*retry
	for _, wanted := range x.Sent(func(m *peer.Message) bool { return m.Text("result/resultType") == "input_required" }) {
		first := x.Log.RequestOf(wanted)
		if first == nil {
			continue
		}
		all = append(all, &retry{First: first, Wanted: wanted})
	}
	used := map[*peer.Message]bool{}
	x.pair(all, used, func(r *retry, m *peer.Message) bool { return isRetry(m) && continues(m, r.Wanted) })
	if len(used) > 0 { // the client knows what input_required means
		x.pair(all, used, x.dropsAll)
	}
	x.pair(all, used, func(_ *retry, m *peer.Message) bool { return isRetry(m) })
	return all
}

// pair finds the retries that are missing among the requests for which fits
// reports true. The newest come first, because a request belongs to what was said
// last before it.
func (x *X) pair(all []*retry, used map[*peer.Message]bool, fits func(*retry, *peer.Message) bool) {
	for _, r := range slices.Backward(all) {
		for _, m := range x.Requests(r.First.Method) {
			if r.Again == nil && m.Number > r.Wanted.Number && !used[m] && target(m) == target(r.First) && fits(r, m) {
				r.Again = m
				used[m] = true
			}
		}
	}
}

// dropsAll reports whether a request is the retry of one that was given a state
// and nothing else, though it brings nothing: it is the next of its kind, and the
// same as the first.
func (x *X) dropsAll(r *retry, m *peer.Message) bool {
	_, wanted := r.Wanted.Get("result/inputRequests")
	next := x.After(r.Wanted, func(m *peer.Message) bool { return m.IsRequest() && target(m) == target(r.First) })
	return !wanted && !isRetry(m) && next[0] == m && reflect.DeepEqual(plain(m), plain(r.First))
}

// isRetry reports whether a request brings input, or a state.
func isRetry(m *peer.Message) bool {
	_, state := m.Get("params/requestState")
	_, responses := m.Get("params/inputResponses")
	return state || responses
}

// target is what a request is about.
func target(m *peer.Message) string {
	return m.Method + " " + m.Text("params/name") + m.Text("params/uri")
}

// continues reports whether a request has the very state of a result.
func continues(m, wanted *peer.Message) bool {
	a, okA := m.Get("params/requestState")
	b, okB := wanted.Get("result/requestState")
	return okA == okB && reflect.DeepEqual(a, b)
}

// plain are the params of a request without what a retry adds.
func plain(m *peer.Message) object {
	params := maps.Clone(m.Object("params"))
	for _, name := range []string{"_meta", "inputResponses", "requestState"} {
		delete(params, name)
	}
	return params
}
