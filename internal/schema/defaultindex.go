package schema

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/url"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// defaultIndex holds, for each subschema, its properties that have a default.
type defaultIndex map[*jsonschema.Schema][]property

// property is a property that has a default.
type property struct {
	name   string
	value  jsontext.Value // as the schema writes it
	offset int64          // where the schema declares the property
}

// indexDefaults returns nil if no property in g has a default.
func indexDefaults(raw []byte, g *graph) (defaultIndex, error) {
	sources := defaultSources{}
	names, values := map[string]int64{}, map[string]jsontext.Value{}
	for _, n := range g.nodes {
		for _, sub := range n.Properties {
			if from := sources.of(sub); from != nil {
				names[textPointer(sub)] = 0
				values[textPointer(from)+"/default"] = nil
			}
		}
	}
	if len(names) == 0 {
		return nil, nil //nolint:nilnil // no defaults, no index
	}
	if err := locate(raw, names, values); err != nil {
		return nil, fmt.Errorf("schema: %w", syntaxError(err))
	}
	index := defaultIndex{}
	for _, n := range g.nodes {
		for name, sub := range n.Properties {
			from := sources.of(sub)
			if from == nil {
				continue
			}
			value := values[textPointer(from)+"/default"]
			if value == nil {
				return nil, fmt.Errorf("schema: the default of %q cannot be found", pointer(sub))
			}
			index[n] = append(index[n], property{name, value, names[textPointer(sub)]})
		}
	}
	return index, nil
}

// defaultSources memoises which subschema gives another one its default.
type defaultSources map[*jsonschema.Schema]*jsonschema.Schema

// of returns n itself if it has a default, or else the first subschema with a
// default among those that n applies unconditionally.
func (d defaultSources) of(n *jsonschema.Schema) *jsonschema.Schema {
	if n == nil || n.Default != nil {
		return n
	}
	if from, ok := d[n]; ok {
		return from
	}
	from := d.of(n.Ref)
	for i := 0; from == nil && i < len(n.AllOf); i++ {
		from = d.of(n.AllOf[i])
	}
	d[n] = from
	return from
}

// textPointer returns the JSON Pointer of n.
func textPointer(n *jsonschema.Schema) string {
	fragment := pointer(n)[1:]
	if p, err := url.PathUnescape(fragment); err == nil {
		return p
	}
	return fragment
}

// locate fills in the offset of each member in names and the text of each value
// in values. Both are keyed by JSON Pointer.
func locate(raw []byte, names map[string]int64, values map[string]jsontext.Value) error {
	dec := jsontext.NewDecoder(bytes.NewBuffer(raw))
	for {
		_, err := dec.ReadToken()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if kind, n := dec.StackIndex(dec.StackDepth()); kind != '{' || n%2 == 0 {
			continue // not a member name
		}
		at := string(dec.StackPointer())
		if _, ok := names[at]; ok {
			names[at] = dec.InputOffset()
		}
		if _, ok := values[at]; ok {
			if values[at], err = valueAt(raw[dec.InputOffset():]); err != nil {
				return err
			}
		}
	}
}

// valueAt reads the value of a member from the text after its name.
func valueAt(text []byte) (jsontext.Value, error) {
	text = bytes.TrimLeft(text, " \t\r\n:")
	v, err := jsontext.NewDecoder(bytes.NewBuffer(text)).ReadValue()
	return bytes.Clone(v), err
}
