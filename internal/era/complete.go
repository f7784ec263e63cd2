package era

import (
	"encoding/json"
	"maps"
	"sync/atomic"

	"github.com/parley-mcp/parley/internal/revision"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// complete adds to a result what every result of the stateless era has. The
// handler's value is copied, not changed: it may be shared.
//
// Spec: 2026-07-28 basic#result-responses.
func complete(result any, by *named, f *revision.Facts) (any, error) {
	name := by.meta
	switch r := result.(type) {
	case *mcp.CallToolResult:
		return completeCall(r, by), nil
	case *mcp.ListToolsResult:
		return toolList(r, cacheableHeading(r.ResultFields, r.CacheFields, name), f), nil
	case *mcp.ListResourcesResult:
		return resourceList(r, cacheableHeading(r.ResultFields, r.CacheFields, name), f), nil
	case *mcp.ListResourceTemplatesResult:
		return templateList(r, cacheableHeading(r.ResultFields, r.CacheFields, name), f), nil
	case *mcp.ListPromptsResult:
		return promptList(r, cacheableHeading(r.ResultFields, r.CacheFields, name), f), nil
	case *mcp.ReadResourceResult:
		c := *r
		h := cacheableHeading(r.ResultFields, r.CacheFields, name)
		c.ResultFields, c.CacheFields = h.ResultFields, h.CacheFields
		return &c, nil
	case *mcp.GetPromptResult:
		c := *r
		stamp(&c.ResultFields, name)
		return &c, nil
	case *mcp.CompleteResult:
		c := *r
		stamp(&c.ResultFields, name)
		return &c, nil
	case *mcp.EmptyResult:
		c := *r
		stamp(&c.ResultFields, name)
		return &c, nil
	case nil:
		c := mcp.EmptyResult{}
		stamp(&c.ResultFields, name)
		return &c, nil
	}
	return completeRaw(result, name)
}

// completeRaw does the same for a result of a custom method, or one that a
// proxy passes on: what it has is kept, known or not.
func completeRaw(result any, name mcp.Meta) (any, error) {
	doc, err := wire.Marshal(result)
	if err != nil {
		return nil, err
	}
	var have struct {
		mcp.ResultFields
	}
	if err := wire.Unmarshal(doc, &have); err != nil {
		return nil, err
	}
	stamp(&have.ResultFields, name)
	meta, err := wire.Marshal(have.Meta)
	if err != nil {
		return nil, err
	}
	kind, err := wire.Marshal(have.ResultType)
	if err != nil {
		return nil, err
	}
	if doc, err = wire.Set(doc, "resultType", kind); err != nil {
		return nil, err
	}
	doc, err = wire.Set(doc, "_meta", meta)
	return json.RawMessage(doc), err
}

func cacheableHeading(f mcp.ResultFields, c mcp.CacheFields, name mcp.Meta) heading {
	stamp(&f, name)
	cacheable(&c)
	return heading{f, c}
}

// stamp says that a result is complete, unless the handler gave it the type
// of an extension, and who made it. What another server said of itself in a
// result that is passed on is not said by this one.
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
	text                 json.RawMessage // the form of meta
}

// brief is how a server names itself in every result; who wants its pictures
// and descriptions asks server/discover. It is shared, and must not be changed.
func (n *naming) brief(i *mcp.Implementation) *named {
	if l := n.last.Load(); l != nil && l.name == i.Name && l.title == i.Title && l.version == i.Version {
		return l
	}
	meta := nameMeta(&mcp.Implementation{Name: i.Name, Title: i.Title, Version: i.Version})
	text, err := wire.Marshal(meta)
	if err != nil {
		text = nil // it is encoded again where it is needed
	}
	l := &named{i.Name, i.Title, i.Version, meta, text}
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

// cacheable fills in the hints that these results must have.
//
// Spec: 2026-07-28 server/utilities/caching#cacheable-results.
func cacheable(c *mcp.CacheFields) {
	if c.TTLMs == nil || *c.TTLMs < 0 {
		c.TTLMs = new(int64)
	}
	if c.CacheScope == "" {
		c.CacheScope = mcp.CachePrivate
	}
}
