package schema

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/parley-mcp/parley/internal/wire"
)

// quick is a schema that can say "valid" in one pass over a valid document,
// without building values. It knows the keywords that the arguments of most
// tools need. What it does not know, and what is not valid, is left to the
// evaluator, which has the last word and the words: quick never refuses.
type quick struct {
	kinds       string // of tokens; "" for any
	enum        map[string]bool
	minLen      int
	maxLen      int // negative for none
	pattern     *pattern
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

// newQuick returns the quick form of a decoded schema, which compiles, or nil
// for one with a keyword that quick does not know.
func newQuick(doc any, p *patterns) *quick { return (&quickMaker{patterns: p}).make(doc) }

// quickMaker holds the state of one newQuick.
type quickMaker struct {
	patterns *patterns
	depth    int
}

func (m *quickMaker) make(doc any) *quick {
	if b, ok := doc.(bool); ok && b {
		return anything
	}
	obj, ok := doc.(map[string]any)
	if m.depth++; !ok || m.depth > quickDepth {
		return nil
	}
	defer func() { m.depth-- }()
	q := &quick{maxLen: -1, most: -1}
	for name, v := range obj {
		if !m.keyword(q, name, v) {
			return nil
		}
	}
	if !q.require(obj["required"]) {
		return nil
	}
	return q
}

// keyword adds a keyword to q and reports whether quick knows it.
func (m *quickMaker) keyword(q *quick, name string, v any) bool {
	ok := true
	text, _ := v.(string)
	switch name {
	case "type":
		q.kinds = kindsOf[text]
		return q.kinds != ""
	case "enum":
		q.enum, ok = texts(v)
	case "minLength":
		q.minLen, ok = count(v)
	case "maxLength":
		q.maxLen, ok = count(v)
	case "minItems":
		q.least, ok = count(v)
	case "maxItems":
		q.most, ok = count(v)
	case "pattern":
		q.pattern = m.patterns.get(text)
		return q.pattern != nil
	case "format":
		return unchecked[text]
	case "minimum":
		q.min, ok = small(v)
	case "maximum":
		q.max, ok = small(v)
	case "properties":
		return m.properties(q, v)
	case "additionalProperties":
		open, isBool := v.(bool)
		q.closed = !open
		return isBool
	case "items":
		q.items = m.make(v)
		return q.items != nil
	case "required": // see require
	default:
		return keywordOf(name).silent
	}
	return ok
}

// kindsOf are the tokens that a value of a type begins with. A list of types
// is left to the evaluator.
var kindsOf = map[string]string{"null": "n", "boolean": "tf", "string": `"`, "number": "0", "integer": "0", "array": "[", "object": "{"}

// unchecked are names that other tools give to formats, and that are none.
var unchecked = map[string]bool{
	"int8": true, "int16": true, "int32": true, "int64": true, "uint8": true, "uint16": true, "uint32": true, "uint64": true,
	"int": true, "uint": true, "float": true, "double": true, "byte": true, "binary": true, "password": true,
}

// texts returns the values of an enum that has nothing but strings.
func texts(v any) (map[string]bool, bool) {
	list, _ := v.([]any)
	set := make(map[string]bool, len(list))
	for _, item := range list {
		text, ok := item.(string)
		if !ok {
			return nil, false
		}
		set[text] = true
	}
	return set, true
}

// small returns a bound that is an integer of moderate size.
func small(v any) (*int64, bool) {
	text, _ := v.(json.Number)
	n, err := strconv.ParseInt(string(text), 10, 64)
	return &n, err == nil
}

func (m *quickMaker) properties(q *quick, v any) bool {
	obj, _ := v.(map[string]any)
	q.members = make(map[string]quickMember, len(obj))
	for name, sub := range obj {
		member := m.make(sub)
		if member == nil {
			return false
		}
		q.members[name] = quickMember{schema: member}
	}
	return true
}

// require marks the members that v names, which may be nil.
func (q *quick) require(v any) bool {
	list, _ := v.([]any)
	for _, item := range list {
		name, _ := item.(string)
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
	if depth > quickDepth || q.kinds != "" && strings.IndexByte(q.kinds, kind) < 0 {
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
