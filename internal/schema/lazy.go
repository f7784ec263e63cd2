package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/parley-mcp/parley/internal/wire"
)

// The evaluator reads a document as it goes: decoded at once, a document could take
// thirty times its size, and most of one that is refused is not looked at.

// object is an object of the document. Its members are found when somebody asks,
// and forgotten by evaluator.forget.
type object struct {
	raw     []byte
	members map[string]json.RawMessage
}

// array is an array of the document.
type array struct{ raw []byte }

// maxHeld bounds the members that are held at a time, in all objects around a value.
const maxHeld = 200_000

// bytesPerStep is how much text may be read for one step.
const bytesPerStep = 256

// check returns why a document is not one JSON value without duplicate names.
func check(doc []byte) error {
	dec := jsontext.NewDecoder(bytes.NewBuffer(doc))
	if _, err := dec.ReadValue(); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return syntaxError(err)
	}
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return errors.New("more data after the value")
	}
	return nil
}

// open returns a value of the document, which is known to be valid JSON. A container
// keeps its text.
func (e *evaluator) open(raw []byte) any {
	s := wire.Skim(raw)
	switch kind := s.Next(); kind {
	case '{':
		return &object{raw: raw}
	case '[':
		return &array{raw}
	case '"':
		text, _ := wire.Text(s.Skip())
		return text
	case 't', 'f':
		return kind == 't'
	case 'n', 0:
		return nil
	}
	n := string(s.Skip())
	if err := checkNumber(n); err != nil && e.fault == nil {
		e.fault, e.exhausted = err, true
	}
	return json.Number(n)
}

// membersOf returns the members of an object.
func (e *evaluator) membersOf(o *object) map[string]json.RawMessage {
	if o.members != nil {
		return o.members
	}
	o.members = map[string]json.RawMessage{}
	if !e.spend(len(o.raw) / bytesPerStep) {
		return o.members
	}
	for name, value := range wire.Each(o.raw) {
		if e.held++; e.held > maxHeld {
			e.exhausted = true
			break
		}
		o.members[string(name)] = value
	}
	return o.members
}

// forget releases what was read of a value.
func (e *evaluator) forget(v any) {
	if o, ok := v.(*object); ok {
		e.held -= len(o.members)
		o.members = nil
	}
}

// evalAt is eval for a part of the document.
func (e *evaluator) evalAt(s *jsonschema.Schema, raw []byte, at *path, out *report) bool {
	v := e.open(raw)
	defer e.forget(v)
	return e.eval(s, v, at, out, nil)
}

// itemsOf returns the items of an array with their indexes.
func (e *evaluator) itemsOf(a *array) iter.Seq2[int, json.RawMessage] {
	return func(yield func(int, json.RawMessage) bool) {
		if !e.spend(len(a.raw) / bytesPerStep) {
			return
		}
		s := wire.Skim(a.raw)
		s.Next()
		s.Enter()
		for i := 0; !s.Leave(); i++ {
			if !yield(i, s.Skip()) {
				return
			}
		}
	}
}

func (e *evaluator) lenOf(a *array) int {
	n := 0
	for range e.itemsOf(a) {
		n++
	}
	return n
}

func sortedNames[V any](members map[string]V) []string { return slices.Sorted(maps.Keys(members)) }
