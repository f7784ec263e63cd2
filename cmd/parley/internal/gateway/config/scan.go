package config

import "github.com/parley-mcp/parley/cmd/parley/internal/gateway/scan"

// Scan says what becomes of what models should not read.
type Scan struct {
	// Except are the exceptions, the first of which holds.
	Except []scan.Exception

	definitions, results scanned
}

// scanned are the actions for one place.
type scanned struct {
	hidden, instructions, shadowing, secrets scan.Action
}

func (s *Scan) keys() []key {
	return []key{
		{
			name: "definitions", value: object{&definitionActions{&s.definitions}},
			doc: "What servers say of their tools, prompts and resources, and their instructions.",
		},
		{
			name: "results", value: object{&resultActions{&s.results}},
			doc: "What comes of calls: results, errors, questions and progress.",
		},
		{
			name: "except", value: list[scan.Exception]{&s.Except, func(into *scan.Exception) value { return object{&exception{into}} }, 0},
			example: `[{backend: vault, subject: "read_*", kinds: [secrets], action: off}]`,
			doc:     "Exceptions. The first that fits holds.",
		},
	}
}

// Actions are those of definitions and of results.
func (s *Scan) Actions() (definitions, results scan.Actions) {
	return s.definitions.actions(), s.results.actions()
}

func (s *scanned) actions() scan.Actions {
	all := scan.Actions{}
	for kind, action := range map[scan.Kind]scan.Action{scan.Hidden: s.hidden, scan.Instructions: s.instructions, scan.Shadowing: s.shadowing, scan.Secrets: s.secrets} {
		if action != "" {
			all[kind] = action
		}
	}
	return all
}

// action is one of some actions, of which the first is the default.
func action(into *scan.Action, list ...scan.Action) value {
	var options []option[scan.Action]
	for _, a := range list {
		options = append(options, option[scan.Action]{string(a), a})
	}
	return choice[scan.Action]{into, options}
}

const (
	hiddenDoc       = "Characters that nobody sees and models read: the tags block, what turns text around, what has no width, selectors that vary nothing."
	instructionsDoc = "Sentences that give a model orders; they are found by patterns, so some are harmless."
	secretsDoc      = "Keys and tokens of known forms, private keys, and values drawn by lot that stand beside a word such as password."
)

// definitionActions are the keys of definitions.
type definitionActions struct{ *scanned }

func (s *definitionActions) keys() []key {
	return []key{
		{name: "hidden", value: action(&s.hidden, scan.Redact, scan.Log, scan.Block, scan.Off), doc: hiddenDoc + " Where they are part of a name, redact withholds the definition."},
		{name: "instructions", value: action(&s.instructions, scan.Log, scan.Block, scan.Off), doc: instructionsDoc},
		{name: "shadowing", value: action(&s.shadowing, scan.Log, scan.Block, scan.Off), doc: "A tool that speaks of those of another backend, or has a name that looks like one of them."},
		{name: "secrets", value: action(&s.secrets, scan.Log, scan.Redact, scan.Block, scan.Off), doc: secretsDoc},
	}
}

// resultActions are the keys of results.
type resultActions struct{ *scanned }

func (s *resultActions) keys() []key {
	return []key{
		{name: "hidden", value: action(&s.hidden, scan.Log, scan.Redact, scan.Block, scan.Off), doc: hiddenDoc},
		{name: "instructions", value: action(&s.instructions, scan.Log, scan.Block, scan.Off), doc: instructionsDoc},
		{name: "secrets", value: action(&s.secrets, scan.Log, scan.Redact, scan.Block, scan.Off), doc: secretsDoc},
	}
}

// exception is the section of an exception.
type exception struct{ *scan.Exception }

func (e *exception) keys() []key {
	return []key{
		{name: "backend", value: word{&e.Backend, notEmpty}, example: "vault", doc: "A pattern of the backends that it is about."},
		{name: "subject", value: word{&e.Subject, notEmpty}, example: `"read_*"`, doc: "A pattern of the tools, prompts or URIs that it is about, as the backend names them."},
		{name: "kinds", value: list[scan.Kind]{&e.Kinds, scanKind, 1}, example: "[secrets]", doc: "What it is about; without the key, everything."},
		{name: "action", value: action(&e.Action, scan.Off, scan.Log, scan.Redact, scan.Block), example: "log", doc: "What is done there. Instructions and shadowing that are to be redacted are only logged."},
	}
}

func scanKind(into *scan.Kind) value {
	var options []option[scan.Kind]
	for _, k := range scan.Kinds() {
		options = append(options, option[scan.Kind]{string(k), k})
	}
	return choice[scan.Kind]{into, options}
}
