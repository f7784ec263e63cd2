// Package lint judges definitions: what a server says of its tools, prompts and
// resources, before anybody calls one. It finds what a specification forbids, what
// the vendors of models refuse or ignore, what misleads a model or a person, and
// what a model should not be told.
//
// Its rules are data: rules.tsv, the table of package vendors (what a vendor refuses) and
// those of package texts (sentences that give a model orders, secrets). Each has a source, and a date
// if it is not this project's own. Whatever it reads may be hostile: work, depth
// and the number of findings are bounded, and what is quoted is cut and escaped.
package lint

import (
	"cmp"
	"encoding/json"
	"slices"
)

// Kind is what a definition defines.
type Kind string

// The kinds.
const (
	Tool     Kind = "tool"
	Prompt   Kind = "prompt"
	Resource Kind = "resource"
	Template Kind = "template"
	Server   Kind = "server"   // what a server says of itself
	Card     Kind = "card"     // a server card
	Manifest Kind = "manifest" // a server.json of the registry
)

// Definitions are those of one server.
type Definitions struct {
	// Server is the name that a configuration gives it, or its own, or "".
	Server string
	// File is where the definitions were read from, or "" for a running server.
	File string
	// Instructions are what the server tells a model in each conversation.
	Instructions string
	// Items are the definitions, as they came, in their order.
	Items []Item
	// Card and Manifest are documents about the server, or nil.
	Card, Manifest json.RawMessage

	doc []byte // the file
}

// Item is one definition.
type Item struct {
	Kind Kind
	// Pointer is the JSON pointer to it in the document that it was read from.
	Pointer string
	Raw     json.RawMessage
}

// Options are what to look at. The zero value is the default.
type Options struct {
	// Vendors are those whose rules apply, as vendor or vendor/mode, such as "openai"
	// or "openai/strict"; "all" has every mode. Nil means the three vendors, each in
	// the mode that hosts use by default.
	Vendors []string
	// Rules are the only ones to apply, as RULE or RULE=NAME, where RULE is an ID or a
	// group ("names") and NAME that of a definition; nil means all.
	Rules []string
	// Ignore are rules to leave out, in the same form.
	Ignore []string
	// Accepted are findings that somebody has accepted.
	Accepted []Acceptance
	// MaxTokens is what the tools of one server may cost in all; 0 means any number.
	MaxTokens int
	// MaxToolTokens is what one tool may cost; 0 means 1500, less than 0 any number.
	MaxToolTokens int
	// Strict counts warnings as errors.
	Strict bool
}

// Finding is one thing that is wrong, or may be.
type Finding struct {
	Rule     string   `json:"rule"`
	Severity Severity `json:"severity"`
	Server   string   `json:"server,omitzero"`
	File     string   `json:"file,omitzero"`
	Kind     Kind     `json:"kind"`
	Name     string   `json:"name,omitzero"`
	// Pointer is the JSON pointer of the place, in the list of a server or in the file.
	Pointer string `json:"pointer"`
	// Line is where that is in the file, from 1; 0 if it is not known.
	Line int `json:"line,omitzero"`
	// More is how many further places of the same definition have it too.
	More int    `json:"more,omitzero"`
	Text string `json:"text"`
	Mend string `json:"mend"`
	// Source says who wants it, and Date when they said so or it was read there.
	Source string `json:"source"`
	Date   string `json:"date,omitzero"`
	// Accepted is why somebody has accepted it; such a finding does not count.
	Accepted string `json:"accepted,omitzero"`
}

// Report is what was found.
type Report struct {
	Servers  []Summary `json:"servers"`
	Findings []Finding `json:"findings"`
	Errors   int       `json:"errors"`
	Warnings int       `json:"warnings"`
	Notes    int       `json:"notes"`
	Accepted int       `json:"accepted"`
	// Omitted is how many findings were left out because there were too many.
	Omitted int `json:"omitted,omitzero"`
}

// OK reports whether nothing was found that counts as an error.
func (r *Report) OK() bool { return r.Errors == 0 }

// Summary is what a server defines and costs.
type Summary struct {
	Server    string       `json:"server,omitzero"`
	File      string       `json:"file,omitzero"`
	Tools     int          `json:"tools"`
	Prompts   int          `json:"prompts"`
	Resources int          `json:"resources"`
	Templates int          `json:"templates"`
	Tokens    int          `json:"tokens"` // of the tools, estimated
	Costs     []ToolTokens `json:"costs,omitzero"`
}

// ToolTokens is what one tool costs.
type ToolTokens struct {
	Name   string `json:"name"`
	Tokens int    `json:"tokens"`
}

// Bounds on what is looked at.
const (
	maxItems    = 10_000  // definitions of one server
	maxItem     = 1 << 20 // bytes of one definition
	maxFindings = 5_000   // in a report
	maxPerRule  = 200     // findings of one rule in one server
)

// Run judges the definitions of one or several servers that a host would use
// together. The findings are in the order of the servers, then of the definitions.
func Run(servers []Definitions, o *Options) *Report {
	if o == nil {
		o = &Options{}
	}
	c := &checker{options: o, modes: modesOf(o.Vendors)}
	var all []*server
	for i := range servers {
		all = append(all, c.newServer(i, &servers[i]))
	}
	for _, s := range all {
		c.server(s)
	}
	c.across(all)
	c.stale()
	c.number(all)
	return c.report(all)
}

func (c *checker) report(all []*server) *Report {
	r := &Report{Servers: []Summary{}, Findings: []Finding{}, Omitted: c.omitted}
	for _, s := range all {
		r.Servers = append(r.Servers, s.summary)
	}
	slices.SortStableFunc(c.found, func(a, b placed) int {
		return cmp.Or(cmp.Compare(a.server, b.server), cmp.Compare(a.item, b.item), cmp.Compare(b.Severity.rank(), a.Severity.rank()), cmp.Compare(a.Rule, b.Rule))
	})
	for _, f := range c.found {
		switch {
		case f.Accepted != "":
			r.Accepted++
		case f.Severity == Error || f.Severity == Warning && c.options.Strict:
			f.Severity = Error
			r.Errors++
		case f.Severity == Warning:
			r.Warnings++
		default:
			r.Notes++
		}
		r.Findings = append(r.Findings, f.Finding)
	}
	return r
}
