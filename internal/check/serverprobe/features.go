package serverprobe

import (
	"encoding/json"
	"strings"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/internal/check/verdict"
	"github.com/parley-mcp/parley/mcp"
)

// featurePages are the probes of what servers offer.
var featurePages = [][]Probe{
	serverTools, serverToolsNames, serverToolsSchemas, serverToolsHeaders, serverToolsCalls, serverToolsDialect, serverToolsOutput,
	serverResources, serverResourcesRead, annotationProbes, serverPrompts, serverPromptsContent,
	serverPagination, serverCompletion, serverCaching, serverLogging,
}

// each looks at every part of a kind.
func each(parts func(*X) []part, look func(*probe.Watch, part)) func(*X, *probe.Watch) {
	return func(x *X, w *probe.Watch) {
		for _, p := range parts(x) {
			w.Saw(p.m)
			look(w, p)
		}
	}
}

func entriesOf(l listing) func(*X) []part { return func(x *X) []part { return x.entries(l) } }

func resultsOf(method string) func(*X) []part { return func(x *X) []part { return x.results(method) } }

// declares is the finding for a feature that servers must declare if they have
// it: a method that gives something although the capability is not there breaks
// the rule.
func declares(capability, method string, params map[string]any, gives func(*peer.Message) bool) func(*X) probe.Finding {
	return func(x *X) probe.Finding {
		if x.guessed {
			return undeclared()
		}
		if x.Offer.Has(capability) {
			return probe.Pass(probe.Of(x.Greeting)...)
		}
		r := x.Call(method, params)
		switch {
		case r.Response == nil:
			return unanswered(r)
		case r.Response.IsResult() && gives(r.Response):
			return probe.Fail(append(probe.Of(x.Greeting), probe.OfReply(r)...), "%s is answered, and the capability %s is not declared", method, capability)
		default:
			return probe.NotApplicable("the server does not declare the capability %s, and has nothing of the kind", capability)
		}
	}
}

// declaresList is declares for something that is listed: an empty list is
// nothing.
func declaresList(l listing) func(*X) probe.Finding {
	return declares(l.capability, l.method, nil, func(m *peer.Message) bool { return len(m.List("result/"+l.member)) > 0 })
}

// answersList is the finding for a list that must be given.
func answersList(l listing) func(*X) probe.Finding {
	return func(x *X) probe.Finding {
		r := x.Call(l.method, nil)
		if f := wantResult(r); f.Outcome != verdict.Pass {
			return f
		}
		if _, ok := r.Response.Get("result/" + l.member); !ok || r.Response.List("result/"+l.member) == nil {
			return probe.Fail([]probe.Blame{{Message: r.Sent}, {Message: r.Response, Pointer: "/result/" + l.member}}, "the result has no array %s", l.member)
		}
		return probe.Pass(probe.OfReply(r)...)
	}
}

// announcesOnlyDeclared looks for changes of a list that are announced although
// the server has not declared that it does so.
func announcesOnlyDeclared(l listing, method string) func(*X, *probe.Watch) {
	return func(x *X, w *probe.Watch) {
		declared := x.Offer.Has(l.capability + "/listChanged")
		for _, m := range x.Received((*peer.Message).IsNotification) {
			if m.Method != method {
				continue
			}
			w.Saw(m)
			if !declared {
				w.Fault(m, "/method", "the server does not declare %s.listChanged, and announces a change", l.capability)
			}
		}
		if !declared || l == promptList {
			w.Saw(x.Greeting) // and nothing was announced that was not declared
		}
		w.Nothing(probe.Unverified("no change of the list was announced"))
	}
}

// wantText says that a member, if it is there, must be a string.
func wantText(w *probe.Watch, p part, names ...string) {
	for _, name := range names {
		if v, ok := p.get(name); ok {
			if _, ok := v.(string); !ok {
				w.Fault(p.m, p.at+"/"+name, "%s is not a string", name)
			}
		}
	}
}

// isText reports whether a member is a string that is not empty.
func (p part) isText(name string) bool { return p.text(name) != "" }

// isString reports whether a member is a string.
func (p part) isString(name string) bool {
	v, _ := p.get(name)
	_, ok := v.(string)
	return ok
}

// number returns a member that is a number.
func (p part) number(name string) (float64, bool) {
	v, _ := p.get(name)
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	f, err := n.Float64()
	return f, err == nil
}

// internalErrors looks for errors that call themselves internal: they have a
// code of their own.
func internalErrors(method string) func(*X, *probe.Watch) {
	return func(x *X, w *probe.Watch) {
		for _, m := range x.Received((*peer.Message).IsError) {
			asked := x.Log.RequestOf(m)
			if asked == nil || asked.Method != method {
				continue
			}
			code, _ := m.Code()
			if code == -32603 {
				w.Saw(m)
			} else if strings.Contains(strings.ToLower(m.Text("error/message")), "internal error") {
				w.Fault(m, "/error/code", "the error says that it is an internal one, and has the code %d", code)
			}
		}
		w.Nothing(probe.Unverified("no %s failed inside the server", method))
	}
}

// refusesAll is the finding for several messages of which none may succeed.
// What was not answered is left to another rule.
func refusesAll(replies ...*peer.Reply) probe.Finding {
	var passed []probe.Blame
	for _, r := range replies {
		f := wantRefusal(r)
		if f.Outcome != verdict.Pass {
			return f
		}
		passed = append(passed, f.Blamed...)
	}
	return probe.Pass(passed...)
}

// errorsAll is the finding for several messages that must each get an error
// with one of some codes.
func errorsAll(replies []*peer.Reply, codes ...int) probe.Finding {
	var passed []probe.Blame
	for _, r := range replies {
		f := wantError(r, codes...)
		if f.Outcome != verdict.Pass {
			return f
		}
		passed = append(passed, f.Blamed...)
	}
	return probe.Pass(passed...)
}

// ran reports whether a call of a tool succeeded.
func ran(r *peer.Reply) bool {
	if r.Response == nil || !complete(r.Response) {
		return false
	}
	failed, _ := r.Response.Get("result/isError")
	return failed != true
}

// call are the params of a call.
func call(name string, arguments any) map[string]any {
	return map[string]any{"name": name, "arguments": arguments}
}

// asks reports whether a result is a question.
func asks(m *peer.Message) bool { return m.Text("result/resultType") == mcp.ResultInputRequired }
