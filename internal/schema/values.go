package schema

import (
	"encoding/json"
	"math/big"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

func typeName(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case json.Number:
		return "number"
	case string:
		return "string"
	case []any, *array:
		return "array"
	}
	return "object"
}

func typeMatches(want []string, v any) bool {
	if slices.Contains(want, typeName(v)) {
		return true
	}
	n, ok := v.(json.Number)
	return ok && slices.Contains(want, "integer") && isInteger(n)
}

// rat converts a number that decode has accepted, so it cannot fail.
func rat(n json.Number) *big.Rat {
	r, ok := new(big.Rat).SetString(string(n))
	if !ok {
		return new(big.Rat)
	}
	return r
}

func isInteger(n json.Number) bool {
	return !strings.ContainsAny(string(n), ".eE") || rat(n).IsInt()
}

func (e *evaluator) contains(values []any, v any) bool {
	for _, want := range values {
		if e.equal(v, want) {
			return true
		}
	}
	return false
}

// equal compares a value of the document with one of the schema as JSON Schema
// does: numbers by value, objects regardless of order.
func (e *evaluator) equal(a, b any) bool {
	if !e.spend(1) {
		return false
	}
	switch a := a.(type) {
	case *object:
		b, ok := b.(map[string]any)
		return ok && e.equalObject(a, b)
	case *array:
		b, ok := b.([]any)
		return ok && e.equalArray(a, b)
	case json.Number:
		b, ok := b.(json.Number)
		return ok && (a == b || rat(a).Cmp(rat(b)) == 0)
	}
	return a == b
}

func (e *evaluator) equalObject(a *object, b map[string]any) bool {
	members := e.membersOf(a)
	if len(members) != len(b) {
		return false
	}
	for name, raw := range members {
		if w, found := b[name]; !found || !e.equalAt(raw, w) {
			return false
		}
	}
	return true
}

func (e *evaluator) equalArray(a *array, b []any) bool {
	n := 0
	for i, raw := range e.itemsOf(a) {
		if n = i + 1; n > len(b) || !e.equalAt(raw, b[i]) {
			return false
		}
	}
	return n == len(b)
}

func (e *evaluator) equalAt(raw []byte, b any) bool {
	v := e.open(raw)
	defer e.forget(v)
	return e.equal(v, b)
}

// duplicates returns the indexes of the first two equal items, or zeros. An item
// costs more steps here, because all are held until the end.
func (e *evaluator) duplicates(arr *array) (int, int) {
	byText := map[string]int{}
	for j, item := range e.itemsOf(arr) {
		text := string(e.appendCanonical(nil, item))
		if !e.spend(8 + len(text)/16) {
			return 0, 0
		}
		if i, ok := byText[text]; ok {
			return i, j
		}
		byText[text] = j
	}
	return 0, 0
}

// appendCanonical writes equal values as the same text.
func (e *evaluator) appendCanonical(b, raw []byte) []byte {
	v := e.open(raw)
	defer e.forget(v)
	switch v := v.(type) {
	case *object:
		members := e.membersOf(v)
		b = append(b, '{')
		for _, name := range sortedNames(members) {
			b = appendString(b, name)
			b = e.appendCanonical(append(b, ':'), members[name])
			b = append(b, ',')
		}
		return append(b, '}')
	case *array:
		b = append(b, '[')
		for _, item := range e.itemsOf(v) {
			b = append(e.appendCanonical(b, item), ',')
		}
		return append(b, ']')
	case json.Number:
		if e.fault != nil {
			return b
		}
		return append(b, rat(v).RatString()...)
	case string:
		return appendString(b, v)
	case bool:
		if v {
			return append(b, "true"...)
		}
		return append(b, "false"...)
	}
	return append(b, "null"...)
}

// appendString writes s as a JSON string. Invalid UTF-8, which only text from
// Go can hold, becomes U+FFFD.
func appendString(b []byte, s string) []byte {
	b, _ = jsontext.AppendQuote(b, s)
	return b
}

// matches spends steps for the product of the sizes of pattern and text, which
// is what matching may cost.
func (e *evaluator) matches(re jsonschema.Regexp, s string) bool {
	size := 1
	if p, ok := re.(*pattern); ok {
		size = p.size
	}
	return e.spend(len(s)*size/32) && re.MatchString(s)
}

func (e *evaluator) str(s *jsonschema.Schema, str string, at *path, out *report) bool {
	ok := true
	if s.MinLength != nil || s.MaxLength != nil {
		n := utf8.RuneCountInString(str)
		if s.MinLength != nil && n < *s.MinLength {
			out.addf(at, "must have at least %s, got %d", plural(*s.MinLength, "character"), n)
			ok = false
		}
		if s.MaxLength != nil && n > *s.MaxLength {
			out.addf(at, "must have at most %s, got %d", plural(*s.MaxLength, "character"), n)
			ok = false
		}
	}
	if s.Pattern != nil && !e.matches(s.Pattern, str) {
		out.add(problem{at: at, text: "must match the pattern " + quoteUpTo(maxSpelt, s.Pattern.String()), got: str, show: true})
		ok = false
	}
	return ok
}

func (e *evaluator) number(s *jsonschema.Schema, n json.Number, at *path, out *report) bool {
	ok := true
	var value *big.Rat
	check := func(limit *big.Rat, text string, holds func() bool) {
		if limit == nil {
			return
		}
		if value == nil {
			value = rat(n)
		}
		if !holds() {
			out.add(problem{at: at, text: text + " " + ratText(limit), got: n, bare: true})
			ok = false
		}
	}
	check(s.Minimum, "must be at least", func() bool { return value.Cmp(s.Minimum) >= 0 })
	check(s.Maximum, "must be at most", func() bool { return value.Cmp(s.Maximum) <= 0 })
	check(s.ExclusiveMinimum, "must be greater than", func() bool { return value.Cmp(s.ExclusiveMinimum) > 0 })
	check(s.ExclusiveMaximum, "must be less than", func() bool { return value.Cmp(s.ExclusiveMaximum) < 0 })
	check(s.MultipleOf, "must be a multiple of", func() bool { return new(big.Rat).Quo(value, s.MultipleOf).IsInt() })
	return ok
}

// ratText writes a limit from the schema in decimal: exactly if that is short
// enough to read.
func ratText(r *big.Rat) string {
	text := r.Num().String()
	if !r.IsInt() {
		digits, _ := r.FloatPrec()
		text = r.FloatString(digits)
	}
	if len(text) > 40 {
		return new(big.Float).SetRat(r).Text('g', 10)
	}
	return text
}
