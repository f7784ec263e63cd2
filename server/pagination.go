package server

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"unicode/utf8"

	"github.com/parley-mcp/parley/internal/access"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// cursorVersion is the first byte of every cursor.
const cursorVersion = 1

// maxCursor bounds the text of a cursor.
const maxCursor = 16 << 10

// maxIndex bounds the index of a cursor.
const maxIndex = 1<<31 - 1

// Lists that are not of one kind of feature have kinds of their own in cursors.
const (
	listOfSkills mcp.FeatureKind = 0x40 + iota
	listOfDirectory
)

// cursor is a place in a list: after the entry with a key. It holds no state of
// this process, so it survives a restart and changes of the list. If the entry
// is gone, its former index says roughly where it was.
//
// A client can make up any cursor, so its meaning does not depend on what the
// client does not see: the index counts visible entries, and a hidden entry
// counts as gone.
//
// Spec: 2026-07-28 server/utilities/pagination#pagination-model.
type cursor struct {
	kind  mcp.FeatureKind
	index int
	key   string
}

func (c cursor) String() string {
	b := []byte{cursorVersion, byte(c.kind)}
	b = binary.AppendUvarint(b, uint64(c.index)) //nolint:gosec // an index is not negative
	return base64.RawURLEncoding.EncodeToString(append(b, c.key...))
}

// parseCursor accepts exactly what String returns.
func parseCursor(text string) (cursor, bool) {
	if len(text) > maxCursor {
		return cursor{}, false
	}
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(b) < 3 || b[0] != cursorVersion {
		return cursor{}, false
	}
	index, n := binary.Uvarint(b[2:])
	if n <= 0 || index > maxIndex {
		return cursor{}, false
	}
	c := cursor{mcp.FeatureKind(b[1]), int(index), string(b[2+n:])}
	return c, utf8.ValidString(c.key) && c.String() == text
}

// listPage is a page of a list.
type listPage[D any] struct {
	list    []*D          // not nil
	entries []*wire.Entry // of list, with their encoded forms
	next    *string       // cursor of the next one
}

// with stores the encoded forms of its entries in a result that lists the page.
func (p *listPage[D]) with(result any) any {
	access.SetEntries(result, p.entries)
	return result
}

// page returns the page of a list that x asks for. Without a filter it is a
// part of the snapshot, not a copy.
func page[D any, P plan[D]](ctx context.Context, s *Server, r *registry[D, P], kind mcp.FeatureKind, x *mcp.Exchange) (listPage[D], error) {
	var params mcp.ListParams
	if err := decodeParams(x, &params); err != nil {
		return listPage[D]{}, err
	}
	var visible func(key string) bool
	if s.opts.Visible != nil {
		visible = func(key string) bool { return s.visible(ctx, x, kind, key) }
	}
	return pageOf(r.load(), kind, params.Cursor, s.opts.PageSize, visible)
}

// pageOf returns the page of a snapshot that a cursor points to. visible is nil if
// the client sees everything.
//
// Spec: 2026-07-28 server/utilities/pagination#error-handling.
func pageOf[D any, P plan[D]](snap *snapshot[D, P], kind mcp.FeatureKind, at *string, size int, visible func(key string) bool) (listPage[D], error) {
	v := view[D, P]{snap, visible}
	if visible == nil {
		v.visible = func(string) bool { return true }
	}
	var from position
	if at != nil {
		c, ok := parseCursor(*at)
		if !ok || c.kind != kind {
			return listPage[D]{}, mcp.InvalidParams("invalid cursor %q", shorten(*at))
		}
		from = v.after(c)
	}
	if visible != nil {
		return v.page(kind, from, size), nil
	}
	to := min(from.at+size, len(snap.plans))
	p := listPage[D]{list: snap.descs[from.at:to:to]}
	p.entries = snap.entries[from.at:to:to]
	if to < len(snap.plans) {
		p.next = snap.cursor(kind, to-1, to-1)
	}
	return p, nil
}

// position is where a page begins: at an index in the snapshot, and after a
// number of visible entries, as far as the client's cursor can be believed.
type position struct{ at, seen int }

// view is what the client of an exchange sees of a list.
type view[D any, P plan[D]] struct {
	*snapshot[D, P]
	visible func(key string) bool
}

// after returns the position after the entry of c.
func (v view[D, P]) after(c cursor) position {
	if i, ok := v.index[c.key]; ok && v.visible(c.key) {
		return position{i + 1, min(c.index, maxIndex-1) + 1}
	}
	seen := 0
	for i, p := range v.plans {
		if !v.visible(p.key()) {
			continue
		}
		if seen == c.index {
			return position{i, seen}
		}
		seen++
	}
	return position{len(v.plans), seen}
}

// page returns the visible entries from a position on. There is a next page only
// if it has an entry.
func (v view[D, P]) page(kind mcp.FeatureKind, from position, size int) listPage[D] {
	p, last := listPage[D]{list: []*D{}}, 0
	for i := from.at; i < len(v.plans); i++ {
		if !v.visible(v.plans[i].key()) {
			continue
		}
		if len(p.list) == size {
			p.next = v.cursor(kind, last, min(from.seen+size-1, maxIndex))
			break
		}
		p.list, p.entries, last = append(p.list, v.descs[i]), append(p.entries, v.entries[i]), i
	}
	return p
}

// cursor returns the cursor of the page after the entry at i. seen is the number
// of entries before that one that the client sees.
func (s *snapshot[D, P]) cursor(kind mcp.FeatureKind, i, seen int) *string {
	text := cursor{kind, seen, s.plans[i].key()}.String()
	return &text
}

func (s *Server) visible(ctx context.Context, x *mcp.Exchange, kind mcp.FeatureKind, name string) bool {
	return s.opts.Visible == nil || s.opts.Visible(ctx, x, kind, name)
}

// decodeParams decodes the params of a request of the protocol; absent params
// count as an empty object.
func decodeParams(x *mcp.Exchange, v any) error {
	if x.Params == nil {
		return nil
	}
	if err := wire.Unmarshal(x.Params, v); err != nil {
		return mcp.InvalidParams("params of %s: %v", x.Method, err)
	}
	return nil
}

// shorten cuts text from a client to a length that is worth repeating to it.
func shorten(s string) string {
	const limit = 100
	if len(s) <= limit {
		return s
	}
	for limit := limit; ; limit-- {
		if utf8.RuneStart(s[limit]) {
			return s[:limit] + "…"
		}
	}
}
