package era

import (
	"encoding/json"
	"maps"
	"sync/atomic"

	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// stamp marks a result as complete, unless the handler gave it the type of an
// extension, and names the server that made it. What another server said about
// itself in a result that is passed on is removed.
func stamp(f *mcp.ResultFields, name mcp.Meta) {
	f.Meta = f.Meta.WithoutReserved()
	if f.ResultType == "" {
		f.ResultType = mcp.ResultComplete
	}
	if len(f.Meta) == 0 {
		f.Meta = name
		return
	}
	meta := maps.Clone(name)
	maps.Copy(meta, f.Meta)
	f.Meta = meta
}

// naming encodes a server's name, which nearly never changes. It is safe for
// concurrent use.
type naming struct{ last atomic.Pointer[named] }

type named struct {
	name, title, version string
	meta                 mcp.Meta
	text                 json.RawMessage // meta, encoded
	inner                json.RawMessage // text without its brackets
}

// brief returns how a server names itself in every result; clients get its icons
// and description from server/discover. The value is shared and must not be
// changed.
func (n *naming) brief(i *mcp.Implementation) *named {
	if l := n.last.Load(); l != nil && l.name == i.Name && l.title == i.Title && l.version == i.Version {
		return l
	}
	meta := nameMeta(&mcp.Implementation{Name: i.Name, Title: i.Title, Version: i.Version})
	text, err := wire.Marshal(meta)
	if err != nil {
		text = json.RawMessage("{}") // strings always have a JSON form
	}
	l := &named{i.Name, i.Title, i.Version, meta, text, text[1 : len(text)-1]}
	n.last.Store(l)
	return l
}

// nameMeta returns the member of _meta that names a server.
func nameMeta(i *mcp.Implementation) mcp.Meta {
	text, err := wire.Marshal(i)
	if err != nil {
		text = []byte("{}") // strings always have a JSON form
	}
	return mcp.Meta{mcp.MetaServerInfo: text}
}

// cacheable fills in the cache hints that some results must have. Hints that are
// none, such as those of another server, become the careful ones.
//
// Spec: 2026-07-28 server/utilities/caching#cacheable-results.
func cacheable(c *mcp.CacheFields) {
	if c.TTLMs == nil || *c.TTLMs < 0 {
		c.TTLMs = new(int64)
	}
	if c.CacheScope != mcp.CachePublic {
		c.CacheScope = mcp.CachePrivate
	}
}
