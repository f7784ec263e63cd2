package catalogue

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"strings"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// place is where a page begins: after an entry of a backend. It holds nothing of this
// process. If the entry is gone, or hidden, index says roughly where it was, among those
// that the client sees.
//
// Spec: 2026-07-28 server/utilities/pagination#pagination-model.
type place struct {
	method  string
	backend string
	entry   [8]byte // a hash of its name
	index   int
}

// maxIndex bounds the index of a place.
const maxIndex = 1<<31 - 1

// placeVersion is the first byte of every cursor.
const placeVersion = 1

// numbers are those of lists in cursors.
var numbers = []string{mcp.MethodListTools, mcp.MethodListPrompts, mcp.MethodListResources, mcp.MethodListTemplates, mcp.MethodListSkills}

func hash(shown string) (sum [8]byte) {
	full := sha256.Sum256([]byte(shown))
	copy(sum[:], full[:])
	return sum
}

// String returns the cursor.
func (p *place) String() string {
	b := []byte{placeVersion, 0}
	for i, method := range numbers {
		if method == p.method {
			b[1] = byte(i)
		}
	}
	b = append(b, p.entry[:]...)
	b = binary.AppendUvarint(b, uint64(p.index)) //nolint:gosec // an index is not negative
	return base64.RawURLEncoding.EncodeToString(append(b, p.backend...))
}

// parsePlace accepts exactly what String returns.
func parsePlace(text string) (*place, bool) {
	const head, most = 10, 100 // bytes
	if len(text) > most {
		return nil, false
	}
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(b) < head || b[0] != placeVersion || int(b[1]) >= len(numbers) {
		return nil, false
	}
	index, n := binary.Uvarint(b[head:])
	if n <= 0 || index > maxIndex {
		return nil, false
	}
	p := &place{method: numbers[b[1]], backend: strings.ToValidUTF8(string(b[head+n:]), ""), index: int(index)}
	copy(p.entry[:], b[2:])
	return p, p.String() == text
}

// position is an entry of a whole: where it is, and how many before it are seen, as far
// as the client's cursor can be believed.
type position struct{ part, entry, seen int }

// page returns a page of what is seen, of at most size entries, or of any number if size
// is 0.
func (w *whole) page(at *place, size int, sees func(*guard.Definition) bool) (any, error) {
	var from position
	if at != nil {
		from = w.after(at, sees)
	}
	room := w.size()
	if size > 0 {
		room = min(room, size)
	}
	values, entries := make([]any, 0, room), make([]*wire.Entry, 0, room)
	var last position
	for p := from.part; p < len(w.parts); p++ {
		c := w.parts[p].content
		for i := from.entry; i < len(c.defs); i++ {
			if !sees(c.defs[i]) {
				continue
			}
			if size > 0 && len(values) == size {
				return w.result(values, entries, w.next(last))
			}
			values, entries = append(values, c.values[i]), append(entries, c.entries[i])
			last = position{p, i, from.seen + len(values) - 1}
		}
		from.entry = 0
	}
	return w.result(values, entries, nil)
}

// size is the number of all entries.
func (w *whole) size() (n int) {
	for _, p := range w.parts {
		n += len(p.content.defs)
	}
	return n
}

// next returns the cursor of the page after an entry.
func (w *whole) next(last position) *string {
	p := w.parts[last.part]
	at := place{w.method.Name, p.backend, hash(p.content.defs[last.entry].Shown), min(last.seen, maxIndex)}
	text := at.String()
	return &text
}

// after returns the position after a place.
func (w *whole) after(at *place, sees func(*guard.Definition) bool) position {
	for p := range w.parts {
		if w.parts[p].backend != at.backend {
			continue
		}
		for i, d := range w.parts[p].content.defs {
			if hash(d.Shown) == at.entry && sees(d) {
				return position{p, i + 1, min(at.index+1, maxIndex)}
			}
		}
	}
	seen := 0
	for p := range w.parts {
		for i, d := range w.parts[p].content.defs {
			if !sees(d) {
				continue
			}
			if seen == at.index {
				return position{p, i, seen}
			}
			seen++
		}
	}
	return position{part: len(w.parts), seen: seen}
}
