package inspect

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/parley-mcp/parley/cmd/parley/internal/page/web"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// maxRules and maxRuleBytes bound the rules of a connection.
const maxRules, maxRuleBytes = 100, 1 << 20

// rule answers questions in place of a person.
type rule struct {
	Name string `json:"name"`
	// Kind, Tool and Text say which questions: all of the kind, of calls of the tool (or
	// prompt, or resource), whose message has the text. An empty one says nothing.
	Kind string `json:"kind,omitempty"`
	Tool string `json:"tool,omitempty"`
	Text string `json:"text,omitempty"`
	given
}

// rules answer questions, if they are on: the first that matches, and whose answer fits.
type rules struct {
	On    bool   `json:"on"`
	Rules []rule `json:"rules"`
}

// try has the rules answer a question, and reports whether one did.
func (r *rules) try(p *pending) bool {
	if !r.On {
		return false
	}
	for i := range r.Rules {
		rule := &r.Rules[i]
		if !rule.matches(&p.question) {
			continue
		}
		reply, err := p.fit(&rule.given)
		if err != nil {
			p.Note = fmt.Sprintf("the answer of rule %q does not fit: %v", rule.Name, unfit(err).Message)
			continue
		}
		p.Rule, p.Note = rule.Name, ""
		p.settle(&rule.given, reply)
		return true
	}
	return false
}

func (r *rule) matches(q *question) bool {
	switch {
	case r.Kind != "" && r.Kind != q.Kind:
		return false
	case r.Tool != "" && (q.Call == nil || q.Call.Subject != r.Tool):
		return false
	}
	return r.Text == "" || strings.Contains(strings.ToLower(q.text()), strings.ToLower(r.Text))
}

// text is what a person would read of a question.
func (q *question) text() string {
	if q.Kind != kindSampling {
		message, _ := wire.Text(wire.Find(q.Params, "message"))
		return message
	}
	var p mcp.CreateMessageParams
	if wire.Unmarshal(q.Params, &p) != nil {
		return ""
	}
	parts := []string{p.SystemPrompt}
	for _, m := range p.Messages {
		for _, block := range m.Content {
			if t, ok := block.(*mcp.TextContent); ok {
				parts = append(parts, t.Text)
			}
		}
	}
	return strings.Join(parts, "\n")
}

// check refuses rules that can never answer anything.
func (r *rules) check() error {
	if len(r.Rules) > maxRules {
		return &web.Error{Status: http.StatusUnprocessableEntity, Code: "too_many", Field: "rules", Message: fmt.Sprintf("%d rules: there can be %d", len(r.Rules), maxRules)}
	}
	names := map[string]bool{}
	for i := range r.Rules {
		field, why := r.Rules[i].wrong()
		if why == "" && names[r.Rules[i].Name] {
			field, why = "name", fmt.Sprintf("another rule is named %q", r.Rules[i].Name)
		}
		if why != "" {
			field = fmt.Sprintf("rules[%d].%s", i, field)
			return &web.Error{Status: http.StatusUnprocessableEntity, Code: "bad_rule", Field: field, Message: field + ": " + why}
		}
		names[r.Rules[i].Name] = true
	}
	return nil
}

// wrong returns which member of a rule is wrong, and why; or "".
func (r *rule) wrong() (field, why string) {
	kinds := []string{kindForm, kindURL, kindSampling}
	switch {
	case r.Name == "":
		return "name", "missing: it is shown with what the rule answered"
	case r.Kind != "" && !slices.Contains(kinds, r.Kind):
		return "kind", fmt.Sprintf("%q is none: %s, or nothing for all", r.Kind, strings.Join(kinds, ", "))
	case r.Kind == "" && r.Action == mcp.ActionAccept:
		return "kind", "missing: what is accepted depends on it"
	case len(r.Content)+len(r.Result) > maxRuleBytes:
		return "action", fmt.Sprintf("its answer has more than %d bytes", maxRuleBytes)
	}
	err := r.misfit()
	if err == nil {
		return "", ""
	}
	e := unfit(err)
	return e.Field, strings.TrimPrefix(e.Message, e.Field+": ")
}

// misfit says what is wrong with the answer of a rule, as far as that does not depend on
// the question.
func (r *rule) misfit() error {
	switch r.Kind {
	case kindSampling:
		_, err := fitSample(&r.given)
		return err
	case kindForm:
		_, err := fitForm(&mcp.ElicitParams{RequestedSchema: anyForm})(&r.given)
		return err
	}
	_, err := fitVisit(&r.given)
	return err
}
