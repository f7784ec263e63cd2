package serverprobe

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/mcp"
)

var mrtrProbes = []Probe{
	watchInput("mrtr/has-something", "Looks at each result with the resultType input_required.", "inputRequests, requestState, or both.",
		func(w *probe.Watch, m *peer.Message) {
			_, asks := m.Get("result/inputRequests")
			_, state := m.Get("result/requestState")
			if !asks && !state {
				w.Fault(m, "/result", "the result has neither inputRequests nor requestState")
			}
		}, "26.basic.patterns.mrtr-020", "26.schema-015"),
	watchInput("mrtr/requests-are-a-map", "Looks at inputRequests.", "An object whose values are objects with a method.",
		func(w *probe.Watch, m *peer.Message) {
			v, given := m.Get("result/inputRequests")
			if _, ok := v.(map[string]any); given && !ok {
				w.Fault(m, "/result/inputRequests", "inputRequests is no object")
			}
			for _, q := range questionsOf(m) {
				if q.Method == "" {
					w.Fault(m, q.At, "the request has no method")
				}
			}
		}, "26.basic.patterns.mrtr-003"),
	watchInput("mrtr/keys-differ", "Looks at the keys of inputRequests in the text of the message.", "Each key once.",
		func(w *probe.Watch, m *peer.Message) {
			if key, twice := repeated(m.Raw, "result", "inputRequests"); twice {
				w.Fault(m, "/result/inputRequests/"+pointer(key), "inputRequests has the key %q twice", key)
			}
		}, "26.basic.patterns.mrtr-009"),
	watchInput("mrtr/known-requests", "Looks at the methods of inputRequests.", "elicitation/create, sampling/createMessage and roots/list.",
		func(w *probe.Watch, m *peer.Message) {
			for _, q := range questionsOf(m) {
				if q.Method != "" && !slices.Contains([]string{mcp.MethodElicit, mcp.MethodSample, mcp.MethodRoots}, q.Method) {
					w.Fault(m, q.At+"/method", "%s is none of the requests that a server can ask for", q.Method)
				}
			}
		}, "26.basic.patterns.mrtr-010"),
	watchInput("mrtr/state-is-string", "Looks at requestState.", "A string, if there is one.",
		func(w *probe.Watch, m *peer.Message) {
			v, given := m.Get("result/requestState")
			if _, ok := v.(string); given && !ok {
				w.Fault(m, "/result/requestState", "requestState is no string")
			}
		}, "26.basic.patterns.mrtr-011"),
	{
		Info: probe.Info{
			ID: "mrtr/only-some-methods", Rows: []string{"26.basic.patterns.mrtr-007"},
			Does:    "Looks at which requests are answered by input_required.",
			Accepts: "tools/call, prompts/get and resources/read.",
		},
		Needs: []string{needsStateless},
		Watch: func(x *X, w *probe.Watch) {
			for _, m := range x.Received((*peer.Message).IsResult) {
				w.Saw(m)
				if r := x.Log.RequestOf(m); asksForInput(m) && r != nil && !slices.Contains([]string{mcp.MethodCallTool, mcp.MethodGetPrompt, mcp.MethodReadResource}, r.Method) {
					w.FaultOf(probe.Of(r, m), "%s is answered by input_required", r.Method)
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "mrtr/altered-state", Rows: []string{
				"26.basic.patterns.mrtr-014", "26.basic.patterns.mrtr-013", "26.basic.patterns.mrtr-012", "26.basic.patterns.mrtr-035",
			},
			Does:    "Repeats a call with the answers and an altered requestState, if the call does not succeed without one.",
			Accepts: "An error, or that it asks again.",
			Mend:    "Seal requestState, for example with HMAC or AEAD, and refuse what fails verification.",
		},
		Needs: []string{needsStateless},
		Run: func(x *X) probe.Finding {
			return x.eachAsking(func(d *Doing, first *peer.Message) (probe.Finding, bool) {
				state := first.Text("result/requestState")
				params := x.Main.Again(d.params(), first)
				delete(params, "requestState")
				if state == "" || succeeded(x.Call(mcp.MethodCallTool, params).Response) {
					return probe.Unverified("the tools that may be called do not depend on a requestState"), false
				}
				params["requestState"] = altered(state)
				r := x.Call(mcp.MethodCallTool, params)
				if succeeded(r.Response) {
					return probe.Fail(probe.Of(first, r.Sent, r.Response), "an altered requestState was accepted"), true
				}
				if r.Response == nil {
					return unanswered(r), true
				}
				return probe.Pass(probe.Of(first, r.Sent, r.Response)...), true
			})
		},
	},
	{
		Info: probe.Info{
			ID: "mrtr/state-of-another-call", Rows: []string{"26.basic.patterns.mrtr-018"},
			Does:    "Repeats a call with the answers and the requestState of a call of another tool, if the call does not succeed without one.",
			Accepts: "An error, or that it asks again.",
		},
		Needs: []string{needsStateless},
		Run: func(x *X) probe.Finding {
			states := map[string]string{}
			return x.eachAsking(func(d *Doing, first *peer.Message) (probe.Finding, bool) {
				state := first.Text("result/requestState")
				for other, stranger := range states {
					params := x.Main.Again(d.params(), first)
					delete(params, "requestState")
					if state == "" || stranger == "" || succeeded(x.Call(mcp.MethodCallTool, params).Response) {
						continue
					}
					params["requestState"] = stranger
					r := x.Call(mcp.MethodCallTool, params)
					if succeeded(r.Response) {
						return probe.Fail(probe.Of(first, r.Sent, r.Response), "the requestState of a call of %s was accepted for another tool", other), true
					}
					if r.Response != nil {
						return probe.Pass(probe.Of(first, r.Sent, r.Response)...), true
					}
				}
				states[d.Name] = state
				return probe.Unverified("no two tools that may be called depend on a requestState"), false
			})
		},
	},
	{
		Info: probe.Info{
			ID: "mrtr/unknown-answers", Rows: []string{"26.basic.patterns.mrtr-033"},
			Does:    "Repeats a call with the answers, and one more that nobody asked for.",
			Accepts: "The result that it has without that.",
		},
		Needs: []string{needsStateless},
		Run: func(x *X) probe.Finding {
			return x.eachAsking(func(d *Doing, first *peer.Message) (probe.Finding, bool) {
				params := x.Main.Again(d.params(), first)
				answers, _ := params["inputResponses"].(map[string]any)
				answers["parley-nobody-asked"] = map[string]any{"action": "cancel"}
				r := x.Call(mcp.MethodCallTool, params)
				switch {
				case r.Response == nil:
					return unanswered(r), true
				case r.Response.IsError():
					return probe.Fail(probe.OfReply(r), "an answer that nobody asked for is refused"), true
				}
				return probe.Pass(probe.OfReply(r)...), true
			})
		},
	},
	{
		Info: probe.Info{
			ID: "mrtr/asks-again", Rows: []string{"26.basic.patterns.mrtr-034"},
			Does:    "Repeats a call with its requestState and without the answers.",
			Accepts: "That it asks again, or does without.",
		},
		Needs: []string{needsStateless},
		Run: func(x *X) probe.Finding {
			return x.eachAsking(func(d *Doing, first *peer.Message) (probe.Finding, bool) {
				params := x.Main.Again(d.params(), first)
				params["inputResponses"] = map[string]any{}
				r := x.Call(mcp.MethodCallTool, params)
				switch {
				case r.Response == nil:
					return unanswered(r), true
				case r.Response.IsError():
					return probe.Fail(probe.OfReply(r), "the call fails because an answer is missing, instead of asking again"), true
				}
				return probe.Pass(probe.OfReply(r)...), true
			})
		},
	},
	{
		Info: probe.Info{
			ID: "mrtr/answers-validated", Rows: []string{"26.basic.patterns.mrtr-031", "26.basic.patterns.mrtr-032"},
			Does:    "Repeats a call with answers that are numbers instead of objects.",
			Accepts: "A JSON-RPC error, or that it asks again.",
		},
		Needs: []string{needsStateless},
		Run: func(x *X) probe.Finding {
			return x.eachAsking(func(d *Doing, first *peer.Message) (probe.Finding, bool) {
				params := x.Main.Again(d.params(), first)
				answers, _ := params["inputResponses"].(map[string]any)
				for key := range answers {
					answers[key] = 42
				}
				r := x.Call(mcp.MethodCallTool, params)
				switch {
				case r.Response == nil:
					return unanswered(r), true
				case succeeded(r.Response):
					return probe.Fail(probe.OfReply(r), "answers that are no objects are accepted"), true
				}
				return probe.Pass(probe.OfReply(r)...), true
			})
		},
	},
	{
		Info: probe.Info{
			ID: "mrtr/may-be-left", Rows: []string{"26.basic.patterns.mrtr-022"},
			Does:    "Makes a call that asks, does not answer, and makes it again.",
			Accepts: "That it asks again.",
		},
		Needs: []string{needsStateless},
		Run: func(x *X) probe.Finding {
			return x.eachAsking(func(d *Doing, first *peer.Message) (probe.Finding, bool) {
				r := x.Call(mcp.MethodCallTool, d.params())
				switch {
				case r.Response == nil:
					return unanswered(r), true
				case r.Response.IsError():
					return probe.Fail(probe.Of(first, r.Sent, r.Response), "the call fails because the one before was left unanswered"), true
				}
				return probe.Pass(probe.OfReply(r)...), true
			})
		},
	},
}

// watchInput is a probe of results that ask for input.
func watchInput(id, does, accepts string, check func(*probe.Watch, *peer.Message), rows ...string) Probe {
	return Probe{
		Info:  probe.Info{ID: id, Rows: rows, Does: does, Accepts: accepts},
		Needs: []string{needsStateless},
		Watch: func(x *X, w *probe.Watch) {
			w.Nothing(probe.Unverified("no tool that may be called asks anything"))
			for _, m := range x.Received(asksForInput) {
				w.Saw(m)
				check(w, m)
			}
		},
	}
}

// repeated returns a name that the object at a path has twice. Whoever decodes the
// text sees only one of the members.
func repeated(text []byte, path ...string) (name string, twice bool) {
	d := json.NewDecoder(bytes.NewReader(text))
	if begin, err := d.Token(); err != nil || begin != json.Delim('{') {
		return "", false
	}
	met := map[string]bool{}
	for d.More() {
		token, _ := d.Token() // an error shows in what follows
		name, _ := token.(string)
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return "", false
		}
		switch {
		case len(path) > 0 && name == path[0]:
			return repeated(value, path[1:]...)
		case len(path) == 0 && met[name]:
			return name, true
		}
		met[name] = true
	}
	return "", false
}

// eachAsking calls the tools that were seen to ask, and judges what follows on
// their first question, until one says something.
func (x *X) eachAsking(judge func(d *Doing, first *peer.Message) (probe.Finding, bool)) probe.Finding {
	finding := probe.Unverified("no tool that may be called asks anything")
	tools := x.did(asking)
	for _, d := range tools[:min(mostAsking, len(tools))] {
		r := x.Call(mcp.MethodCallTool, d.params())
		if !asksForInput(r.Response) || len(r.Response.Object("result/inputRequests")) == 0 {
			continue
		}
		found, enough := judge(d, r.Response)
		if finding = found; enough {
			break
		}
	}
	return finding
}

// mostAsking is how many tools that ask are tried.
const mostAsking = 8

// altered is a state with another character in its middle.
func altered(state string) string {
	text := []byte(state)
	if middle := len(text) / 2; text[middle] == 'A' {
		text[middle] = 'B'
	} else {
		text[middle] = 'A'
	}
	return string(text)
}
