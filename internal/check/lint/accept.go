package lint

import (
	"fmt"
	"strings"
)

// Acceptance says that findings of a rule are accepted, and why.
type Acceptance struct {
	// Rule is the ID of a rule or of a group.
	Rule string
	// Name is the name of the definition; "" means any.
	Name string
	// Reason is why.
	Reason string
}

// ParseAcceptances reads a file of acceptances: a line for each, of the form
// "RULE: reason" or "RULE=NAME: reason". Empty lines and those that begin with "#"
// say nothing. An acceptance without a reason is an error, and so is an unknown rule.
func ParseAcceptances(text string) ([]Acceptance, error) {
	var all []Acceptance
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		what, reason, ok := strings.Cut(line, ": ")
		rule, name, _ := strings.Cut(strings.TrimSpace(what), "=")
		switch a := (Acceptance{Rule: rule, Name: name, Reason: strings.TrimSpace(reason)}); {
		case !ok || a.Reason == "":
			return nil, fmt.Errorf("line %d: %.100q gives no reason; write \"names/style: why\" or \"names/style=NAME: why\"", i+1, line)
		case !Known(rule):
			return nil, fmt.Errorf("line %d: there is no rule %.100q", i+1, rule)
		default:
			all = append(all, a)
		}
	}
	return all, nil
}

// accepted returns why a finding is accepted, or "".
func (c *checker) accepted(f *Finding) string {
	if c.used == nil {
		c.used = make([]bool, len(c.options.Accepted))
	}
	for i, a := range c.options.Accepted {
		if (a.Rule == f.Rule || a.Rule == group(f.Rule)) && (a.Name == "" || a.Name == f.Name) {
			c.used[i] = true
			return a.Reason
		}
	}
	return ""
}

// stale reports acceptances that nothing needed.
func (c *checker) stale() {
	for i, a := range c.options.Accepted {
		if c.used == nil || !c.used[i] {
			what := a.Rule
			if a.Name != "" {
				what += "=" + a.Name
			}
			c.add(&item{Item: Item{Kind: Server}, server: &server{Definitions: &Definitions{}, index: 1 << 30}, index: i}, "accepted/stale", "", "nothing needs the acceptance of %s", quoted(what))
		}
	}
}
