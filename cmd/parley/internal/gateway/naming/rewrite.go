package naming

import (
	"bytes"

	"github.com/parley-mcp/parley/internal/wire"
)

// shape says where in a JSON value there are names. What it does not mention keeps its
// bytes.
type shape struct {
	// is what the value names, if it is a string.
	is what
	// each is every element, if it is an array.
	each *shape
	// members are those of an object by their names, and values are all others.
	members map[string]*shape
	values  *shape
	// by names the member that tells objects apart which are not alike, and kinds are
	// their shapes.
	by    string
	kinds map[string]*shape
}

// what is a kind of name.
type what uint8

const (
	nothing what = iota
	toolName
	promptName
	uri
	appURI
	taskID
	subject // what a request is about
)

// rename returns what to write instead of a name, and whether to write anything else.
type rename func(is what, text string) (string, bool)

// rewriter copies a document with some of its strings replaced.
type rewriter struct {
	doc    []byte
	in     wire.Skimmer
	rename rename
	out    []byte
	copied int // up to which doc is in out
}

// rewrite replaces the names in a valid document. It returns the document itself if there
// are none.
func rewrite(doc []byte, s *shape, f rename) []byte {
	if s == nil || len(doc) == 0 {
		return doc
	}
	r := rewriter{doc: doc, in: wire.Skim(doc), rename: f}
	r.value(s)
	if r.out == nil {
		return doc
	}
	return append(r.out, doc[r.copied:]...)
}

// value moves past a value.
func (r *rewriter) value(s *shape) {
	c := r.in.Next()
	switch {
	case s == nil:
		r.in.Skip()
	case c == '"' && s.is != nothing:
		r.text(s.is)
	case c == '[' && s.each != nil:
		r.in.Enter()
		for c := r.in.Next(); c != ']' && c != 0; c = r.in.Next() {
			r.value(s.each)
		}
		r.in.Leave()
	case c == '{' && s.by != "":
		ahead := r.in
		kind, _ := wire.Text(wire.Find(ahead.Skip(), s.by))
		r.object(s.kinds[kind])
	case c == '{' && (s.members != nil || s.values != nil):
		r.object(s)
	default:
		r.in.Skip()
	}
}

func (r *rewriter) object(s *shape) {
	if s == nil {
		r.in.Skip()
		return
	}
	r.in.Enter()
	for r.in.Next() == '"' {
		r.value(s.member(r.in.Skip()))
	}
	r.in.Leave()
}

// member returns the shape of a member, whose name is quoted; hardly any has an escape.
func (s *shape) member(quoted []byte) *shape {
	inner := s.members[string(quoted[1:max(1, len(quoted)-1)])]
	if bytes.IndexByte(quoted, '\\') >= 0 {
		name, _ := wire.Text(quoted)
		inner = s.members[name]
	}
	if inner == nil {
		return s.values
	}
	return inner
}

func (r *rewriter) text(is what) {
	begin := r.in.At()
	own, _ := wire.Text(r.in.Skip())
	shown, differs := r.rename(is, own)
	if !differs {
		return
	}
	if r.out == nil {
		const room = 64
		r.out = make([]byte, 0, len(r.doc)+room)
	}
	r.out = wire.AppendText(append(r.out, r.doc[r.copied:begin]...), shown)
	r.copied = r.in.At()
}
