package lint

import (
	_ "embed" // for the tables
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
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
	pattern   *regexp.Regexp // in texts
}

// Heuristic is the source of rules that are this project's own opinion.
const Heuristic = "heuristic of parley"

// group is the part of an ID before the slash.
func group(id string) string {
	before, _, _ := strings.Cut(id, "/")
	return before
}

var (
	//go:embed rules.tsv
	rulesTable string
	//go:embed vendors.tsv
	vendorsTable string
	//go:embed patterns.tsv
	patternsTable string
)

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
	own, err := readTable("rules.tsv", rulesTable, 6)
	if err != nil {
		return nil, err
	}
	for _, r := range own {
		all = append(all, &Rule{ID: r[0], Severity: Severity(r[1]), Finds: r[2], Mend: r[3], Source: r[4], Date: r[5]})
	}
	texts, err := readTable("patterns.tsv", patternsTable, 5)
	if err != nil {
		return nil, err
	}
	for _, r := range texts {
		p, err := regexp.Compile(r[1])
		if err != nil {
			return nil, fmt.Errorf("patterns.tsv: %s: %w", r[0], err)
		}
		all = append(all, &Rule{
			ID: r[0], Severity: Warning, Finds: "A text that " + r[2] + "; found by a pattern, so look at it.", Mend: "Say what the tool does, and leave orders to the user.",
			Source: r[3], Date: r[4], pattern: p,
		})
	}
	vendors, err := readTable("vendors.tsv", vendorsTable, 11)
	if err != nil {
		return nil, err
	}
	for _, r := range vendors {
		vendor := group(r[0])
		all = append(all, &Rule{
			ID: r[0], Mode: r[1], construct: r[2], limit: r[3], Effect: r[4], Severity: Severity(r[5]), Vendor: vendor,
			Finds: fmt.Sprintf("%s (%s): %s.", vendorNames[vendor], r[1], r[6]), Mend: r[7], Certainty: r[8], Source: r[9], Date: r[10],
		})
	}
	return all, nil
}

var vendorNames = map[string]string{"openai": "OpenAI", "anthropic": "Anthropic", "gemini": "Gemini"}

// readTable reads lines of cells that tabs separate, below a line of titles.
func readTable(name, text string, width int) ([][]string, error) {
	var rows [][]string
	for i, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		cells := strings.Split(line, "\t")
		if len(cells) != width {
			return nil, fmt.Errorf("%s: line %d has %d cells instead of %d", name, i+1, len(cells), width)
		}
		if i > 0 {
			rows = append(rows, cells)
		}
	}
	return rows, nil
}

// defaultModes are those that hosts use unless they are told otherwise.
var defaultModes = []string{"openai/functions", "anthropic/tools", "gemini/functions"}

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
func modesOf(vendors []string) []string {
	if vendors == nil {
		return defaultModes
	}
	var all []string
	for _, v := range vendors {
		for _, mode := range Modes() {
			if v == "all" || v == mode || v == group(mode) && slices.Contains(defaultModes, mode) {
				all = append(all, mode)
			}
		}
	}
	return all
}
