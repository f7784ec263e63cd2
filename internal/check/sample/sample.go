// Package sample makes values that fit a JSON Schema, and values that break it in
// one known way: arguments for tools, answers to forms. The same schema always
// gives the same value. What a schema can't say, people can: see [Examples].
package sample

import (
	"encoding/json"
	"fmt"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/parley-mcp/parley/internal/schema"
)

// Maker makes values of one schema. It is safe for concurrent use.
type Maker struct {
	root   *jsonschema.Schema
	mended bool
}

// New reads a schema. One that has mistakes is used without the parts that are
// mistaken, as far as that is possible; see [Maker.Mended].
func New(text json.RawMessage) (*Maker, error) {
	compiled, err := schema.Compile(text)
	if err == nil {
		root, err := compiled.Compiled()
		return &Maker{root: root}, err
	}
	better, ok := mend(text)
	if !ok {
		return nil, err
	}
	if compiled, again := schema.Compile(better); again == nil {
		if root, again := compiled.Compiled(); again == nil {
			return &Maker{root: root, mended: true}, nil
		}
	}
	return nil, err
}

// Mended reports whether parts of the schema were mistaken. Values fit the rest.
func (m *Maker) Mended() bool { return m.mended }

// Error says which member could not be made.
type Error struct {
	// Pointer is the JSON pointer of the member, "" for the value as a whole.
	Pointer string
	// Reason says why, without a subject.
	Reason string

	tooDeep bool // it may be possible with more levels
}

// Error names the member and the reason.
func (e *Error) Error() string {
	if e.Pointer == "" {
		return "no value could be made: " + e.Reason
	}
	return fmt.Sprintf("no value could be made for %q: %s", e.Pointer, e.Reason)
}

// Value returns a value that the schema accepts: what the schema has as examples,
// default, const or enum if it can, and otherwise something within its bounds.
// Members that are not required are left out unless all is set; even then one
// that can't be made is left out. The error is an [*Error].
func (m *Maker) Value(all bool) (json.RawMessage, error) {
	var first *Error
	for depth := 3; depth <= 24; depth *= 2 {
		w := worker{tries: maxTries, all: all, deepest: depth}
		v, err := w.value([]*jsonschema.Schema{m.root}, "", 0, nil)
		if err == nil {
			return v, nil
		}
		if first == nil || !err.tooDeep {
			first = err
		}
	}
	return nil, first
}

// accepts reports whether the whole schema accepts a value.
func (m *Maker) accepts(v []byte) bool { return schema.Accepts(m.root, v, maxSteps) }

// Bounds of the work for one value, which a schema from anywhere may ask for.
const (
	maxTries  = 2000   // values that are validated
	maxSteps  = 20_000 // of one validation
	maxForms  = 24     // combinations of alternatives
	maxItems  = 64
	maxLength = 1 << 16 // of a string
	maxSize   = 1 << 20 // bytes of a value
)

// worker makes one value.
type worker struct {
	tries   int
	all     bool
	deepest int // how deep containers may be in each other
}

// value makes a value that all of several schemas accept, other than those to
// avoid.
func (w *worker) value(all []*jsonschema.Schema, at string, depth int, avoid map[string]bool) (json.RawMessage, *Error) {
	if depth > w.deepest {
		return nil, &Error{at, fmt.Sprintf("the schema goes on for more than %d levels", w.deepest), true}
	}
	t := target{worker: w, all: all, at: at, depth: depth, avoid: avoid}
	for plain := range forms(all) {
		t.plain = plain
		for candidate := range t.candidates {
			if avoid[string(candidate)] {
				continue
			}
			if w.tries--; w.tries < 0 {
				return nil, &Error{Pointer: at, Reason: "the schema is too intricate"}
			}
			if len(candidate) <= maxSize && t.fits(candidate) {
				return candidate, nil
			}
		}
	}
	if t.inner != nil {
		return nil, t.inner
	}
	return nil, &Error{Pointer: at, Reason: t.reason()}
}

// target is a place in the value.
type target struct {
	*worker
	all   []*jsonschema.Schema // what has to accept the value
	plain []*jsonschema.Schema // one form of that, without alternatives
	at    string
	depth int
	avoid map[string]bool
	inner *Error // the first thing in it that could not be made
}

func (t *target) fits(candidate []byte) bool {
	for _, s := range t.all {
		if !schema.Accepts(s, candidate, maxSteps) {
			return false
		}
	}
	return true
}

// reason says why nothing was found.
func (t *target) reason() string {
	for _, s := range t.plain {
		if s.Pattern != nil {
			return fmt.Sprintf("no text was found that matches the pattern %q", s.Pattern.String())
		}
	}
	for _, s := range t.plain {
		if s.Format != nil {
			return fmt.Sprintf("no text was found that has the format %q and fits otherwise", s.Format.Name)
		}
	}
	return "nothing was found that the schema accepts"
}

// candidates yields values that may fit, the best first.
func (t *target) candidates(yield func(json.RawMessage) bool) {
	for _, v := range t.given() {
		if text, err := json.Marshal(v); err == nil && !yield(text) {
			return
		}
	}
	for _, kind := range kinds(t.plain, t.depth) {
		more := true
		next := func(v json.RawMessage) bool {
			more = v == nil || yield(v)
			return more
		}
		switch kind {
		case "object":
			t.objects(next)
		case "array":
			t.arrays(next)
		case "string":
			t.strings(next)
		case "integer", "number":
			t.numbers(kind == "integer", next)
		case "boolean":
			_ = next([]byte("false")) && next([]byte("true"))
		case "null":
			next([]byte("null"))
		}
		if !more {
			return
		}
	}
}

// given returns the values that the schema itself names.
func (t *target) given() []any {
	var examples, defaults, values []any
	for _, s := range t.plain {
		examples = append(examples, s.Examples...)
		if s.Default != nil {
			defaults = append(defaults, *s.Default)
		}
		if s.Const != nil {
			values = append(values, *s.Const)
		}
		if s.Enum != nil {
			values = append(values, s.Enum.Values...)
		}
	}
	return append(append(examples, defaults...), values...)
}

// Answer returns what a user might fill into a form: the content of an
// elicitation that is accepted, with all members that can be made.
//
// Spec: 2025-06-18 client/elicitation#requested-schema.
func Answer(form json.RawMessage) (json.RawMessage, error) {
	m, err := New(form)
	if err != nil {
		return nil, err
	}
	return m.Value(true)
}
