package schema

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-mcp/parley/internal/jsonptr"
)

// maxProblems is how many problems an error spells out.
const maxProblems = 10

// Limits on how much of a document or schema a message repeats: of a value, of
// a path or pattern (which is useless in part), and of a list.
const (
	maxShown  = 60
	maxSpelt  = 400
	maxListed = 20
)

// ValidationError says why a document does not satisfy a schema.
type ValidationError struct {
	Problems []Problem // the first ones found, at most 10
	More     int       // how many further ones there are
}

// Problem is one reason for a ValidationError.
type Problem struct {
	// Path is the location, such as "items[2].name"; it is empty for the
	// document as a whole.
	Path string
	// Pointer is the same location as a JSON pointer.
	Pointer string
	// Message says what was expected and what was given.
	Message string
}

// Error returns one line per problem, written so that the author of the
// document, a person or a language model, can correct it.
func (e *ValidationError) Error() string {
	lines := make([]string, 0, len(e.Problems)+1)
	for _, p := range e.Problems {
		if p.Path != "" {
			lines = append(lines, quoteUpTo(maxSpelt, p.Path)+": "+p.Message)
		} else {
			lines = append(lines, p.Message)
		}
	}
	if e.More > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", e.More))
	}
	return strings.Join(lines, "\n")
}

// path is the location of a value in the document: a member or an item of
// parent. A nil path is the document itself.
type path struct {
	parent *path
	isItem bool
	index  int
	name   string
}

func (p *path) item(i int) *path { return &path{parent: p, isItem: true, index: i} }

func (p *path) member(name string) *path { return &path{parent: p, name: name} }

// steps returns the path from the root on.
func (p *path) steps() []*path {
	var steps []*path
	for ; p != nil; p = p.parent {
		steps = append(steps, p)
	}
	slices.Reverse(steps)
	return steps
}

func (p *path) String() string {
	var b strings.Builder
	for _, s := range p.steps() {
		switch {
		case s.isItem:
			fmt.Fprintf(&b, "[%d]", s.index)
		case !plainName(s.name):
			fmt.Fprintf(&b, "[%q]", s.name)
		default:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(s.name)
		}
	}
	return b.String()
}

// pointer returns the path as a JSON pointer.
func (p *path) pointer() string {
	var b strings.Builder
	for _, s := range p.steps() {
		b.WriteByte('/')
		if s.isItem {
			b.WriteString(strconv.Itoa(s.index))
		} else {
			b.WriteString(jsonptr.Escape(s.name))
		}
	}
	return b.String()
}

func plainName(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || strings.ContainsRune(`.[]"\`, r) || !strconv.IsPrint(r)
	})
}

// problem is a Problem before it is put into words, so that those of several
// alternatives can be merged.
type problem struct {
	at      *path
	text    string
	types   []string // the allowed types, if that is what failed
	allowed []any    // the allowed values, if that is what failed
	got     any
	show    bool // say what was given, with its type
	bare    bool // say what was given, without its type
}

func (p problem) message() string {
	text := p.text
	switch {
	case p.types != nil:
		text = "expected " + orList(p.types)
	case len(p.allowed) == 1:
		text = "must be " + valueText(p.allowed[0])
	case p.allowed != nil:
		text = "must be one of " + valueList(p.allowed)
	}
	switch {
	case p.types != nil && p.show:
		text += ", got " + describe(p.got)
	case p.bare || p.show:
		text += ", got " + valueText(p.got)
	}
	return text
}

// report collects problems. A nil report drops them.
type report struct {
	problems []problem
	more     int
}

func (r *report) add(p problem) {
	switch {
	case r == nil:
	case len(r.problems) < maxProblems:
		r.problems = append(r.problems, p)
	default:
		r.more++
	}
}

func (r *report) addf(at *path, format string, args ...any) {
	if r != nil {
		r.add(problem{at: at, text: fmt.Sprintf(format, args...)})
	}
}

func (r *report) err() *ValidationError {
	e := &ValidationError{More: r.more}
	for _, p := range r.problems {
		e.Problems = append(e.Problems, Problem{Path: p.at.String(), Pointer: p.at.pointer(), Message: p.message()})
	}
	return e
}

// brief returns only the first problem.
func (r *report) brief() string {
	if len(r.problems) == 0 {
		return "not allowed"
	}
	return r.problems[0].message()
}

func missingMember(at *path, name, because string) problem {
	text := "missing required " + memberWord(at) + " " + quote(name)
	if because != "" {
		text += ", which " + quote(because) + " needs"
	}
	return problem{at: at, text: text}
}

func unknownMember(at *path, name string, known []string) problem {
	text := "unknown " + memberWord(at) + " " + quote(name)
	if len(known) == 0 {
		return problem{at: at, text: text}
	}
	values := make([]any, len(known))
	for i, k := range known {
		values[i] = k
	}
	return problem{at: at, text: text + "; known are " + valueList(values)}
}

// memberWord names a member in the terms of the document's author.
func memberWord(at *path) string {
	if at == nil {
		return "argument"
	}
	return "member"
}

// quote puts s in quotes, cut to a readable length.
func quote(s string) string { return quoteUpTo(maxShown, s) }

func quoteUpTo(limit int, s string) string { return strconv.Quote(shorten(limit, s)) }

func shorten(limit int, s string) string {
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + "…"
}

// describe says what v is: `number 3`, `string "a"`, `object`.
func describe(v any) string {
	switch v.(type) {
	case nil, map[string]any, []any, *object, *array:
		return typeName(v)
	}
	return typeName(v) + " " + valueText(v)
}

// valueText writes v as short JSON.
func valueText(v any) string {
	switch v := v.(type) {
	case string:
		return quote(v)
	case json.Number:
		return shorten(maxShown, string(v))
	case bool:
		return strconv.FormatBool(v)
	case map[string]any, []any:
		if text := smallText(v); text != "" {
			return text
		}
		return typeName(v)
	case *object:
		return containerText(v, v.raw)
	case *array:
		return containerText(v, v.raw)
	}
	return "null"
}

// containerText is valueText for a container of the document.
func containerText(v any, raw []byte) string {
	if len(raw) <= 4*maxShown { // with room for spaces
		if small, err := Decode(raw); err == nil {
			return valueText(small)
		}
	}
	return typeName(v)
}

// smallText writes a small container in full, and returns "" for others.
func smallText(v any) string {
	b, err := json.Marshal(v)
	if err != nil || len(b) > maxShown {
		return ""
	}
	return string(b)
}

func valueList(values []any) string {
	texts := make([]string, 0, maxListed+1)
	for i, v := range values {
		if i == maxListed {
			texts = append(texts, fmt.Sprintf("and %d more", len(values)-i))
			break
		}
		texts = append(texts, valueText(v))
	}
	return strings.Join(texts, ", ")
}

func orList(words []string) string {
	if len(words) < 3 {
		return strings.Join(words, " or ")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
