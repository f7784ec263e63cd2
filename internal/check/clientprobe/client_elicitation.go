package clientprobe

import (
	"slices"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/internal/schema"
)

const elicit = "elicitation/create"

// noAnswer is what to say if nothing of a kind was answered.
func noAnswer(what string) probe.Finding {
	return probe.Unverified("the client has answered no question %s", what)
}

var clientElicitation = []Probe{
	{
		Info: probe.Info{
			ID:      "elicitation/declared",
			Rows:    []string{"26.client.elicitation-007", "2511.client.elicitation-007", "2506.client.elicitation-005"},
			Does:    "Compares what the client declares with what it answers: in a session for all of it, and without one for each request.",
			Accepts: "The capability elicitation wherever an elicitation is answered, on every request of a client that has it.",
			Mend:    "Declare the capability elicitation.",
		},
		Needs: []string{"elicitation"},
		Watch: declared("elicitation", elicit),
	},
	{
		Info: probe.Info{
			ID: "elicitation/some-mode", Rows: []string{"26.client.elicitation-009", "2511.client.elicitation-009"},
			Does:    "Asks for forms and visits, as far as they are declared.",
			Accepts: "An answer with a result to one of them.",
			Mend:    "Answer forms or visits, or do not declare the capability elicitation.",
		},
		Needs: []string{"url elicitation"}, In: []string{scenarioAsks},
		Watch: watchSomeMode,
	},
	{
		Info: probe.Info{
			ID: "elicitation/no-mode-is-form", Rows: []string{"26.client.elicitation-014", "2511.client.elicitation-013"},
			Does:    "Asks for a form without naming the mode.",
			Accepts: "What is an answer to a form.",
			Mend:    `Read a request without mode as one with the mode "form".`,
		},
		Needs: []string{"url elicitation"}, In: []string{scenarioAsks},
		Watch: watchNoMode,
	},
	{
		Info: probe.Info{
			ID: "elicitation/action", Rows: []string{"26.client.elicitation-025", "2511.client.elicitation-035"},
			Does:    "Looks at the action in the results of elicitations.",
			Accepts: "accept, decline or cancel.",
			Mend:    "Answer with the action accept, decline or cancel.",
		},
		Needs: []string{"elicitation"},
		Watch: eachResult(elicit, func(w *probe.Watch, a *asked) {
			action, ok := a.get("action")
			if !ok {
				return // that is the rule of results as a whole
			}
			w.Saw(a.Answer)
			if text, _ := action.(string); !slices.Contains([]string{"accept", "decline", "cancel"}, text) {
				w.Fault(a.Answer, "/"+a.At+"/action", "the action is %s", peer.Encode(action))
			}
		}),
	},
	{
		Info: probe.Info{
			ID:      "elicitation/content-fits",
			Rows:    []string{"26.client.elicitation-026", "2511.client.elicitation-019", "2511.client.elicitation-069", "26.client.elicitation-059", "2506.client.elicitation-009", "26.schema-009"},
			Does:    "Asks for forms, and validates what is accepted against their schemas.",
			Accepts: "content that fits the schema that was asked for.",
			Mend:    "Check what the user enters against requestedSchema before it is sent.",
		},
		Needs: []string{"elicitation"},
		Watch: watchContentFits,
	},
	{
		Info: probe.Info{
			ID: "elicitation/content-of-forms-only", Rows: []string{"26.client.elicitation-027", "2511.client.elicitation-036"},
			Does:    "Looks at the answers of those who agreed to visit a page.",
			Accepts: "No content.",
			Mend:    `Answer {"action":"accept"} when the user agrees to a visit, without content.`,
		},
		Needs: []string{"url elicitation"},
		Watch: eachResult(elicit, func(w *probe.Watch, a *asked) {
			if a.Params["mode"] != "url" || a.text("action") != "accept" {
				return
			}
			w.Saw(a.Answer)
			if _, ok := a.get("content"); ok {
				w.Fault(a.Answer, "/"+a.At+"/content", "the answer to a visit has content")
			}
		}),
	},
	{
		Info: probe.Info{
			ID: "elicitation/undeclared-mode", Rows: []string{"2511.client.elicitation-048"},
			Does:    "Asks in a mode that the client has not declared.",
			Accepts: "The error -32602.",
			Mend:    "Refuse modes that you do not declare with -32602.",
		},
		Needs: []string{needsSession, "url elicitation"}, In: []string{scenarioUndeclared},
		Watch: watchUndeclaredMode,
	},
}

// eachResult looks at each result that the client gave to a question of a method.
func eachResult(method string, look func(*probe.Watch, *asked)) func(*X, *probe.Watch) {
	return func(x *X, w *probe.Watch) {
		for _, a := range x.asked(method) {
			if a.result() != nil {
				look(w, a)
			}
		}
		w.Nothing(noAnswer("of the kind"))
	}
}

// declared compares the capability for a method with what is answered.
func declared(capability, method string) func(*X, *probe.Watch) {
	return func(x *X, w *probe.Watch) {
		w.Nothing(probe.Unverified("the client neither declares nor answers %s", method))
		if x.Stateless {
			watchDeclaredAlways(x, w, capability)
			return
		}
		for _, a := range x.asked(method) {
			if a.result() == nil {
				continue
			}
			w.Saw(a.Answer)
			if !declares(x.declaredFor(a.Answer), capability) {
				w.FaultOf(probe.Of(a.Question, a.Answer), "the client answers %s, and has not declared the capability %s", method, capability)
			}
		}
	}
}

// watchDeclaredAlways wants a capability on each request, if it is on any.
func watchDeclaredAlways(x *X, w *probe.Watch, capability string) {
	var with, without []*peer.Message
	for _, m := range x.Requests() {
		switch has := x.declaredFor(m); {
		case has == nil: // a rule of its own
		case declares(has, capability):
			with = append(with, m)
		default:
			without = append(without, m)
		}
	}
	if len(with) == 0 {
		return
	}
	w.Saw(with[0])
	for _, other := range without {
		w.FaultOf([]probe.Blame{{Message: other, Pointer: "/params/_meta"}}, "the request does not declare the capability %s, which others do", capability)
	}
}

func watchSomeMode(x *X, w *probe.Watch) {
	var refused []*peer.Message
	for _, a := range x.asked(elicit) {
		if a.Answer == nil {
			continue
		}
		if a.result() != nil {
			w.Saw(a.Answer)
			return
		}
		if code, _ := a.Answer.Code(); code == -32601 || code == -32602 {
			refused = append(refused, a.Answer)
		}
	}
	for _, m := range refused {
		w.Fault(m, "/error", "the client declares elicitation, and answers none")
	}
	w.Nothing(noAnswer("of the user"))
}

func watchNoMode(x *X, w *probe.Watch) {
	w.Nothing(noAnswer("without a mode with more than decline or cancel"))
	formless := true
	for _, a := range x.asked(elicit) {
		if a.Params["mode"] == "form" && a.text("action") != "" {
			formless = false
		}
		if _, ok := a.Params["mode"]; ok || a.Answer == nil {
			continue
		}
		_, content := a.get("content")
		code, _ := a.Answer.Code()
		switch {
		case a.text("action") == "accept" && content:
			w.Saw(a.Answer)
		case a.text("action") == "accept":
			w.FaultOf(probe.Of(a.Question, a.Answer), "a form without mode was accepted without content")
		case !formless && (code == -32601 || code == -32602):
			w.FaultOf(probe.Of(a.Question, a.Answer), "the client refuses a form without mode, and not one with it")
		}
	}
}

// watchContentFits validates what was accepted.
//
// Spec: 2026-07-28 client/elicitation#response-actions.
func watchContentFits(x *X, w *probe.Watch) {
	for _, a := range x.asked(elicit) {
		form, ok := a.Params["requestedSchema"]
		content, has := a.get("content")
		if !ok || a.text("action") != "accept" || !has {
			if ok && a.text("action") == "accept" && a.Params["mode"] == "form" {
				w.Fault(a.Answer, "/"+a.At, "the form was accepted without content")
			}
			continue
		}
		w.Saw(a.Answer)
		wanted, err := schema.Compile(peer.Encode(form))
		if err != nil {
			continue // it is ours, and good
		}
		if err := wanted.Validate(peer.Encode(content)); err != nil {
			w.FaultOf([]probe.Blame{{Message: a.Answer, Pointer: "/" + a.At + "/content"}, {Message: a.Question}}, "the content does not fit the schema: %v", err)
		}
	}
	w.Nothing(noAnswer("with a form that was filled in"))
}

func watchUndeclaredMode(x *X, w *probe.Watch) {
	w.Nothing(probe.NotApplicable("the client has declared all modes, or none"))
	for _, a := range x.asked(elicit) {
		mode, _ := a.Params["mode"].(string)
		has := x.declaredFor(a.Question)
		if a.Answer == nil || !declares(has, "elicitation") || declares(has, "elicitation/"+mode) {
			continue
		}
		w.Saw(a.Answer)
		if code, _ := a.Answer.Code(); code != -32602 {
			w.FaultOf(probe.Of(a.Question, a.Answer), "the mode %s is not declared, and is not refused with -32602", mode)
		}
	}
}
