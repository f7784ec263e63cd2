package naming

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// matter are the members of params by which what is asked for is known. Some parsers take
// them in another case as well.
var matter = [][]byte{
	[]byte("name"), []byte("uri"), []byte("arguments"), []byte("ref"), []byte("argument"), []byte("_meta"), []byte("taskId"),
	[]byte("context"), []byte("task"), []byte("cursor"), []byte("level"), []byte("notifications"),
	[]byte("inputResponses"), []byte("requestState"),
}

// inRef are those of the member ref.
var inRef = [][]byte{[]byte("type"), []byte("name"), []byte("uri")}

// deepest bounds nesting, which the readers of messages bound as well.
const deepest = 1000

// Strict returns why params could be read in two ways, so that what guards decide about
// need not be what a backend does: a member stands twice in an object at any depth, or is
// one of those that matter but for its case. It is nil for what everybody reads alike.
// params must be valid JSON.
func Strict(params []byte) error {
	var room [48]span
	r := reading{doc: params, in: wire.Skim(params)}
	return r.value(room[:0], 0, matter)
}

// reading is a pass over params. It holds no names: what is stored behind a pointer would
// have to be allocated.
type reading struct {
	doc []byte
	in  wire.Skimmer
}

// span is where a name is, with its quotes.
type span struct{ begin, end int }

// value moves past a value. names are those in the objects around it; there is room after
// them.
func (r *reading) value(names []span, depth int, reserved [][]byte) error {
	c := r.in.Next()
	if c != '{' && c != '[' {
		r.in.Skip()
		return nil
	}
	if depth == deepest {
		return mcp.InvalidParams("params are nested more than %d levels deep", deepest)
	}
	r.in.Enter()
	if c == '{' {
		return r.object(names, depth, reserved)
	}
	for c := r.in.Next(); c != ']' && c != '}' && c != 0; c = r.in.Next() {
		if err := r.value(names, depth+1, nil); err != nil {
			return err
		}
	}
	r.in.Leave()
	return nil
}

func (r *reading) object(names []span, depth int, reserved [][]byte) error {
	first := len(names)
	var many map[string]bool // the names, if there are more than a few
	for r.in.Next() == '"' {
		is := span{begin: r.in.At()}
		r.in.Skip()
		is.end = r.in.At()
		if many[string(r.name(is))] || r.stands(is, names[first:]) {
			return mcp.InvalidParams("the member %.100q stands twice", string(r.name(is)))
		}
		if names = append(names, is); many != nil || len(names)-first > few {
			many = r.collect(many, names[first:])
			names = names[:first]
		}
		if err := checkCase(r.name(is), reserved); err != nil {
			return err
		}
		var inner [][]byte
		if depth == 0 && string(r.name(is)) == "ref" {
			inner = inRef
		}
		if err := r.value(names, depth+1, inner); err != nil {
			return err
		}
	}
	r.in.Leave()
	return nil
}

// few is how many names are compared one by one.
const few = 32

// collect moves names to a set.
func (r *reading) collect(set map[string]bool, names []span) map[string]bool {
	if set == nil {
		set = map[string]bool{}
	}
	for _, is := range names {
		set[string(r.name(is))] = true
	}
	return set
}

// stands reports whether a name is among others.
func (r *reading) stands(is span, names []span) bool {
	for _, other := range names {
		if bytes.Equal(r.name(is), r.name(other)) {
			return true
		}
	}
	return false
}

// name returns a name without its quotes; hardly any has an escape.
func (r *reading) name(is span) []byte {
	raw := r.doc[is.begin:is.end]
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw[1:max(1, len(raw)-1)]
	}
	text, _ := wire.Text(raw)
	return []byte(text)
}

// checkCase compares with bytes.EqualFold only what can be the same: most names differ in
// their length, unless they have one of two letters, both longer, that are those of ASCII in
// another case.
func checkCase(name []byte, reserved [][]byte) error {
	for _, r := range reserved {
		if bytes.Equal(name, r) {
			return nil
		}
	}
	wide := len(reserved) > 0 && slices.ContainsFunc(name, isWide)
	for _, r := range reserved {
		if (wide || len(name) == len(r)) && bytes.EqualFold(name, r) {
			return mcp.InvalidParams("the member %.100q differs from %q in case only", string(name), string(r))
		}
	}
	return nil
}

func isWide(c byte) bool { return c >= utf8.RuneSelf }
