package schemas

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-mcp/parley/internal/jsonptr"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/parley-mcp/parley/internal/schema"
)

// Violation is one place in a message that breaks the schema.
type Violation struct {
	// Pointer is the JSON pointer of the faulty value, "" for the whole message.
	// That of a member that is missing is the object that lacks it.
	Pointer string
	// Keyword is the word of JSON Schema that is broken, such as required, type or
	// format; it is "" for what is not even a message.
	Keyword string
	// Text says what is wrong, without a subject: must be a string, not a number.
	Text string
}

// String returns the violation on one line.
func (v Violation) String() string {
	return strconv.Quote(v.Pointer) + " " + v.Text
}

// decode reads a message with exact numbers, and refuses duplicate members.
func decode(text []byte) (any, []Violation) {
	v, err := schema.Decode(text)
	if err == nil {
		return v, nil
	}
	var at string
	var syntax *jsontext.SyntacticError
	if _, again := jsontext.NewDecoder(bytes.NewReader(text)).ReadValue(); errors.As(again, &syntax) {
		at = string(syntax.JSONPointer)
	}
	return nil, []Violation{{Pointer: at, Text: "is not valid JSON: " + err.Error()}}
}

// check returns the violations in one part of a message.
func (s *Schema) check(p part) []Violation {
	def := s.defs[p.definition]
	if def == nil {
		return []Violation{{Pointer: p.at, Text: fmt.Sprintf("can't be judged: revision %s has no definition %q", s.revision, p.definition)}}
	}
	err := def.Validate(p.v)
	if err == nil {
		return nil
	}
	var tree *jsonschema.ValidationError
	if !errors.As(err, &tree) {
		return []Violation{{Pointer: p.at, Text: "can't be judged: " + err.Error()}}
	}
	var out []Violation
	for _, f := range leaves(tree) {
		out = append(out, f.violation(p.at))
	}
	return out
}

// tidy sorts violations and drops those that two definitions agree on.
func tidy(all []Violation) []Violation {
	slices.SortFunc(all, func(a, b Violation) int {
		return cmp.Or(cmp.Compare(a.Pointer, b.Pointer), cmp.Compare(a.Text, b.Text))
	})
	return slices.Compact(all)
}

// fault is a violation before it is put into words, so that those of several
// forms can be merged.
type fault struct {
	at      []string // the place, below the part
	keyword string
	types   []string // the allowed types, if that is what failed
	values  []any    // the allowed values, if that is what failed
	missing []string // members of which one is missing
	got     any
	text    string // in other cases
}

func (f fault) violation(base string) Violation {
	v := Violation{Keyword: f.keyword, Text: f.text, Pointer: base + pointer(f.at...)}
	switch {
	case f.types != nil:
		v.Text = fmt.Sprintf("must be %s, not %s", orList(f.types, article), article(fmt.Sprint(f.got)))
	case f.values != nil:
		v.Text = fmt.Sprintf("must be %s, not %s", orList(f.values, show), show(f.got))
	case f.missing != nil:
		v.Text = "lacks the member " + orList(f.missing, strconv.Quote)
	}
	return v
}

// leaves returns the deepest causes of a failure.
func leaves(e *jsonschema.ValidationError) []fault {
	f := fault{at: e.InstanceLocation}
	if path := e.ErrorKind.KeywordPath(); len(path) > 0 {
		f.keyword = path[0]
	}
	switch k := e.ErrorKind.(type) {
	case *kind.AnyOf, *kind.OneOf:
		return union(e)
	case *kind.Required:
		var all []fault
		for _, name := range k.Missing {
			f.missing = []string{name}
			all = append(all, f)
		}
		return all
	case *kind.Type:
		f.types, f.got = k.Want, k.Got
	case *kind.Const:
		f.values, f.got = []any{k.Want}, k.Got
	case *kind.Enum:
		f.values, f.got = k.Want, k.Got
	case *kind.Format:
		f.text = fmt.Sprintf("must be %s, not %s", formatName(k.Want), show(k.Got))
	case *kind.Minimum:
		f.text = fmt.Sprintf("must be at least %s, not %s", number(k.Want), number(k.Got))
	case *kind.Maximum:
		f.text = fmt.Sprintf("must be at most %s, not %s", number(k.Want), number(k.Got))
	case *kind.MaxItems:
		f.text = fmt.Sprintf("must have at most %d items, not %d", k.Want, k.Got)
	default:
		if len(e.Causes) > 0 {
			return causes(e)
		}
		f.text = fmt.Sprintf("breaks %q", f.keyword) // the data has no other keywords; see TestReduced
	}
	return []fault{f}
}

func causes(e *jsonschema.ValidationError) []fault {
	var all []fault
	for _, c := range e.Causes {
		all = append(all, leaves(c)...)
	}
	return all
}

// wrongType is the violation of a value that is not even looked into.
func wrongType(at string, want []string, got any) Violation {
	v := fault{keyword: "type", types: want, got: typeName(got)}.violation("")
	v.Pointer = at
	return v
}

func typeName(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	}
	return "number"
}

func article(name string) string {
	switch name {
	case "null":
		return name
	case "array", "object", "integer":
		return "an " + name
	}
	return "a " + name
}

func formatName(name string) string {
	switch name {
	case "uri":
		return "an absolute URI"
	case "uri-template":
		return "a URI template"
	case "byte":
		return "base64"
	}
	return "of the format " + name
}

// show writes a value as short JSON.
func show(v any) string {
	const limit = 60
	text, err := json.Marshal(v)
	if err != nil {
		return article(typeName(v))
	}
	if len(text) > limit {
		return strings.ToValidUTF8(string(text[:limit]), "") + "…"
	}
	return string(text)
}

func number(r *big.Rat) string {
	if r.IsInt() {
		return r.Num().String()
	}
	f, _ := r.Float64()
	return strconv.FormatFloat(f, 'g', -1, 64)
}

func orList[T any](all []T, word func(T) string) string {
	words := make([]string, len(all))
	for i, v := range all {
		words[i] = word(v)
	}
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// pointer returns a JSON pointer of member names and indexes.
func pointer(steps ...string) string {
	var b strings.Builder
	for _, s := range steps {
		b.WriteString("/" + jsonptr.Escape(s))
	}
	return b.String()
}
