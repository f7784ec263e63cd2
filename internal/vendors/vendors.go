// Package vendors knows what the vendors of models refuse or ignore of the definitions of
// tools: a table with who says so. What refuses and what adapts definitions go by it.
package vendors

import (
	_ "embed" // for the table
	"slices"
	"strings"
	"sync"

	"github.com/parley-mcp/parley/internal/tsv"
)

// Rule is one thing that a vendor does not take.
type Rule struct {
	// ID is the vendor and a name, such as openai/root.
	ID, Vendor string
	// Mode is how a host uses the vendor's models.
	Mode string
	// Construct is what the rule looks at, and Limit its bound, list or pattern.
	Construct, Limit string
	// Effect is what the vendor does: refused, ignored or limited.
	Effect string
	// Severity is how much that matters to who writes a definition.
	Severity string
	// Says is what the vendor wants, and Mend what to do about it.
	Says, Mend string
	// Certainty is documented, reported or uncertain.
	Certainty    string
	Source, Date string
}

// List returns the words of a limit that is a list.
func (r *Rule) List() []string { return strings.Split(r.Limit, ",") }

//go:embed vendors.tsv
var table string

// Rules returns all rules, in the order of the table. They must not be changed.
var Rules = sync.OnceValue(func() []Rule {
	all, err := read()
	if err != nil {
		panic("vendors: " + err.Error()) // a test reads them
	}
	return all
})

func read() ([]Rule, error) {
	const width = 11
	rows, err := tsv.Read("vendors.tsv", table, width)
	if err != nil {
		return nil, err
	}
	all := make([]Rule, 0, len(rows))
	for _, r := range rows {
		vendor, _, _ := strings.Cut(r[0], "/")
		all = append(all, Rule{
			ID: r[0], Vendor: vendor, Mode: r[1], Construct: r[2], Limit: r[3], Effect: r[4], Severity: r[5],
			Says: r[6], Mend: r[7], Certainty: r[8], Source: r[9], Date: r[10],
		})
	}
	return all, nil
}

// Names are the vendors and what they are called.
func Names() map[string]string {
	return map[string]string{"openai": "OpenAI", "anthropic": "Anthropic", "gemini": "Gemini"}
}

// Defaults are the modes that hosts use unless they are told otherwise, as VENDOR/MODE.
func Defaults() []string { return []string{"openai/functions", "anthropic/tools", "gemini/functions"} }

// Of returns the rules of a mode, as VENDOR/MODE.
func Of(mode string) []Rule {
	return slices.DeleteFunc(slices.Clone(Rules()), func(r Rule) bool { return r.Vendor+"/"+r.Mode != mode })
}
