package catalogue

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/internal/access"
	"github.com/parley-mcp/parley/internal/vendors/adapt"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// View is a part of the whole.
type View struct {
	// Name is that by which guards know it; "" is the whole.
	Name string
	// Backends are the names of those that it shows; nil is all.
	Backends []string
	// Has reports whether it shows a definition of theirs; nil shows all. It may be called
	// concurrently.
	Has func(d *guard.Definition) bool
	// Profile is what the client's models take of lists of tools; nil is everything.
	Profile *adapt.Profile
	// Differs says that others who ask in the same way may get something else: another
	// profile, or another view.
	Differs bool
}

// metaMissing is the key of _meta of lists for which not all backends have answered: an
// object with the reason for each.
const metaMissing = "com.github.parley-mcp/unavailable"

// whole is a merged list, before anything is left out.
type whole struct {
	method *mcp.Method
	parts  []part
	ttl    time.Duration
	scope  mcp.CacheScope
	// missing are the backends that have not answered, and why.
	missing map[string]error
	// told is what of that the client is told.
	told map[string]string
	// unfit are the tools that are left out for the client, and why.
	unfit map[string]string
}

// part is the list of one backend.
type part struct {
	backend string
	content *content
}

// List returns the page of a merged list that a cursor points to, or the first: a pointer
// to the result type of the method. Backends that cannot be asked do not make it fail.
func (c *Catalogue) List(ctx context.Context, peer *mcp.Peer, method string, v View, cursor *string) (any, error) {
	if methods[method] == nil {
		return nil, &mcp.MethodNotFoundError{Method: method}
	}
	var at *place
	if cursor != nil {
		var ok bool
		if at, ok = parsePlace(*cursor); !ok || at.method != method {
			return nil, mcp.InvalidParams("invalid cursor %.100q", *cursor)
		}
	}
	w, err := c.gather(ctx, peer, method, v.Backends)
	if err != nil {
		return nil, err
	}
	if len(c.opts.Guards) > 0 || v.Has != nil || v.Differs {
		w.scope = mcp.CachePrivate
	}
	sees := c.sees(ctx, peer, v)
	w.told = c.told(w.missing, peer, sees)
	w.adapt(v.Profile, sees, c.opts.Logger)
	return w.page(at, c.opts.PageSize, sees)
}

// Entry is what a backend lists, and what clients see of it.
type Entry struct {
	*guard.Definition

	// Entry is what clients see: under their names, and with what the configuration makes
	// tools say, but before guards have changed it.
	Entry json.RawMessage
}

// Entries returns all that backends list, whoever may see it, and why some are missing.
func (c *Catalogue) Entries(ctx context.Context, peer *mcp.Peer, method string) (entries []Entry, missing map[string]error, err error) {
	w, err := c.gather(ctx, peer, method, nil)
	if err != nil {
		return nil, nil, err
	}
	for _, p := range w.parts {
		for i, d := range p.content.defs {
			entries = append(entries, Entry{d, p.content.plain[i]})
		}
	}
	return entries, w.missing, nil
}

// sees returns what tells what a peer sees of a view.
func (c *Catalogue) sees(ctx context.Context, peer *mcp.Peer, v View) func(*guard.Definition) bool {
	guarded := guard.Look(ctx, c.opts.Guards, peer, v.Name)
	return func(d *guard.Definition) bool { return (v.Has == nil || v.Has(d)) && guarded(d) }
}

// gather asks all backends at once, and waits for those that answer in time.
func (c *Catalogue) gather(ctx context.Context, peer *mcp.Peer, method string, backends []string) (*whole, error) {
	w := &whole{method: mcp.MethodNamed(method), ttl: longest, scope: mcp.CachePublic}
	var waits []pending
	for _, s := range c.sources {
		if backends == nil || slices.Contains(backends, s.Names.Name()) {
			waits = append(waits, s.lists[method].begin(ctx, peer))
		}
	}
	if len(waits) == 0 {
		w.ttl = c.opts.Default
	}
	for i := range waits {
		name := waits[i].list.source.Names.Name()
		h, err := waits[i].await(ctx, peer)
		if err != nil {
			return nil, err
		}
		w.add(name, h)
	}
	return w, nil
}

// add adds the list of a backend. One that says nothing about keeping it is kept as long
// as a client may be without news.
func (w *whole) add(backend string, h held) {
	if h.err != nil {
		if w.missing == nil {
			w.missing = map[string]error{}
		}
		w.missing[backend] = h.err
		h.left = 0
	}
	w.ttl = min(w.ttl, h.left)
	if h.scope != mcp.CachePublic {
		w.scope = mcp.CachePrivate
	}
	if h.content != nil {
		w.parts = append(w.parts, part{backend, h.content})
	}
}

// result makes the result of a list of what is seen of it.
func (w *whole) result(values []any, entries []*wire.Entry, next *string) (any, error) {
	ttl := w.ttl.Milliseconds()
	cache := mcp.CacheFields{TTLMs: &ttl, CacheScope: w.scope}
	var fields mcp.ResultFields
	if w.told != nil {
		if err := fields.Meta.Set(metaMissing, w.told); err != nil {
			return nil, err
		}
	}
	if w.unfit != nil {
		if err := fields.Meta.Set(metaUnfit, w.unfit); err != nil {
			return nil, err
		}
	}
	result := made(w.method.Name, fields, cache, values, next)
	access.SetEntries(result, entries)
	return result, nil
}

func made(method string, fields mcp.ResultFields, cache mcp.CacheFields, values []any, next *string) any {
	switch method {
	case mcp.MethodListTools:
		return &mcp.ListToolsResult{ResultFields: fields, CacheFields: cache, Tools: of[mcp.Tool](values), NextCursor: next}
	case mcp.MethodListPrompts:
		return &mcp.ListPromptsResult{ResultFields: fields, CacheFields: cache, Prompts: of[mcp.Prompt](values), NextCursor: next}
	case mcp.MethodListResources:
		return &mcp.ListResourcesResult{ResultFields: fields, CacheFields: cache, Resources: of[mcp.Resource](values), NextCursor: next}
	case mcp.MethodListTemplates:
		return &mcp.ListResourceTemplatesResult{ResultFields: fields, CacheFields: cache, ResourceTemplates: of[mcp.ResourceTemplate](values), NextCursor: next}
	default:
		return &mcp.ListSkillsResult{ResultFields: fields, CacheFields: cache, Skills: of[mcp.Skill](values), NextCursor: next}
	}
}

// of returns values by their type.
func of[T any](values []any) []*T {
	list := make([]*T, len(values))
	for i, v := range values {
		list[i], _ = v.(*T)
	}
	return list
}
