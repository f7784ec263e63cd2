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

// room is about what surrounds the entries of a list, in bytes.
const room = 128

func (l *listing[T]) append(dst []byte) ([]byte, error) {
	dst, err := wire.Append(slices.Grow(dst, l.size()+room), l.head)
	if err != nil {
		return nil, err
	}
	dst = bytes.TrimSuffix(dst, []byte("}"))
	if dst[len(dst)-1] != '{' {
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
	dst = append(dst, ']')
	if l.next != nil {
		if dst, err = wire.Append(append(dst, `,"nextCursor":`...), *l.next); err != nil {
			return nil, err
		}
	}
	return append(dst, '}'), nil
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
