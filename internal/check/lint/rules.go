package lint

import (
	_ "embed" // for the tables
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/parley-mcp/parley/internal/texts"
	"github.com/parley-mcp/parley/internal/tsv"
	"github.com/parley-mcp/parley/internal/vendors"
)

// Severity is how much a finding matters.
type Severity string

// The severities.
const (
	// Error: a MUST is broken, or the definition can't be used, or does harm.
	Error Severity = "error"
	// Warning: a SHOULD is broken, or somebody is likely to be misled.
	Warning Severity = "warning"
	// Note: worth knowing.
	Note Severity = "note"
)

func (s Severity) rank() int { return slices.Index([]Severity{Note, Warning, Error}, s) }

// Rule is one thing that is looked for.
type Rule struct {
	// ID is a group and a name, such as names/length.
	ID       string   `json:"rule"`
	Severity Severity `json:"severity"`
	// Finds says what it finds, in one sentence.
	Finds string `json:"finds"`
	// Mend says what to do about it.
	Mend string `json:"mend"`
	// Source is a page of the specification, the URL of whoever says so, or Heuristic.
	Source string `json:"source"`
	// Date is when the source said so or, if it does not say, when it was read.
	Date string `json:"date,omitzero"`
	// Vendor and Mode are set for what a vendor of models refuses or ignores.
	Vendor string `json:"vendor,omitzero"`
	Mode   string `json:"mode,omitzero"`
	// Effect is what the vendor does: refused, ignored or limited.
	Effect string `json:"effect,omitzero"`
	// Certainty is documented, reported or uncertain.
	Certainty string `json:"certainty,omitzero"`

	construct string         // of a vendor: what is looked for
	limit     string         // its bound, list or pattern
	pattern   *texts.Pattern // in texts
}

// Heuristic is the source of rules that are this project's own opinion.
const Heuristic = "heuristic of parley"

// group is the part of an ID before the slash.
func group(id string) string {
	before, _, _ := strings.Cut(id, "/")
	return before
}

//go:embed rules.tsv
var rulesTable string

var rules = sync.OnceValue(func() []*Rule {
	all, err := readRules()
	if err != nil {
		panic("lint: " + err.Error()) // a test reads them
	}
	return all
})

var ruleIndex = sync.OnceValue(func() map[string]*Rule {
	m := map[string]*Rule{}
	for _, r := range rules() {
		m[r.ID] = r
	}
	return m
})

// Rules returns all rules, in the order of their groups.
func Rules() []*Rule { return slices.Clone(rules()) }

// Known reports whether text names a rule or a group of rules.
func Known(text string) bool {
	return slices.ContainsFunc(rules(), func(r *Rule) bool { return r.ID == text || group(r.ID) == text })
}

func readRules() ([]*Rule, error) {
	var all []*Rule
	own, err := tsv.Read("rules.tsv", rulesTable, 6)
	if err != nil {
		return nil, err
	}
	for _, r := range own {
		all = append(all, &Rule{ID: r[0], Severity: Severity(r[1]), Finds: r[2], Mend: r[3], Source: r[4], Date: r[5]})
	}
	for _, p := range texts.Patterns() {
		all = append(all, &Rule{
			ID: p.ID, Severity: Warning, Finds: "A text that " + p.Says + "; found by a pattern, so look at it.", Mend: "Say what the tool does, and leave orders to the user.",
			Source: p.Source, Date: p.Date, pattern: p,
		})
	}
	for _, r := range vendors.Rules() {
		all = append(all, &Rule{
			ID: r.ID, Mode: r.Mode, construct: r.Construct, limit: r.Limit, Effect: r.Effect, Severity: Severity(r.Severity), Vendor: r.Vendor,
			Finds: fmt.Sprintf("%s (%s): %s.", vendors.Names()[r.Vendor], r.Mode, r.Says), Mend: r.Mend, Certainty: r.Certainty, Source: r.Source, Date: r.Date,
		})
	}
	return all, nil
}

// Modes returns what Options.Vendors may have, besides the vendors and "all".
func Modes() []string {
	var all []string
	for _, r := range rules() {
		if mode := r.Vendor + "/" + r.Mode; r.Vendor != "" && !slices.Contains(all, mode) {
			all = append(all, mode)
		}
	}
	return all
}

// Vendors returns the vendors whose rules are known.
func Vendors() []string { return []string{"openai", "anthropic", "gemini"} }

// modesOf returns the modes that apply.
func modesOf(chosen []string) []string {
	if chosen == nil {
		return vendors.Defaults()
	}
	var all []string
	for _, v := range chosen {
		for _, mode := range Modes() {
			if v == "all" || v == mode || v == group(mode) && slices.Contains(vendors.Defaults(), mode) {
				all = append(all, mode)
			}
		}
	}
	return all
}
