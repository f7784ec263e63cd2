package cli

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/parley-mcp/parley/card"
	"github.com/parley-mcp/parley/cmd/parley/internal/target"
)

// cardOf returns the server card of a server at a URL, or nil if it has none: the one
// beside its endpoint, or that in the catalogue of its host which names the endpoint.
// What prevents reading it is said, and is no failure: cards are optional.
func (a *app) cardOf(ctx context.Context, t target.Target) json.RawMessage {
	f, err := newFinder(t)
	if err != nil {
		return nil // the URL was good enough to connect to
	}
	page, err := f.document(ctx)
	switch {
	case err != nil && failureOf(ctx, a.failed(err, t)).code == codeNotDeclared:
		return nil
	case err != nil:
		a.note("the server card was not judged: %s", oneLine(err.Error(), 1000))
		return nil
	case page.isCard():
		return page.body
	}
	for _, p := range f.listed(ctx, page.url) {
		if p.err == nil && slices.ContainsFunc(p.card.Remotes, func(r card.Remote) bool { return r.URL == t.URL }) {
			return p.doc
		}
	}
	return nil
}
