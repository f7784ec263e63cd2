package schema

import (
	"bytes"
	"math/big"
	"reflect"
	"strconv"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/parley-mcp/parley/internal/wire"
)

// quick is a schema that can say "valid" in one pass over a valid document,
// without building values. It knows the keywords that the arguments of most
// tools need. What it does not know, and what is not valid, is left to the
// evaluator, which has the last word and the words: quick never refuses.
type quick struct {
	kinds       map[byte]bool // of tokens; nil for any
	enum        map[string]bool
	minLen      int
	maxLen      int // negative for none
	pattern     jsonschema.Regexp
	min, max    *int64
	members     map[string]quickMember
	required    int
	closed      bool
	items       *quick
	least, most int // of items; most negative for none
}

type quickMember struct {
	schema   *quick
	required bool
}

// quickDepth bounds nesting; what is deeper is left to the evaluator.
const quickDepth = 64

// newQuick returns nil for a schema with a keyword that quick does not know.
func newQuick(s *jsonschema.Schema, depth int) *quick {
	if s.Bool != nil && *s.Bool {
		return anything
	}
	if depth > quickDepth || !knownOnly(s) {
		return nil
	}
	q := &quick{maxLen: -1, most: -1}
	ok := q.types(s) && q.strings(s) && q.numbers(s) && q.object(s, depth) && q.array(s, depth)
	if !ok {
		return nil
	}
	return q
}

// knownOnly reports whether every keyword of s is one that quick applies, or
// one that says nothing about validity.
func knownOnly(s *jsonschema.Schema) bool {
	rest := *s
	rest.Types, rest.Enum, rest.MinLength, rest.MaxLength, rest.Pattern = nil, nil, nil, nil, nil
	rest.Minimum, rest.Maximum = nil, nil
	rest.Properties, rest.Required, rest.AdditionalProperties = nil, nil, nil
	rest.Items2020, rest.MinItems, rest.MaxItems = nil, nil, nil
	rest.DraftVersion, rest.Location, rest.ID, rest.Anchor = 0, "", "", ""
	rest.Title, rest.Description, rest.Default, rest.Comment = "", "", nil, ""
	rest.ReadOnly, rest.WriteOnly, rest.Examples, rest.Deprecated = false, false, nil, false
	v := reflect.ValueOf(rest)
	for i := range v.NumField() {
		if v.Type().Field(i).IsExported() && !v.Field(i).IsZero() {
			return false
		}
	}
	return true
}

func (q *quick) types(s *jsonschema.Schema) bool {
	if s.Types == nil || s.Types.IsEmpty() {
		return true
	}
	q.kinds = map[byte]bool{}
	tokens := map[string]string{"null": "n", "boolean": "tf", "string": `"`, "number": "0", "integer": "0", "array": "[", "object": "{"}
	for _, name := range s.Types.ToStrings() {
		for _, k := range []byte(tokens[name]) {
			q.kinds[k] = true
		}
	}
	return len(s.Types.ToStrings()) == 1
}

func (q *quick) strings(s *jsonschema.Schema) bool {
	if s.MinLength != nil {
		q.minLen = *s.MinLength
	}
	if s.MaxLength != nil {
		q.maxLen = *s.MaxLength
	}
	q.pattern = s.Pattern
	if s.Enum == nil {
		return true
	}
	q.enum = make(map[string]bool, len(s.Enum.Values))
	for _, v := range s.Enum.Values {
		text, ok := v.(string)
		if !ok {
			return false
		}
		q.enum[text] = true
	}
	return true
}

func (q *quick) numbers(s *jsonschema.Schema) bool {
	var okMin, okMax bool
	q.min, okMin = small(s.Minimum)
	q.max, okMax = small(s.Maximum)
	return okMin && okMax
}

// small returns a bound that is an integer of moderate size.
func small(r *big.Rat) (*int64, bool) {
	if r == nil {
		return nil, true
	}
	if !r.IsInt() || !r.Num().IsInt64() {
		return nil, false
	}
	n := r.Num().Int64()
	return &n, true
}

func (q *quick) object(s *jsonschema.Schema, depth int) bool {
	switch extra := s.AdditionalProperties.(type) {
	case nil:
	case bool:
		q.closed = !extra
	default:
		return false
	}
	q.members = make(map[string]quickMember, len(s.Properties))
	for name, sub := range s.Properties {
		m := newQuick(sub, depth+1)
		if m == nil {
			return false
		}
		q.members[name] = quickMember{schema: m}
	}
	for _, name := range s.Required {
		m, known := q.members[name]
		if !known {
			return false
		}
		if !m.required {
			q.required++
		}
		m.required = true
		q.members[name] = m
	}
	return true
}

func (q *quick) array(s *jsonschema.Schema, depth int) bool {
	if s.MinItems != nil {
		q.least = *s.MinItems
	}
	if s.MaxItems != nil {
		q.most = *s.MaxItems
	}
	if s.Items2020 == nil {
		return true
	}
	q.items = newQuick(s.Items2020, depth+1)
	return q.items != nil
}

// anything is the schema of what no schema speaks of.
var anything = &quick{maxLen: -1, most: -1}

// conforms reports whether doc, which must be valid JSON, certainly conforms.
// What it says of another one means nothing.
func (q *quick) conforms(doc []byte) bool {
	s := wire.Skim(doc)
	return q.value(&s, 0) && s.Next() == 0
}

func (q *quick) value(s *wire.Skimmer, depth int) bool {
	kind := s.Next()
	if kind == '-' || '0' <= kind && kind <= '9' {
		kind = '0'
	}
	if depth > quickDepth || q.kinds != nil && !q.kinds[kind] {
		return false
	}
	switch kind {
	case '{':
		return q.valueObject(s, depth)
	case '[':
		return q.valueArray(s, depth)
	case '"':
		return q.valueString(s.Skip())
	case '0':
		return q.valueNumber(s.Skip())
	}
	s.Skip()
	return q.enum == nil
}

func (q *quick) valueObject(s *wire.Skimmer, depth int) bool {
	if q.enum != nil {
		return false
	}
	missing := q.required
	for s.Enter(); !s.Leave(); {
		name := s.Skip()
		if len(name) < 2 || bytes.IndexByte(name, '\\') >= 0 {
			return false
		}
		m, known := q.members[string(name[1:len(name)-1])]
		switch {
		case !known && q.closed:
			return false
		case !known:
			m.schema = anything
		case m.required:
			missing--
		}
		if !m.schema.value(s, depth+1) {
			return false
		}
	}
	return missing == 0
}

func (q *quick) valueArray(s *wire.Skimmer, depth int) bool {
	if q.enum != nil {
		return false
	}
	items, n := q.items, 0
	if items == nil {
		items = anything
	}
	for s.Enter(); !s.Leave(); n++ {
		if !items.value(s, depth+1) {
			return false
		}
	}
	return n >= q.least && (q.most < 0 || n <= q.most)
}

func (q *quick) valueString(raw []byte) bool {
	if q.enum == nil && q.pattern == nil && q.minLen == 0 && q.maxLen < 0 {
		return true
	}
	if len(raw) < 2 || bytes.IndexByte(raw, '\\') >= 0 {
		return false
	}
	text := raw[1 : len(raw)-1]
	if q.enum != nil && !q.enum[string(text)] {
		return false
	}
	if n := utf8.RuneCount(text); n < q.minLen || q.maxLen >= 0 && n > q.maxLen {
		return false
	}
	return q.pattern == nil || q.pattern.MatchString(string(text))
}

// valueNumber knows integers that fit; all that is larger or has another form
// is left to exact arithmetic.
func (q *quick) valueNumber(raw []byte) bool {
	if q.enum != nil || len(raw) > 18 {
		return false
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil {
		return false
	}
	return (q.min == nil || n >= *q.min) && (q.max == nil || n <= *q.max)
}
