package scan

import (
	"bytes"
	"slices"
	"sync"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/parley-mcp/parley/internal/texts"
	"github.com/parley-mcp/parley/internal/wire"
)

// document looks at all texts of a JSON document: values and the names of members, as they
// are once escapes are decoded. What is redacted leaves everything else as it is, byte
// for byte.
type document struct {
	doc   []byte
	place texts.Place
	rules *rules

	name    []byte // of the member that comes next, or the last one, between its quotes
	scratch []byte // of texts with escapes
	found   []texts.Finding
	counts  map[finding]*count // nil until something was found
	order   []finding
	out     []byte // with what was redacted; nil until then
	copied  int    // up to which doc is in out
}

// finding is what was found, wherever it is.
type finding struct {
	kind Kind
	rule string
}

// count is how often it was found, and what the first looks like.
type count struct {
	n int
	// at is where the first is in the document, in bytes.
	at int
	// shows is what the log may show of it.
	shows string
	// fixed says that it is in what must stay as it is, such as a name.
	fixed bool
}

// action is what is done instead of an action, where nothing can be redacted.
func (c *count) action(a Action) Action {
	if a == Redact && (c.fixed || c.n >= texts.MaxFound) {
		return Block
	}
	return a
}

var documents = sync.Pool{New: func() any { return new(document) }}

// maxScratch bounds what is kept for the next document, in bytes.
const maxScratch = 64 << 10

// look looks at a document, which must be valid. What it returns has to be released.
func look(doc []byte, place texts.Place, r *rules) *document {
	d := documents.Get().(*document) //nolint:forcetypeassert // the pool holds nothing else
	d.doc, d.place, d.rules = doc, place, r
	for at := 0; ; {
		n := bytes.IndexByte(doc[at:], '"')
		if n < 0 {
			return d
		}
		begin := at + n
		end := wire.TextEnd(doc, begin)
		if end-begin < 2 || doc[end-1] != '"' {
			return d // it is not valid
		}
		if isName(doc[end:]) {
			d.name = doc[begin+1 : end-1]
			d.text(begin, end, true)
		} else {
			d.text(begin, end, false)
		}
		at = end
	}
}

// release returns a document to the pool.
func (d *document) release() {
	scratch, found := d.scratch, d.found
	*d = document{}
	if cap(scratch) <= maxScratch && cap(found) <= maxScratch {
		d.scratch, d.found = scratch[:0], found[:0]
		documents.Put(d)
	}
}

// isName reports whether what follows a string says that it is the name of a member.
func isName(rest []byte) bool {
	for _, b := range rest {
		switch b {
		case ' ', '\t', '\n', '\r':
		default:
			return b == ':'
		}
	}
	return false
}

// text looks at the string that is doc[begin:end].
func (d *document) text(begin, end int, isName bool) {
	raw := d.doc[begin+1 : end-1]
	text := raw
	if bytes.IndexByte(raw, '\\') >= 0 {
		d.scratch = unescape(slices.Grow(d.scratch[:0], len(raw)), raw)
		text = d.scratch
	}
	d.found = texts.Find(text, d.place, d.rules.look, d.found[:0])
	if f, ok := texts.Named(d.name, text); ok && !isName && d.rules.look.Has(texts.Secrets) && len(d.found) == 0 {
		d.found = append(d.found, f)
	}
	if len(d.found) == 0 {
		return
	}
	fixed := d.place == texts.Definition && (isName || isIdentity(d.name))
	cuts := place(raw, d.found)
	for i, f := range d.found {
		kind := kindOf(f.Kind)
		if !d.rules.counts(d.place, f) {
			continue
		}
		d.note(finding{kind, f.Rule}, begin+1+cuts[i].begin, text[f.Begin:], f, fixed)
		if d.rules.actions[kind] == Redact && !fixed {
			d.redact(begin+1+cuts[i].begin, begin+1+cuts[i].end, mark(f, text, isName))
		}
	}
}

// identities are the members of definitions that are not only read: another text there
// would be another tool, or other arguments.
var identities = []string{"name", "uri", "uriTemplate", "mimeType", "enum", "const", "default", "pattern", "format", "type", "required", "$ref", "$id", "src", "digest"}

func isIdentity(name []byte) bool {
	return slices.Contains(identities, string(name))
}

// note counts what was found.
func (d *document) note(what finding, at int, from []byte, f texts.Finding, fixed bool) {
	c := d.counts[what]
	if c == nil {
		if d.counts == nil {
			d.counts = map[finding]*count{}
		}
		c = &count{at: at, shows: shown(f, from)}
		d.counts[what] = c
		d.order = append(d.order, what)
	}
	c.n++
	c.fixed = c.fixed || fixed
}

// redact puts something in the place of a part of the document.
func (d *document) redact(begin, end int, mark string) {
	if begin < d.copied {
		return // it is gone with what began before it
	}
	if d.out == nil {
		d.out = make([]byte, 0, len(d.doc)+len(mark))
	}
	d.out = append(append(d.out, d.doc[d.copied:begin]...), mark...)
	d.copied = end
}

// redacted is the document without what was to be redacted: the document itself if there
// was nothing.
func (d *document) redacted() []byte {
	if d.out == nil {
		return d.doc
	}
	return append(d.out, d.doc[d.copied:]...)
}

// cut is a part of what stands between quotes.
type cut struct{ begin, end int }

// place returns where findings in a decoded text are before it is decoded.
func place(raw []byte, found []texts.Finding) []cut {
	cuts := make([]cut, len(found))
	at, decoded := 0, 0
	to := func(where int) int {
		for decoded < where && at < len(raw) {
			size, r := unit(raw[at:])
			if r < 0 {
				decoded++
			} else {
				decoded += utf8.RuneLen(r)
			}
			at += size
		}
		return at
	}
	for i, f := range found {
		if f.Begin < decoded { // it is within the one before
			cuts[i] = cut{begin: at, end: at}
			if i > 0 {
				cuts[i] = cuts[i-1]
			}
			continue
		}
		cuts[i].begin = to(f.Begin)
		cuts[i].end = to(f.End)
	}
	return cuts
}

// unescape appends what stands between quotes, decoded.
func unescape(dst, raw []byte) []byte {
	for len(raw) > 0 {
		plain := bytes.IndexByte(raw, '\\')
		if plain < 0 {
			return append(dst, raw...)
		}
		dst = append(dst, raw[:plain]...)
		raw = raw[plain:]
		size, r := unit(raw)
		dst = utf8.AppendRune(dst, max(r, 0))
		raw = raw[size:]
	}
	return dst
}

// unit returns how many bytes the first byte or escape of what stands between quotes
// takes, and what an escape stands for; r is negative for a byte.
func unit(raw []byte) (size int, r rune) {
	if raw[0] != '\\' || len(raw) < 2 {
		return 1, -1
	}
	const short, long = 2, 6
	switch c := raw[1]; c {
	case 'n':
		return short, '\n'
	case 't':
		return short, '\t'
	case 'r':
		return short, '\r'
	case 'b':
		return short, '\b'
	case 'f':
		return short, '\f'
	case 'u':
		r, ok := hex(raw)
		if !ok {
			return short, utf8.RuneError
		}
		if utf16.IsSurrogate(r) {
			if low, ok := hex(raw[long:]); ok && utf16.DecodeRune(r, low) != utf8.RuneError {
				return 2 * long, utf16.DecodeRune(r, low)
			}
			return long, utf8.RuneError
		}
		return long, r
	default:
		return short, rune(c)
	}
}

// hex decodes an escape such as \u200b.
func hex(raw []byte) (r rune, ok bool) {
	const length = 6
	if len(raw) < length || raw[0] != '\\' || raw[1] != 'u' {
		return 0, false
	}
	for _, b := range raw[2:length] {
		switch {
		case b >= '0' && b <= '9':
			b -= '0'
		case b >= 'a' && b <= 'f':
			b -= 'a' - 10
		case b >= 'A' && b <= 'F':
			b -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(b)
	}
	return r, true
}
