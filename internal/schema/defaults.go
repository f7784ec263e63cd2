package schema

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// WithDefaults returns doc with missing members filled in from the schema's
// "default" values. It descends into the objects and array items that doc has,
// through "$ref" and "allOf", but not into conditional subschemas, and it does
// not extend a default that it has filled in. The contents of doc stay as they
// are, byte for byte; added members follow in the order of the schema. If
// nothing changes, the result is doc itself.
func (s *Schema) WithDefaults(doc []byte) ([]byte, error) {
	if !s.fills {
		return doc, nil
	}
	c, err := s.full()
	if err != nil {
		return nil, err
	}
	if c.defaults == nil {
		return doc, nil
	}
	text := doc
	if len(text) == 0 {
		text = []byte("{}")
	}
	f := filler{index: c.defaults, dec: jsontext.NewDecoder(bytes.NewBuffer(text)), steps: maxSteps, room: freeRoom + 2*len(text)}
	if err := f.value([]*jsonschema.Schema{c.root}); err != nil {
		return nil, fmt.Errorf("filling in defaults: %w", syntaxError(err))
	}
	if _, err := f.dec.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errors.New("filling in defaults: more data after the value")
	}
	if len(f.edits) == 0 {
		return doc, nil
	}
	return f.apply(text), nil
}

// filler reads a document alongside the subschemas that apply to it and notes
// what to insert where.
type filler struct {
	index defaultIndex
	dec   *jsontext.Decoder
	edits []edit
	steps int
	room  int // for edits, in bytes
}

// Objects without members are short, and there may be millions: filling them in is
// bounded by the size of the document.
const (
	freeRoom = 1 << 20
	editSize = 32 // of an edit without its text
)

// edit is text to insert at an offset of the document.
type edit struct {
	offset int64
	text   []byte
}

func (f *filler) apply(doc []byte) []byte {
	slices.SortStableFunc(f.edits, func(a, b edit) int { return cmp.Compare(a.offset, b.offset) })
	var out []byte
	var done int64
	for _, e := range f.edits {
		out = append(append(out, doc[done:e.offset]...), e.text...)
		done = e.offset
	}
	return append(out, doc[done:]...)
}

// value reads the next value, to which schemas apply.
func (f *filler) value(schemas []*jsonschema.Schema) error {
	kind := f.dec.PeekKind()
	if len(schemas) == 0 || kind != '{' && kind != '[' {
		return f.dec.SkipValue()
	}
	flat := flatten(schemas)
	if err := f.spend(len(flat)); err != nil {
		return err
	}
	if _, err := f.dec.ReadToken(); err != nil {
		return err
	}
	if kind == '{' {
		return f.object(flat)
	}
	return f.array(flat)
}

func (f *filler) spend(n int) error {
	if f.steps -= n; f.steps < 0 {
		return errors.New("the document is too large for this schema")
	}
	return nil
}

func (f *filler) object(schemas []*jsonschema.Schema) error {
	present := map[string]bool{}
	for f.dec.PeekKind() != '}' {
		tok, err := f.dec.ReadToken()
		if err != nil {
			return err
		}
		name := tok.String()
		present[name] = true
		if err := f.spend(len(schemas)); err != nil {
			return err
		}
		if err := f.value(forMember(schemas, name)); err != nil {
			return err
		}
	}
	if _, err := f.dec.ReadToken(); err != nil {
		return err
	}
	return f.insert(schemas, present)
}

// insert adds the members that the object that was just read lacks, before its
// closing brace.
func (f *filler) insert(schemas []*jsonschema.Schema, present map[string]bool) error {
	var missing []property
	for _, s := range schemas {
		for _, p := range f.index[s] {
			if !present[p.name] {
				missing = append(missing, p)
			}
		}
	}
	slices.SortFunc(missing, func(a, b property) int { return cmp.Compare(a.offset, b.offset) })
	var text []byte
	for _, p := range missing {
		if present[p.name] {
			continue
		}
		if len(present) > 0 {
			text = append(text, ',')
		}
		present[p.name] = true
		text = append(append(appendString(text, p.name), ':'), p.value...)
	}
	if text == nil {
		return nil
	}
	if f.room -= len(text) + editSize; f.room < 0 {
		return errors.New("the document is too large for this schema")
	}
	f.edits = append(f.edits, edit{f.dec.InputOffset() - 1, text})
	return nil
}

func forMember(schemas []*jsonschema.Schema, name string) []*jsonschema.Schema {
	var subs []*jsonschema.Schema
	for _, s := range schemas {
		n := len(subs)
		if sub, ok := s.Properties[name]; ok {
			subs = append(subs, sub)
		}
		for re, sub := range s.PatternProperties {
			if re.MatchString(name) {
				subs = append(subs, sub)
			}
		}
		if more, ok := s.AdditionalProperties.(*jsonschema.Schema); ok && len(subs) == n {
			subs = append(subs, more)
		}
	}
	return subs
}

func (f *filler) array(schemas []*jsonschema.Schema) error {
	for i := 0; f.dec.PeekKind() != ']'; i++ {
		if err := f.spend(len(schemas)); err != nil {
			return err
		}
		if err := f.value(forItem(schemas, i)); err != nil {
			return err
		}
	}
	_, err := f.dec.ReadToken()
	return err
}

func forItem(schemas []*jsonschema.Schema, i int) []*jsonschema.Schema {
	var subs []*jsonschema.Schema
	for _, s := range schemas {
		prefix, rest := s.PrefixItems, s.Items2020
		switch items := s.Items.(type) {
		case *jsonschema.Schema:
			rest = items
		case []*jsonschema.Schema:
			prefix = items
			rest, _ = s.AdditionalItems.(*jsonschema.Schema)
		}
		if i < len(prefix) {
			rest = prefix[i]
		}
		if rest != nil {
			subs = append(subs, rest)
		}
	}
	return subs
}

// flatten returns schemas together with all that they apply unconditionally,
// each once.
func flatten(schemas []*jsonschema.Schema) []*jsonschema.Schema {
	g := graph{seen: map[*jsonschema.Schema]bool{}}
	g.add(schemas...)
	for i := 0; i < len(g.nodes); i++ {
		g.add(g.nodes[i].Ref)
		g.add(g.nodes[i].AllOf...)
	}
	return g.nodes
}
