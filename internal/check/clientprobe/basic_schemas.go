package clientprobe

import (
	"github.com/parley-mcp/parley/internal/check/probe"
)

// These probes look at what clients do with the JSON Schemas of forms.
var basicSchemas = []Probe{
	{
		Info: probe.Info{
			ID: "schemas/common-dialect", Rows: []string{"2511.basic-027"},
			Does:    "Asks for a form, and for the same one with a $schema that names JSON Schema 2020-12.",
			Accepts: "The second one if the first one is.",
			Mend:    "Take schemas that say they are JSON Schema 2020-12.",
		},
		Needs: []string{"elicitation"}, In: []string{scenarioOddForms},
		Watch: func(x *X, w *probe.Watch) {
			w.Nothing(noAnswer("about a form"))
			plain := false
			for _, a := range x.asked(elicit) {
				switch a.at("requestedSchema/$schema") {
				case nil:
					plain = plain || a.text("action") == "accept"
				case commonDialect:
					if a.result() != nil {
						w.Saw(a.Answer)
					} else if plain && a.Answer != nil {
						w.FaultOf(probe.Of(a.Question, a.Answer), "the client refuses a form because it names JSON Schema 2020-12")
					}
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "schemas/strange-dialect", Rows: []string{"26.basic.index-044", "2511.basic-031"},
			Does:    "Asks for a form whose $schema names a dialect that nobody knows.",
			Accepts: "An error, or without a session no answer.",
			Mend:    "Refuse schemas in dialects that you do not know with an error that says so.",
		},
		Needs: []string{"elicitation"}, In: []string{scenarioOddForms},
		Watch: watchFormRefused("the client accepts a form in a dialect that it cannot know", func(a *asked) bool { return a.at("requestedSchema/$schema") == strangeDialect }),
	},
	{
		Info: probe.Info{
			ID: "schemas/unresolved-reference", Rows: []string{"26.basic.index-049"},
			Does:    "Asks for a form with a $ref to a schema that does not exist.",
			Accepts: "An error, or without a session no answer.",
			Mend:    "Refuse schemas with references that you do not resolve.",
		},
		Needs: []string{"elicitation"}, In: []string{scenarioOddForms},
		Watch: watchFormRefused("the client accepts a form, part of whose schema it cannot know", func(a *asked) bool { return a.has("requestedSchema/properties/name/$ref") }),
	},
	{
		Info: probe.Info{
			ID: "schemas/bounded", Rows: []string{"26.basic.index-050"},
			Does:    "Asks for a form whose schema doubles sixty times.",
			Accepts: "That the client goes on, whatever it makes of it.",
			Mend:    "Bound the work that a schema may cause.",
		},
		Needs: []string{"elicitation"}, In: []string{scenarioOddForms},
		Watch: func(x *X, w *probe.Watch) {
			w.Nothing(probe.Unverified("the client was not asked"))
			for _, a := range x.asked(elicit) {
				if a.has("requestedSchema/$defs") {
					x.carriesOn(w, a.Question, "a form whose schema expands without end")
				}
			}
		},
	},
}

// watchFormRefused wants forms not to be accepted. What the user refuses proves
// nothing.
func watchFormRefused(wrong string, which func(*asked) bool) func(*X, *probe.Watch) {
	return func(x *X, w *probe.Watch) {
		w.Nothing(probe.Unverified("the client was not asked, or its user did not want the form"))
		for _, a := range x.asked(elicit) {
			switch {
			case !which(a):
			case a.text("action") == "accept":
				w.FaultOf(probe.Of(a.Question, a.Answer), "%s", wrong)
			case a.Answer != nil && a.Answer.IsError():
				w.Saw(a.Answer)
			case x.Stateless && a.Answer == nil && x.heardAfter(a.Question):
				w.Saw(a.Question)
			}
		}
	}
}
