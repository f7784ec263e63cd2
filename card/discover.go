package card

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/url"

	"github.com/parley-mcp/parley/internal/httpcall"
)

// Bounds on what a catalogue can make a client do.
const (
	maxNesting = 4   // of catalogues
	maxVisited = 200 // documents
)

// Found is a card that a catalogue leads to.
type Found struct {
	// Entry is what the catalogue says. Its DisplayName, Description and Version, where
	// they are set, replace those of the card.
	Entry Entry
	// URL is where the card is; "" is within the catalogue.
	URL string
	// Card is nil if there is an error.
	Card *Card
}

// Discover finds the servers that a host offers: it fetches the catalogue, as Catalog does,
// then the card of each of its entries, and those of the catalogues that it refers to, at most
// four levels deep and 200 documents in all. A card that cannot be had is an error together
// with its entry, and the next one follows. If the catalogue itself cannot be had, the entry
// is nil.
//
// Spec: extensions/server-card docs/discovery#client-discovery-flow.
func (c *Client) Discover(ctx context.Context, at string) iter.Seq2[*Found, error] {
	return func(yield func(*Found, error) bool) {
		at, err := catalogURL(at)
		if err != nil {
			yield(nil, err)
			return
		}
		catalog, err := c.Catalog(ctx, at)
		if err != nil {
			yield(nil, err)
			return
		}
		w := walk{c: c, ctx: ctx, yield: yield, base: at, left: maxVisited, visited: map[string]bool{at: true}}
		w.catalog(catalog, 1)
	}
}

// walk is a walk over catalogues.
type walk struct {
	c       *Client
	ctx     context.Context //nolint:containedctx // it lives as long as the call of Discover
	yield   func(*Found, error) bool
	base    string // URLs are relative to it
	left    int    // documents that may still be fetched
	visited map[string]bool
}

// catalog reports whether the walk goes on.
func (w *walk) catalog(catalog *Catalog, depth int) bool {
	for i := range catalog.Entries {
		e := &catalog.Entries[i]
		if e.Type == MediaType && !w.card(e) || e.Type == CatalogMediaType && !w.nested(e, depth+1) {
			return false
		}
	}
	return true
}

// card passes on the card of an entry.
func (w *walk) card(e *Entry) bool {
	f := &Found{Entry: *e}
	at, err := w.enter(e)
	switch {
	case err != nil:
	case at == "":
		f.Card, err = Parse(e.Data)
	default:
		f.URL = at
		f.Card, err = w.c.Card(w.ctx, at)
	}
	if err != nil {
		return w.yield(&Found{Entry: *e, URL: f.URL}, fmt.Errorf("%.200s: %w", e.Identifier, err))
	}
	f.Card = f.Card.safe()
	return w.yield(f, nil)
}

// nested walks over the catalogue of an entry, once.
func (w *walk) nested(e *Entry, depth int) bool {
	at, err := w.enter(e)
	if at != "" && w.visited[at] {
		return true
	}
	w.visited[at] = true
	var catalog *Catalog
	switch {
	case err != nil:
	case depth > maxNesting:
		err = fmt.Errorf("catalogues are nested more than %d levels deep", maxNesting)
	case at == "":
		catalog, err = ParseCatalog(e.Data)
	default:
		catalog, err = w.c.Catalog(w.ctx, at)
	}
	if err != nil {
		return w.yield(&Found{Entry: *e, URL: at}, fmt.Errorf("%.200s: %w", e.Identifier, err))
	}
	if at != "" {
		outer := w.base
		w.base = at
		defer func() { w.base = outer }()
	}
	return w.catalog(catalog, depth)
}

// enter counts a document, and returns its absolute URL, or "" if it is part of the entry.
func (w *walk) enter(e *Entry) (string, error) {
	switch inline := len(e.Data) > 0 && string(e.Data) != "null"; {
	case inline == (e.URL != ""):
		return "", errors.New("the entry must have either url or data")
	case w.left <= 0:
		return "", fmt.Errorf("the catalogue leads to more than %d documents", maxVisited)
	}
	w.left--
	if e.URL == "" {
		return "", nil
	}
	base, err := url.Parse(w.base)
	if err != nil {
		return "", err
	}
	u, err := base.Parse(e.URL)
	if err != nil {
		return "", err
	}
	_, err = httpcall.ParseURL(u.String())
	return u.String(), err
}
