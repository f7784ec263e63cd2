package serverprobe

import (
	"encoding/json"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/internal/check/sample"
	"github.com/parley-mcp/parley/internal/check/verdict"
	"github.com/parley-mcp/parley/mcp"
)

// mostValues is how many values one answer may have.
const mostValues = 100

var serverCompletion = []Probe{
	{
		Info: probe.Info{
			ID: "completion/declared", Rows: []string{"26.server.utilities.completion-001", "2511.server.utilities.completion-001"},
			Does:    "Looks for the capability completions, and asks for values if it is not there.",
			Accepts: "The capability, or no values.",
			Mend:    "Declare the capability completions.",
		},
		Run: func(x *X) probe.Finding {
			gives := func(m *peer.Message) bool { return len(m.List("result/completion/values")) > 0 }
			for _, of := range x.completable() {
				if f := declares("completions", mcp.MethodComplete, completion(of.Type, of.Of, of.Argument), gives)(x); f.Outcome != verdict.NotApplicable {
					return f
				}
			}
			return probe.NotApplicable("the server does not declare the capability completions, and completes nothing")
		},
	},
	{
		Info: probe.Info{
			ID: "completion/method-not-found", Rows: []string{"26.server.utilities.completion-006", "2511.server.utilities.completion-006"},
			Does:    "Asks a server for values that does not declare the capability completions.",
			Accepts: "The error -32601.",
			After:   []string{"completion/declared"},
		},
		Run: func(x *X) probe.Finding {
			if x.guessed {
				return undeclared()
			}
			if x.Offer.Has("completions") {
				return probe.NotApplicable("the server declares the capability completions")
			}
			return wantError(x.Call(mcp.MethodComplete, completion(refPrompt, noSuch, noSuch)), -32601)
		},
	},
	{
		Info: probe.Info{
			ID: "completion/references", Rows: []string{"26.server.utilities.completion-003", "2511.server.utilities.completion-021"},
			Does:    "Asks for values of arguments of prompts and of variables of templates.",
			Accepts: "Anything but a refusal of the reference: results, if only empty ones, or internal errors.",
		},
		Run: watchReferences,
	},
	{
		Info: probe.Info{
			ID: "completion/values", Rows: []string{"2511.server.utilities.completion-022", "26.schema-005"},
			Does:    "Looks at the results of completion/complete.",
			Accepts: "completion.values, an array of strings.",
		},
		Watch: eachCompletion(func(w *probe.Watch, r part) {
			values, ok := r.get("completion/values")
			if !ok || !isArray(values) {
				r.fault(w, "the result has no array completion.values")
			}
			for _, v := range r.items("completion/values") {
				if _, ok := v.v.(string); !ok {
					v.fault(w, "the value is not a string")
				}
			}
		}),
	},
	{
		Info: probe.Info{
			ID: "completion/at-most-100", Rows: []string{"26.server.utilities.completion-004", "26.schema-005", "2511.server.utilities.completion-002"},
			Does:    "Counts the values of each completion.",
			Accepts: "100 at most.",
		},
		Watch: eachCompletion(func(w *probe.Watch, r part) {
			if n := len(r.items("completion/values")); n > mostValues {
				w.Fault(r.m, r.at+"/completion/values", "there are %d values", n)
			}
		}),
	},
	{
		Info: probe.Info{
			ID: "completion/has-more", Rows: []string{"26.server.utilities.completion-005", "2511.server.utilities.completion-003"},
			Does:    "Compares total and hasMore with the number of values.",
			Accepts: "A total that is not below the number of values, and hasMore if, and only if, it is above.",
			After:   []string{"completion/values", "completion/at-most-100"},
		},
		Watch: eachCompletion(func(w *probe.Watch, r part) {
			count := float64(len(r.items("completion/values")))
			more, hasMore := r.get("completion/hasMore")
			c, _ := r.member("completion")
			total, hasTotal := c.number("total")
			switch {
			case hasMore && more != true && more != false:
				w.Fault(r.m, r.at+"/completion/hasMore", "hasMore is not a boolean")
			case c.has("total") && !hasTotal:
				w.Fault(r.m, r.at+"/completion/total", "total is not a number")
			case hasTotal && total < count:
				w.Fault(r.m, r.at+"/completion/total", "there are more values than the total says")
			case hasTotal && total > count && more != true:
				w.Fault(r.m, r.at+"/completion", "values were left out, and hasMore is not true")
			case hasTotal && total == count && more == true:
				w.Fault(r.m, r.at+"/completion", "all values are there, and hasMore is true")
			}
		}),
	},
	{
		Info: probe.Info{
			ID: "completion/unknown-prompt", Rows: []string{"26.server.utilities.completion-007", "2511.server.utilities.completion-007"},
			Does:    "Asks for values for a prompt that does not exist.",
			Accepts: "The error -32602.",
		},
		Run: func(x *X) probe.Finding {
			return x.completes(func() probe.Finding {
				return wantError(x.Call(mcp.MethodComplete, completion(refPrompt, noSuch, "name")), -32602)
			})
		},
	},
	{
		Info: probe.Info{
			ID: "completion/missing-parameters", Rows: []string{"26.server.utilities.completion-008", "2511.server.utilities.completion-008"},
			Does:    "Asks for values without ref, and without argument.",
			Accepts: "The error -32602.",
		},
		Run: func(x *X) probe.Finding {
			return x.completes(func() probe.Finding {
				ref, argument := map[string]any{"type": refPrompt, "name": noSuch}, map[string]any{"name": noSuch, "value": ""}
				return errorsAll([]*peer.Reply{
					x.Call(mcp.MethodComplete, map[string]any{"argument": argument}),
					x.Call(mcp.MethodComplete, map[string]any{"ref": ref}),
				}, -32602)
			})
		},
	},
	{
		Info: probe.Info{
			ID: "completion/internal-errors", Rows: []string{"26.server.utilities.completion-009", "2511.server.utilities.completion-009"},
			Does:    "Looks at errors of completion that say that they are internal ones.",
			Accepts: "The code -32603.",
		},
		Watch: internalErrors(mcp.MethodComplete),
	},
	{
		Info: probe.Info{
			ID: "completion/validates-inputs",
			Rows: []string{
				"26.server.utilities.completion-017", "26.server.utilities.completion-013",
				"2511.server.utilities.completion-017", "2511.server.utilities.completion-013",
			},
			Does:    "Asks for values with a reference of no type that there is, and with a value that is no string.",
			Accepts: "Anything but success.",
		},
		Run: func(x *X) probe.Finding {
			return x.completes(func() probe.Finding {
				of := x.completable()
				if len(of) == 0 {
					return probe.NotApplicable("the server has no prompt with arguments, and no template")
				}
				badRef := completion(of[0].Type, of[0].Of, of[0].Argument)
				badRef["ref"] = map[string]any{"type": "ref/parley-check", "name": of[0].Of, "uri": of[0].Of}
				badValue := completion(of[0].Type, of[0].Of, of[0].Argument)
				badValue["argument"] = map[string]any{"name": of[0].Argument, "value": json.Number("42")}
				return refusesAll(x.Call(mcp.MethodComplete, badRef), x.Call(mcp.MethodComplete, badValue))
			})
		},
	},
}

// completes runs a probe if the server completes at all. The first revision has
// no capability that says so: an answer to the survey does.
func (x *X) completes(run func() probe.Finding) probe.Finding {
	switch {
	case !x.Completes():
		return probe.NotApplicable("the server does not declare the capability completions")
	case x.Facts.Completions || len(x.Results(mcp.MethodComplete)) > 0:
		return run()
	default:
		return probe.NotApplicable("the server completes nothing")
	}
}

// completable are the arguments that completions may be asked for.
func (x *X) completable() []Completed {
	var all []Completed
	for _, p := range x.Offer.Prompts {
		for _, argument := range argumentsOf(p) {
			all = append(all, Completed{Type: refPrompt, Of: textOf(p, "name"), Argument: argument})
		}
	}
	for _, t := range x.Offer.Templates {
		for _, variable := range sample.Variables(textOf(t, "uriTemplate")) {
			all = append(all, Completed{Type: refTemplate, Of: textOf(t, "uriTemplate"), Argument: variable})
		}
	}
	return all
}

func eachCompletion(look func(*probe.Watch, part)) func(*X, *probe.Watch) {
	return func(x *X, w *probe.Watch) {
		each(resultsOf(mcp.MethodComplete), look)(x, w)
		w.Nothing(probe.NotApplicable("the server completes nothing"))
	}
}

// watchReferences looks at how the survey's requests for values were answered.
func watchReferences(x *X) probe.Finding {
	return x.completes(func() probe.Finding {
		var seen []probe.Blame
		for _, m := range x.Received((*peer.Message).IsResponse) {
			asked := x.Log.RequestOf(m)
			if asked == nil || asked.Method != mcp.MethodComplete || !x.isCompletable(asked) {
				continue
			}
			if code, ok := m.Code(); ok && (code == -32601 || code == -32602) {
				return probe.Fail(probe.Of(asked, m), "the reference to what the server lists is refused")
			}
			seen = append(seen, probe.Of(asked, m)...)
		}
		if len(seen) == 0 {
			return probe.NotApplicable("the server has no prompt with arguments, and no template")
		}
		return probe.Pass(seen...)
	})
}

// isCompletable reports whether a message asks for values of what the server
// lists.
func (x *X) isCompletable(m *peer.Message) bool {
	if v, _ := m.Get("params/argument/value"); v != "" {
		return false
	}
	for _, of := range x.completable() {
		asked := completion(of.Type, of.Of, of.Argument)
		ref, _ := m.Get("params/ref")
		if same(ref, asked["ref"]) && m.Text("params/argument/name") == of.Argument {
			return true
		}
	}
	return false
}
