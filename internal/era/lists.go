package era

import (
	"bytes"
	"slices"

	"github.com/parley-mcp/parley/internal/access"
	"github.com/parley-mcp/parley/internal/revision"
	"github.com/parley-mcp/parley/internal/wire"
)

// listing encodes a result that is a list. Entries that the handler caches are
// encoded once for each revision, and a list of them is the concatenation of their
// texts.
type listing[T any] struct {
	whole  any    // the result, without its entries
	member string // the name of the member that holds the entries
	values []*T
	kept   []*wire.Entry // the cached encodings of values, where the handler has them
	facts  *revision.Facts
	shape  func(*T, *revision.Facts) *T
}

// listOf takes the entries out of whole, which belongs to the caller, and returns
// a function that writes whole with each entry shaped.
func listOf[T any](whole any, member string, entries *[]*T, f *revision.Facts, shape func(*T, *revision.Facts) *T) wire.Written {
	l := &listing[T]{whole, member, *entries, access.EntriesOf(whole), f, shape}
	*entries = []*T{}
	return l.append
}

func (l *listing[T]) append(dst []byte) ([]byte, error) {
	whole, err := wire.Marshal(l.whole)
	if err != nil {
		return nil, err
	}
	begin, end := wire.Place(whole, l.member)
	const room = 64 // for the message around the result
	dst = slices.Grow(dst, len(whole)+l.size()+room)
	dst = append(append(dst, whole[:begin]...), '[')
	for i := range l.values {
		if i > 0 {
			dst = append(dst, ',')
		}
		if dst, err = l.entry(dst, i); err != nil {
			return nil, err
		}
	}
	return append(append(dst, ']'), whole[end:]...), nil
}

// size returns how many bytes the already encoded entries take.
func (l *listing[T]) size() int {
	n := 0
	for i := range l.values {
		if e := l.keptEntry(i); e != nil {
			n += len(e.Form(l.facts)) + 1
		}
	}
	return n
}

// keptEntry returns the cached entry of the value at i, or nil if the handler has
// none of this very value.
func (l *listing[T]) keptEntry(i int) *wire.Entry {
	if i >= len(l.kept) || l.kept[i] == nil || !l.kept[i].Of(l.values[i]) {
		return nil
	}
	return l.kept[i]
}

func (l *listing[T]) entry(dst []byte, i int) ([]byte, error) {
	if l.values[i] == nil { // a handler's mistake, which must not end the process
		return append(dst, "null"...), nil
	}
	e := l.keptEntry(i)
	if e == nil {
		return wire.Append(dst, l.shape(l.values[i], l.facts))
	}
	if text := e.Form(l.facts); text != nil {
		return append(dst, text...), nil
	}
	begin := len(dst)
	dst, err := l.fresh(dst, l.values[i], e.Original())
	if err == nil {
		e.Keep(l.facts, bytes.Clone(dst[begin:]))
	}
	return dst, err
}

// fresh encodes an entry that was not in this revision yet. What the handler had from
// somebody else keeps what this module does not know.
func (l *listing[T]) fresh(dst []byte, value *T, original []byte) ([]byte, error) {
	shaped := l.shape(value, l.facts)
	if original == nil {
		return wire.Append(dst, shaped)
	}
	text, err := patch(original, value, shaped)
	return append(dst, text...), err
}
