package gateway

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/jsonptr"
)

// difference is a place where two values are not the same.
type difference struct {
	pointer string
	what    string // lost, added or changed
	near    any
	far     any
}

func (d *difference) String() string {
	switch d.what {
	case "lost":
		return fmt.Sprintf("%s got lost: it was %s", d.pointer, short(d.near))
	case "added":
		return fmt.Sprintf("%s was added: %s", d.pointer, short(d.far))
	default:
		return fmt.Sprintf("%s was changed from %s to %s", d.pointer, short(d.near), short(d.far))
	}
}

func short(v any) string {
	text := string(peer.Encode(v))
	if len(text) > 80 {
		return text[:80] + "…"
	}
	return text
}

// differences compares what a server said with what came through. Numbers are
// the same if they are written the same. skip leaves out pointers.
func differences(near, far any, skip func(pointer string) bool) []difference {
	var all []difference
	walk("", near, far, func(d difference) {
		if skip == nil || !skip(d.pointer) {
			all = append(all, d)
		}
	})
	return all
}

func walk(at string, near, far any, report func(difference)) {
	switch a := near.(type) {
	case map[string]any:
		b, ok := far.(map[string]any)
		if !ok {
			report(difference{at, "changed", near, far})
			return
		}
		walkObject(at, a, b, report)
	case []any:
		b, ok := far.([]any)
		if !ok || len(a) != len(b) {
			report(difference{at, "changed", near, far})
			return
		}
		for i := range a {
			walk(fmt.Sprintf("%s/%d", at, i), a[i], b[i], report)
		}
	case json.Number:
		if b, ok := far.(json.Number); !ok || a.String() != b.String() {
			report(difference{at, "changed", near, far})
		}
	default:
		if near != far {
			report(difference{at, "changed", near, far})
		}
	}
}

func walkObject(at string, a, b map[string]any, report func(difference)) {
	names := slices.Sorted(maps.Keys(a))
	for name := range b {
		if _, ok := a[name]; !ok {
			names = append(names, name)
		}
	}
	for _, name := range names {
		pointer := at + "/" + jsonptr.Escape(name)
		near, here := a[name]
		far, there := b[name]
		if name == "_meta" { // it may have only what belongs to the hop
			near, far, here, there = orEmpty(near), orEmpty(far), true, true
		}
		switch {
		case !there:
			report(difference{pointer, "lost", near, nil})
		case !here:
			report(difference{pointer, "added", nil, far})
		default:
			walk(pointer, near, far, report)
		}
	}
}

func orEmpty(v any) any {
	if v == nil {
		return map[string]any{}
	}
	return v
}

// own reports whether a place belongs to the hop, not to what is passed on: the
// protocol's keys of _meta, the type of a result, what says how long it may be
// kept, and cursors.
//
// Spec: 2026-07-28 basic/index#meta.
func own(pointer string) bool {
	if strings.Contains(pointer, "/_meta/io.modelcontextprotocol~1") {
		return true
	}
	switch pointer {
	case "/resultType", "/ttlMs", "/cacheScope", "/nextCursor", "/requestState":
		return true
	}
	return false
}

// isURI reports whether a place has a URI, which a gateway may have to change.
func isURI(pointer string) bool {
	return strings.HasSuffix(pointer, "/uri") || strings.HasSuffix(pointer, "/uriTemplate")
}

// isLink reports whether a difference is only that of the URI of a link, in the words that
// stand for links in revisions that have none.
func isLink(d difference) bool {
	near, _ := d.near.(string)
	far, _ := d.far.(string)
	name, uri, ok := strings.Cut(near, ": ")
	other, renamed, also := strings.Cut(far, ": ")
	return ok && also && strings.HasPrefix(near, "[resource ") && name == other && strings.HasSuffix(uri, "]") && strings.HasSuffix(renamed, "]")
}

func number(v any) (string, bool) {
	n, ok := v.(json.Number)
	return n.String(), ok
}
