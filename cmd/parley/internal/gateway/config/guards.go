package config

import (
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/audit"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/limit"
)

// Guards say what stands between clients and backends.
type Guards struct {
	// Policy says who may do what; nil is everything.
	Policy *Policy
	// Pins keep definitions from changing unseen; nil is no pins.
	Pins *Pins
	// Approval says what a human must approve; nil is nothing but what policies say.
	Approval *Approval
	// Limits bound what is done.
	Limits []limit.Rule
	// Audit is the log of what is done; nil is none.
	Audit *Audit
	// Scan says what becomes of what models should not read; nil is nothing.
	Scan *Scan
}

func (g *Guards) keys() []key {
	return []key{
		{
			name: "policy", value: maybe[Policy]{&g.Policy, func(into *Policy) value { return object{into} }},
			doc: "Who may do what, by policies in the language Cedar. Without the key, everybody who may use the gateway may do everything.",
		},
		{
			name: "pins", value: maybe[Pins]{&g.Pins, func(into *Pins) value { return object{into} }},
			doc: "Lock what servers say of themselves and of their tools, prompts and resources, and withhold what has changed until somebody has approved it.",
		},
		{
			name: "approval", value: maybe[Approval]{&g.Approval, func(into *Approval) value { return object{into} }},
			doc: "Have a human approve what rules are about, before it is done.",
		},
		{
			name: "limits", value: list[limit.Rule]{&g.Limits, func(into *limit.Rule) value { return checked{object{&limitation{into}}, into.Check} }, 0}, example: "[{by: [principal], rate: 600/m}]",
			doc: "How often, how many at a time, how long and how large. All limits hold that an operation matches.",
		},
		{
			name: "audit", value: maybe[Audit]{&g.Audit, func(into *Audit) value { return object{into} }},
			doc: "Keep a log of what is done: a line of JSON for each operation, also for those that are refused.",
		},
		{
			name: "scan", value: maybe[Scan]{&g.Scan, func(into *Scan) value { return object{into} }},
			doc: "Look at what servers say for what models should not read: hidden characters, instructions, names of other servers' tools, secrets.",
		},
	}
}

// Pins keep definitions from changing unseen.
type Pins struct {
	ApproveAll, WarnOnly, IgnoreCards bool

	file Text
}

func (p *Pins) keys() []key {
	return []key{
		{
			name: "file", required: true, value: secret{&p.file, notEmpty}, example: "pins.json",
			doc: `Where they are kept. "parley gateway pins" shows and approves them.`,
		},
		{
			name: "first_sight", value: choice[bool]{&p.ApproveAll, []option[bool]{{"trust", false}, {"approve", true}}},
			doc: "What becomes of a definition that is seen for the first time: it is trusted, or somebody must approve it, too.",
		},
		{
			name: "warn_only", value: boolean{&p.WarnOnly},
			doc: "Only log what would be withheld.",
		},
		{
			name: "cards", value: choice[bool]{&p.IgnoreCards, []option[bool]{{"pin", false}, {"ignore", true}}},
			doc: "Whether the server cards of servers at URLs are pinned, which are read without credentials after each connection.",
		},
	}
}

// Path is that of the file.
func (p *Pins) Path() (string, error) { return p.file.Path() }

// limitation is the section of a rule of limits.
type limitation struct{ *limit.Rule }

func (l *limitation) keys() []key {
	return []key{
		{
			name: "by", value: list[limit.Dimension]{&l.By, dimension, 1}, example: "[principal, subject]",
			doc: "What is counted apart: each principal, backend, method or subject, which is a tool, prompt or resource. Without the key, all count together.",
		},
		{name: "backend", value: word{&l.Backend, notEmpty}, example: "shop", doc: "A pattern of the backends that it is about."},
		{name: "subject", value: word{&l.Subject, notEmpty}, example: `"pay*"`, doc: "A pattern of the tools, prompts or URIs that it is about, as the backend names them."},
		{name: "method", value: word{&l.Method, notEmpty}, example: "tools/call", doc: "A pattern of the methods that it is about. Lists of what all backends have, such as tools/list, and tasks/list count only where it is given, and neither backend nor subject is."},
		{name: "rate", value: frequency{&l.Rate}, example: "600/m", doc: "How many operations there may be in a time, on average."},
		{name: "burst", with: "rate", value: number{&l.Burst, 0, 0, 1_000_000}, example: "50", doc: "How many there may be at once; 0 is a second's worth."},
		{name: "concurrent", value: number{&l.Concurrent, 0, 0, 1_000_000}, example: "16", doc: "How many may be served at a time; 0 is no limit."},
		{name: "time", value: period{&l.Time, 0, 0, maxTime}, example: "5m", doc: "How long an operation may take; 0 is no limit."},
		{name: "result", value: size{&l.ResultBytes, 0, 0, 1 << 40}, example: "4MiB", doc: "How large a result may be; 0 is no limit."},
		{
			name: "over", with: "result", value: choice[bool]{&l.Cut, []option[bool]{{"refuse", false}, {"cut", true}}},
			example: "cut", doc: "What becomes of a larger one: it is refused, or its texts are cut, with a note.",
		},
	}
}

func dimension(into *limit.Dimension) value {
	var options []option[limit.Dimension]
	for _, d := range limit.Dimensions() {
		options = append(options, option[limit.Dimension]{string(d), d})
	}
	return choice[limit.Dimension]{into, options}
}

// Audit is the log of what is done.
type Audit struct {
	Level               audit.Level
	MaxMiB              int
	KeepFiles, KeepDays int
	Required            bool

	file   Text
	levels []backendLevel
}

type backendLevel struct {
	backend string
	level   audit.Level
}

func (a *Audit) keys() []key {
	return []key{
		{name: "file", required: true, value: secret{&a.file, notEmpty}, example: "audit.jsonl", doc: "The file. Earlier ones stand beside it, with the time in their names."},
		{
			name: "level", value: level(&a.Level),
			doc: "What is kept: who did what, when, how long and how it ended; also params and results, without what looks like a secret; all as it was; or nothing.",
		},
		{
			name: "backends", value: table[backendLevel]{&a.levels, func(name string, into *backendLevel) value {
				into.backend = name
				return level(&into.level)
			}, "NAME", backendName}, example: "{shop: full}",
			doc: "Other levels for some backends.",
		},
		{name: "max_mib", value: number{&a.MaxMiB, 100, 1, 100_000}, doc: "How many MiB a file has at most, before another is begun."},
		{name: "keep_files", value: number{&a.KeepFiles, 0, 0, 100_000}, doc: "How many earlier files are kept; 0 is all."},
		{name: "keep_days", value: number{&a.KeepDays, 0, 0, 100_000}, doc: "For how many days earlier files are kept; 0 is for ever."},
		{
			name: "when_full", value: choice[bool]{&a.Required, []option[bool]{{"go_on", false}, {"refuse", true}}},
			doc: "What happens while the log cannot be written, because the disk is full, for example: the gateway goes on without it, or refuses all operations.",
		},
	}
}

func level(into *audit.Level) value {
	return choice[audit.Level]{into, []option[audit.Level]{
		{"metadata", audit.Metadata}, {"redacted", audit.Redacted}, {"full", audit.Full}, {"none", audit.None},
	}}
}

// Path is that of the file.
func (a *Audit) Path() (string, error) { return a.file.Path() }

// Levels are those of single backends.
func (a *Audit) Levels() map[string]audit.Level {
	levels := make(map[string]audit.Level, len(a.levels))
	for _, l := range a.levels {
		levels[l.backend] = l.level
	}
	return levels
}
