package schema

import (
	"bytes"
	"encoding/json"
	"slices"
)

// WithoutNulls returns a document without the members that are null and may be left out,
// where its schema does not allow null: that is how many programs write what they leave
// out. ok is false if there are none.
func WithoutNulls(schema, doc json.RawMessage) (_ json.RawMessage, ok bool) {
	if !bytes.Contains(doc, []byte("null")) {
		return nil, false
	}
	s, err := Decode(schema)
	if err != nil {
		return nil, false
	}
	return rewritten(doc, func(v any) (any, bool) { return v, dropNulls(s, v) })
}

// PlainIntegers returns a document in which numbers without a fraction are written as
// decoders of Go read them: 10.0 and 1e1 as 10. ok is false if there are none.
func PlainIntegers(doc json.RawMessage) (_ json.RawMessage, ok bool) {
	return rewritten(doc, plainIntegers)
}

// maxLenient bounds the documents that are rewritten, in bytes: what is decoded takes many
// times the memory, and what nobody can read must not cost more than what they can.
const maxLenient = 256 << 10

// rewritten returns a document in which something was changed.
func rewritten(doc json.RawMessage, change func(v any) (any, bool)) (json.RawMessage, bool) {
	if len(doc) > maxLenient {
		return nil, false
	}
	v, err := Decode(doc)
	if err != nil {
		return nil, false
	}
	v, changed := change(v)
	if !changed {
		return nil, false
	}
	raw, err := json.Marshal(v)
	return raw, err == nil
}

func dropNulls(schema, v any) (changed bool) {
	s, _ := schema.(map[string]any)
	switch v := v.(type) {
	case map[string]any:
		properties, _ := s["properties"].(map[string]any)
		required, _ := s["required"].([]any)
		for name, value := range v {
			if value == nil && refusesNull(properties[name]) && !slices.Contains(required, any(name)) {
				delete(v, name)
				changed = true
				continue
			}
			changed = dropNulls(properties[name], value) || changed
		}
	case []any:
		for _, item := range v {
			changed = dropNulls(s["items"], item) || changed
		}
	}
	return changed
}

// refusesNull reports whether a schema says of which types a value is, and null is none.
func refusesNull(schema any) bool {
	s, _ := schema.(map[string]any)
	switch typ := s["type"].(type) {
	case string:
		return typ != "null"
	case []any:
		return !slices.Contains(typ, any("null"))
	}
	return false
}

func plainIntegers(v any) (_ any, changed bool) {
	switch v := v.(type) {
	case json.Number:
		if isInteger(v) {
			if plain := json.Number(rat(v).Num().String()); plain != v {
				return plain, true
			}
		}
	case map[string]any:
		for name, value := range v {
			plain, ok := plainIntegers(value)
			v[name], changed = plain, changed || ok
		}
		return v, changed
	case []any:
		for i, value := range v {
			plain, ok := plainIntegers(value)
			v[i], changed = plain, changed || ok
		}
		return v, changed
	}
	return v, false
}
