package clientprobe

import "fmt"

const scenarioOddForms = "odd-forms"

// formScenarios are servers whose forms have unusual schemas.
var formScenarios = []Scenario{{
	Name: scenarioOddForms, Does: "Asks for forms whose schemas name a dialect, refer to another server, or expand without end.",
	Do: "Connect; call the tools report, show, change and go_on, and fill in what is asked.", Needs: []string{"elicitation"},
	Tool: map[string]func(*Turn) bool{
		"report": func(t *Turn) bool {
			return t.askForms(t.form("plain", "form", shortForm()), t.form("dialect", "form", formIn(commonDialect)))
		},
		"show":   func(t *Turn) bool { return t.askForms(t.form("strange", "form", formIn(strangeDialect))) },
		"change": func(t *Turn) bool { return t.askForms(t.form("elsewhere", "form", formElsewhere())) },
		"go_on": func(t *Turn) bool {
			return t.askForms(t.form("endless", "form", endlessForm())) || t.sayDone()
		},
	},
	Result: addGoOn,
}}

// The dialects that forms name: one that everybody knows, and one that nobody does.
const (
	commonDialect  = "https://json-schema.org/draft/2020-12/schema"
	strangeDialect = "https://schemas.example.com/dialects/strange"
)

// askForms asks for forms one after the other, if the client has forms.
func (t *Turn) askForms(forms ...question) bool {
	if !declares(t.declared(), "elicitation/form") {
		return false
	}
	rounds := make([]round, 0, len(forms))
	for _, form := range forms {
		rounds = append(rounds, round{questions: []question{form}, state: new(form.name)})
	}
	return t.inquire(rounds)
}

func formIn(dialect string) object {
	form := shortForm()
	form["$schema"] = dialect
	return form
}

// formElsewhere has a field whose schema is on another server.
func formElsewhere() object {
	return object{"type": "object", "required": list{"name"}, "properties": object{
		"name": object{"$ref": "https://schemas.example.com/name.json"},
	}}
}

// endlessForm has a field whose schema doubles at each step.
func endlessForm() object {
	const steps = 60
	step := func(n int) string { return fmt.Sprintf("#/$defs/step-%d", n) }
	defs := object{fmt.Sprintf("step-%d", steps): object{"type": "string"}}
	for n := range steps {
		next := object{"$ref": step(n + 1)}
		defs[fmt.Sprintf("step-%d", n)] = object{"allOf": list{next, next}}
	}
	return object{"type": "object", "$defs": defs, "properties": object{"name": object{"type": "string", "allOf": list{object{"$ref": step(0)}}}}}
}
