package scan

import (
	"fmt"
	"sync"
	"unicode/utf8"

	"github.com/parley-mcp/parley/internal/texts"
)

// Kind is a kind of what is looked for.
type Kind string

// The kinds.
const (
	// Hidden are characters that nobody sees and models read.
	Hidden Kind = "hidden"
	// Instructions are sentences that give a model orders.
	Instructions Kind = "instructions"
	// Shadowing is what a server says of the tools of another one, and names that look like
	// those of another one.
	Shadowing Kind = "shadowing"
	// Secrets are keys and tokens.
	Secrets Kind = "secrets"
)

// Kinds returns all kinds.
func Kinds() []Kind { return []Kind{Hidden, Instructions, Shadowing, Secrets} }

// Action is what is done when something is found.
type Action string

// The actions.
const (
	// Off does not look for it.
	Off Action = "off"
	// Log only tells of it.
	Log Action = "log"
	// Redact takes it out: characters go, and a marker stands for a secret.
	Redact Action = "redact"
	// Block withholds the definition, or the result, that has it.
	Block Action = "block"
)

// Actions are what is done with each kind. A kind that is not there is off.
type Actions map[Kind]Action

func kindOf(k texts.Kind) Kind {
	switch k {
	case texts.Instructions:
		return Instructions
	case texts.Secrets:
		return Secrets
	case texts.Hidden:
	}
	return Hidden
}

// ofTexts are the kinds that texts have by themselves.
var ofTexts = map[Kind]texts.Kind{Hidden: texts.Hidden, Instructions: texts.Instructions, Secrets: texts.Secrets}

// rules are what is looked for in a place.
type rules struct {
	actions Actions
	look    texts.Set
}

func newRules(actions Actions) *rules {
	r := &rules{actions: Actions{}}
	for kind, action := range actions {
		if of, ok := ofTexts[kind]; ok && action != Off {
			r.look |= texts.SetOf(of)
		}
		if action == Redact && (kind == Instructions || kind == Shadowing) {
			action = Log // there is nothing to take out of a sentence
		}
		r.actions[kind] = action
	}
	return r
}

// block reports whether anything is blocked.
func (r *rules) block() bool {
	for _, action := range r.actions {
		if action == Block {
			return true
		}
	}
	return false
}

// counts reports whether a finding is one in its place. What programs print has colours and
// form feeds, and fonts of icons have characters of their own.
func (r *rules) counts(place texts.Place, f texts.Finding) bool {
	if f.Kind != texts.Hidden || place == texts.Definition {
		return f.Rule != string(texts.Private)
	}
	switch texts.Character(f.Rule) {
	case texts.Escape, texts.Control, texts.Private:
		return false
	case texts.Tags, texts.Direction, texts.Invisible, texts.Selectors:
	}
	return true
}

// mark is what stands where something was.
func mark(f texts.Finding, text []byte, isName bool) string {
	part := text[f.Begin:f.End]
	switch {
	case f.Kind == texts.Secrets:
		return fmt.Sprintf("[%s removed, fingerprint %s]", saysOf(f.Rule), texts.Fingerprint(part))
	case isName: // two names could become the same
		r, _ := utf8.DecodeRune(part)
		return fmt.Sprintf("[U+%04X]", r)
	}
	return ""
}

// shown is what the log may show of the first of what was found, which from begins with.
func shown(f texts.Finding, from []byte) string {
	part := from[:f.End-f.Begin]
	switch f.Kind {
	case texts.Secrets:
		return "fingerprint " + texts.Fingerprint(part)
	case texts.Instructions:
		const most = 100
		return fmt.Sprintf("%+.*q", most, part)
	case texts.Hidden:
	}
	r, _ := utf8.DecodeRune(part)
	if hides := texts.Smuggled(from); len(hides) > 1 {
		return fmt.Sprintf("U+%04X, which hides %+q", r, hides)
	}
	return fmt.Sprintf("U+%04X", r)
}

// says are what was found, in words, by the rule. The patterns are compiled for it, which
// takes more than a megabyte: a gateway in which nothing is found does without.
var says = sync.OnceValue(func() map[string]string {
	all := map[string]string{
		string(texts.Tags): "hidden characters of the tags block", string(texts.Direction): "characters that turn text around",
		string(texts.Invisible): "characters without width", string(texts.Selectors): "variation selectors that vary nothing",
		string(texts.Control): "control characters", string(texts.Escape): "escape sequences of terminals",
	}
	for _, p := range texts.Patterns() {
		all[p.ID] = "a text that " + p.Says
	}
	for _, s := range texts.SecretForms() {
		all[s.ID] = s.Says
	}
	return all
})

func saysOf(rule string) string { return says()[rule] }
