package scan

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/internal/texts"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// index knows the tools of all backends, by what people and models call them.
type index struct {
	mu sync.Mutex
	// called are the backends that have a tool of a name, of their own or as clients see
	// it, and alike the tools whose names look the same.
	called map[string]map[string]bool
	alike  map[string][]tool
	size   atomic.Int64
}

type tool struct{ backend, name string }

const (
	// maxNames bounds the tools that are known, and maxSpoken the names in one definition.
	maxNames  = 100_000
	maxSpoken = 200
	// maxProse bounds what is looked at of a description, in bytes.
	maxProse = 16_000
)

// add makes a tool known. It returns what its name looks like.
func (x *index) add(d *guard.Definition) string {
	if d.Kind != mcp.ToolFeature {
		return ""
	}
	skeleton := texts.Skeleton(d.Name)
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.called == nil {
		x.called, x.alike = map[string]map[string]bool{}, map[string][]tool{}
	}
	if x.called[d.Name][d.Backend] || x.size.Load() >= maxNames {
		return skeleton
	}
	for _, name := range []string{d.Name, d.Shown} {
		if x.called[name] == nil {
			x.called[name] = map[string]bool{}
		}
		x.called[name][d.Backend] = true
	}
	x.alike[skeleton] = append(x.alike[skeleton], tool{d.Backend, d.Name})
	x.size.Add(1)
	return skeleton
}

// compare says how a definition meddles with another backend, or "". news reports whether
// that is not what it said last.
func (x *index) compare(d *guard.Definition, v *verdict) (what string, news bool) {
	names := x.size.Load()
	had := v.shadows.Load()
	if had != nil && had.names == names {
		return had.what, false
	}
	what = x.shadows(d, v)
	v.shadows.Store(&compared{names, what})
	return what, had == nil || had.what != what
}

// shadows says how a definition meddles with another backend, or "".
func (x *index) shadows(d *guard.Definition, v *verdict) string {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, other := range x.alike[v.looks] {
		if v.looks != "" && other.backend != d.Backend && other.name != d.Name && isTaken(d.Name, other.name) {
			return fmt.Sprintf("a name that looks like %q of the backend %q", other.name, other.backend)
		}
	}
	for _, name := range v.speaks {
		backends := x.called[name]
		if len(backends) == 0 || backends[d.Backend] {
			continue
		}
		least := ""
		for b := range backends {
			if least == "" || b < least {
				least = b
			}
		}
		return fmt.Sprintf("the name of the tool %q of the backend %q", name, least)
	}
	return ""
}

// isTaken reports whether one name can be taken for another because of its letters, and
// not only because it is written in another style.
func isTaken(one, other string) bool {
	plain := func(name string) string {
		return strings.ToLower(strings.NewReplacer("_", "", "-", "", ".", "").Replace(name))
	}
	return plain(one) != plain(other)
}

var nameForm = regexp.MustCompile(`[A-Za-z0-9_.-]*[A-Za-z0-9]`)

// namesIn are the words of several parts in what a definition says, which can be names of
// tools; a single word may be one of the language.
func namesIn(d *guard.Definition, shown []byte) (names []string) {
	seen := map[string]bool{d.Name: true, d.Shown: true}
	for _, member := range []string{"description", "title"} {
		text, _ := wire.Text(wire.Find(shown, member))
		for _, word := range nameForm.FindAllString(text[:min(len(text), maxProse)], -1) {
			if !seen[word] && hasParts(word) && len(names) < maxSpoken {
				seen[word] = true
				names = append(names, word)
			}
		}
	}
	return names
}

// hasParts reports whether a word is made of several, as in read_file or readFile.
func hasParts(word string) bool {
	for i, r := range word {
		if i > 0 && (r == '_' || r == '-' || r >= 'A' && r <= 'Z') {
			before, _ := utf8.DecodeLastRuneInString(word[:i])
			if r == '_' || r == '-' || before >= 'a' && before <= 'z' {
				return true
			}
		}
	}
	return false
}
