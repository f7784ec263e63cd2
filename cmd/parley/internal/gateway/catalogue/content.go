package catalogue

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/yosida95/uritemplate/v3"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/naming"
	"github.com/parley-mcp/parley/internal/schema"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// content is what a list of a backend holds. It does not change, and is shared by all who
// see the same. The index for searching is made when it is needed.
type content struct {
	digest  digest
	defs    []*guard.Definition
	plain   []json.RawMessage // the entries before guards have changed them
	values  []any             // of the type of the entries
	entries []*wire.Entry     // of values
	index   map[string]int

	forms sync.Map // content in the form of a profile, by that
	unfit []unfit  // what is left out there

	indexed sync.Once
	found   *index

	compiled  sync.Once
	templates []*uritemplate.Template // by the index of their definition; nil is none
}

type digest [sha256.Size]byte

// find returns the definition that is shown under a name, or nil.
func (c *content) find(shown string) *guard.Definition {
	if c == nil {
		return nil
	}
	if i, ok := c.index[shown]; ok {
		return c.defs[i]
	}
	return nil
}

// fitting returns the templates that a URI can have been made with.
func (c *content) fitting(uri string) (fit []*guard.Definition) {
	if c == nil {
		return nil
	}
	c.compiled.Do(func() {
		c.templates = make([]*uritemplate.Template, len(c.defs))
		for i, d := range c.defs {
			c.templates[i], _ = uritemplate.New(d.Name) // one that is none makes no URI
		}
	})
	for i, t := range c.templates {
		if t != nil && t.Match(uri) != nil {
			fit = append(fit, c.defs[i])
		}
	}
	return fit
}

// digestOf identifies the entries of pages.
func digestOf(method string, pages []json.RawMessage) (sum digest) {
	h := sha256.New()
	for _, page := range pages {
		h.Write(wire.Find(page, naming.Member(method)))
	}
	h.Sum(sum[:0])
	return sum
}

// read makes the content of a list of its pages. Entries that make no sense, and those that
// have the name of an earlier one, are left out: they cost nobody the others.
func (l *list) read(sum digest, pages []json.RawMessage) *content {
	c := &content{digest: sum, index: map[string]int{}}
	var first error
	left := 0
	for _, page := range pages {
		for _, raw := range elements(wire.Find(page, naming.Member(l.method.Name))) {
			if err := c.add(l, raw); err != nil {
				left++
				first = cmp.Or(first, err)
			}
		}
	}
	l.unlisted(pages)
	if left > 0 {
		l.catalogue.opts.Logger.Warn("entries of a list are left out", "backend", l.source.Names.Name(), "method", l.method.Name, "entries", left, "first", first)
	}
	return c
}

func (c *content) add(l *list, raw json.RawMessage) error {
	names, method := l.source.Names, l.method.Name
	kind, own := naming.EntryName(method, raw)
	if own == "" {
		return errNoName
	}
	if !names.Has(kind, own) {
		return nil
	}
	def := &guard.Definition{Kind: kind, List: method, Backend: names.Name(), Name: own, Shown: names.Shown(kind, own), Raw: raw}
	if _, ok := c.index[def.Shown]; ok {
		return &twiceError{own}
	}
	shown, err := names.Entry(method, raw)
	if err != nil {
		return err
	}
	if shown, err = wire.AppendRaw(nil, shown); err != nil {
		return err
	}
	return c.show(l, def, shown)
}

// show adds a definition as clients see it, once guards have changed it.
func (c *content) show(l *list, def *guard.Definition, plain json.RawMessage) error {
	shown := plain
	for _, e := range l.catalogue.editors {
		shown = e.Edit(def, shown)
	}
	value := methods[l.method.Name]()
	if err := wire.Unmarshal(shown, value); err != nil {
		return err
	}
	if tool, ok := value.(*mcp.Tool); ok {
		def.Annotations = cmp.Or(def.Annotations, tool.Annotations)
		// Clients have no use for a tool whose annotations break the rules.
		def.Headers, _ = schema.Headers(tool.InputSchema)
	}
	c.index[def.Shown] = len(c.defs)
	c.defs = append(c.defs, def)
	c.plain = append(c.plain, plain)
	c.values = append(c.values, value)
	c.entries = append(c.entries, wire.NewRawEntry(value, shown))
	return nil
}

// again is the content as the guards of another list change it.
func (c *content) again(l *list) *content {
	shown := &content{digest: c.digest, index: map[string]int{}}
	for i, def := range c.defs {
		own := *def // the other list goes on with the old one
		if err := shown.show(l, &own, c.plain[i]); err != nil {
			l.catalogue.opts.Logger.Warn("an entry of a list is left out", "backend", l.source.Names.Name(), "method", l.method.Name, "error", err)
		}
	}
	return shown
}

// elements returns the elements of an array.
func elements(array []byte) (list []json.RawMessage) {
	s := wire.Skim(array)
	if s.Next() != '[' {
		return nil
	}
	for s.Enter(); s.Next() != ']' && s.Next() != 0; {
		list = append(list, s.Skip())
	}
	return list
}

// longest bounds how long a list is kept.
const longest = 24 * time.Hour

// hints are what a backend says about keeping a list: the least of what its pages say. ttl
// is negative if it says nothing.
//
// Spec: 2026-07-28 server/utilities/caching#interaction-with-pagination.
type hints struct {
	ttl   time.Duration
	scope mcp.CacheScope
}

func hintsOf(pages []json.RawMessage) hints {
	h := hints{ttl: -1, scope: mcp.CachePublic}
	for _, page := range pages {
		said, err := cacheFieldsOf(page)
		if err != nil || said.CacheScope != mcp.CachePublic {
			h.scope = mcp.CachePrivate
		}
		if said.TTLMs == nil {
			continue
		}
		ttl := time.Duration(min(max(*said.TTLMs, 0), longest.Milliseconds())) * time.Millisecond
		if h.ttl < 0 || ttl < h.ttl {
			h.ttl = ttl
		}
	}
	if len(pages) == 0 {
		h.scope = mcp.CachePrivate
	}
	return h
}

// cacheFieldsOf decodes what a page says about keeping it, and nothing else: pages are long.
func cacheFieldsOf(page json.RawMessage) (said mcp.CacheFields, err error) {
	for name, value := range wire.Each(page) {
		switch string(name) {
		case "ttlMs":
			err = errors.Join(err, wire.Unmarshal(value, &said.TTLMs))
		case "cacheScope":
			err = errors.Join(err, wire.Unmarshal(value, &said.CacheScope))
		}
	}
	return said, err
}
