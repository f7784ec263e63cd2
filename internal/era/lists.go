package era

import (
	"bytes"
	"slices"

	"github.com/parley-mcp/parley/internal/revision"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// listing is a result that is a list, on its way to the wire. Entries that the
// handler keeps are encoded once for each revision, and a list of them is the
// concatenation of their texts.
type listing[T any] struct {
	head   heading
	member string // that has the entries
	values []*T
	mcp.Prepared
	next  *string
	facts *revision.Facts
	shape func(*T, *revision.Facts) *T
}

// heading is what precedes the entries.
type heading struct {
	mcp.ResultFields
	mcp.CacheFields
}

func toolList(r *mcp.ListToolsResult, head heading, f *revision.Facts) wire.Written {
	l := listing[mcp.Tool]{head, "tools", r.Tools, r.Prepared, r.NextCursor, f, shapeTool}
	return l.append
}

func resourceList(r *mcp.ListResourcesResult, head heading, f *revision.Facts) wire.Written {
	l := listing[mcp.Resource]{head, "resources", r.Resources, r.Prepared, r.NextCursor, f, shapeResource}
	return l.append
}

func templateList(r *mcp.ListResourceTemplatesResult, head heading, f *revision.Facts) wire.Written {
	l := listing[mcp.ResourceTemplate]{head, "resourceTemplates", r.ResourceTemplates, r.Prepared, r.NextCursor, f, shapeTemplate}
	return l.append
}

func promptList(r *mcp.ListPromptsResult, head heading, f *revision.Facts) wire.Written {
	l := listing[mcp.Prompt]{head, "prompts", r.Prompts, r.Prepared, r.NextCursor, f, shapePrompt}
	return l.append
}

func (l *listing[T]) append(dst []byte) ([]byte, error) {
	head, err := wire.Marshal(l.head)
	if err != nil {
		return nil, err
	}
	tail, err := l.tail()
	if err != nil {
		return nil, err
	}
	const room = 64 // for the member's name, and what encloses the result
	dst = slices.Grow(dst, len(head)+l.size()+len(tail)+room)
	dst = append(dst, head[:len(head)-1]...)
	if len(head) > len("{}") {
		dst = append(dst, ',')
	}
	dst = append(append(append(dst, '"'), l.member...), `":[`...)
	for i := range l.values {
		if i > 0 {
			dst = append(dst, ',')
		}
		if dst, err = l.entry(dst, i); err != nil {
			return nil, err
		}
	}
	return append(dst, tail...), nil
}

// tail is what follows the entries.
func (l *listing[T]) tail() ([]byte, error) {
	if l.next == nil {
		return []byte("]}"), nil
	}
	next, err := wire.Append([]byte(`],"nextCursor":`), *l.next)
	return append(next, '}'), err
}

// size is how many bytes the entries take that have been encoded already.
func (l *listing[T]) size() int {
	n := 0
	for i := range l.values {
		if e := l.prepared(i); e != nil {
			n += len(e.Form(l.facts)) + 1
		}
	}
	return n
}

// prepared returns the entry of the value at i, if its handler keeps one.
func (l *listing[T]) prepared(i int) *wire.Entry {
	if i >= len(l.Entries) || l.Entries[i] == nil || !l.Entries[i].Of(l.values[i]) {
		return nil
	}
	return l.Entries[i]
}

func (l *listing[T]) entry(dst []byte, i int) ([]byte, error) {
	e := l.prepared(i)
	if e == nil {
		return wire.Append(dst, l.shape(l.values[i], l.facts))
	}
	if text := e.Form(l.facts); text != nil {
		return append(dst, text...), nil
	}
	begin := len(dst)
	dst, err := wire.Append(dst, l.shape(l.values[i], l.facts))
	if err == nil {
		e.Keep(l.facts, bytes.Clone(dst[begin:]))
	}
	return dst, err
}
