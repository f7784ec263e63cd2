package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/parley-mcp/parley/card"
	"github.com/parley-mcp/parley/cmd/parley/internal/target"
	"github.com/parley-mcp/parley/internal/httpcall"
	"github.com/parley-mcp/parley/internal/safehttp"
	"github.com/parley-mcp/parley/internal/wire"
)

const (
	maxCard     = 1 << 20 // bytes of a card or a catalogue
	cardTimeout = 15 * time.Second
)

// finder finds the cards of a server or a host that the user has named.
type finder struct {
	at   *url.URL
	http *http.Client
}

func newFinder(t target.Target) (*finder, error) {
	if t.URL == "" {
		return nil, usagef("a server that is a command has no server card: cards are for servers at a URL")
	}
	u, err := httpcall.ParseURL(t.URL)
	if err != nil {
		return nil, usagef("%v", err)
	}
	return &finder{u, safehttp.New(safehttp.Options{NamedBy: u, AllowHTTP: true, MaxBytes: maxCard, Timeout: cardTimeout})}, nil
}

// webPage is what a URL answered.
type webPage struct {
	url    string
	status int
	header http.Header
	body   []byte
}

// publishedCard is a card, or why there is none.
type publishedCard struct {
	url  string // "" is within a catalogue
	doc  []byte
	card *card.Card
	err  error
}

// request sends a request without credentials, and reads the answer.
func (f *finder) request(ctx context.Context, method, at string, header map[string]string) (*webPage, error) {
	req, err := http.NewRequestWithContext(ctx, method, at, nil)
	if err != nil {
		return nil, err
	}
	for name, value := range header {
		req.Header.Set(name, value)
	}
	resp, err := f.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }() // it was read, or is not needed
	p := &webPage{url: at, status: resp.StatusCode, header: resp.Header}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		return p, nil // this is an endpoint of the protocol
	}
	p.body, err = io.ReadAll(io.LimitReader(resp.Body, maxCard+1))
	return p, err
}

func (f *finder) get(ctx context.Context, at, accept string) (*webPage, error) {
	return f.request(ctx, http.MethodGet, at, map[string]string{"Accept": accept})
}

// isCard reports whether this is a card, if perhaps a bad one.
func (p *webPage) isCard() bool {
	return p.isObject() && (strings.HasPrefix(p.header.Get("Content-Type"), card.MediaType) || bytes.Contains(p.member("$schema"), []byte("server-card")))
}

// isCatalog reports whether this is a catalogue, if perhaps a bad one.
func (p *webPage) isCatalog() bool {
	return p.isObject() && (strings.HasPrefix(p.header.Get("Content-Type"), card.CatalogMediaType) || isCatalog(p.body))
}

func (p *webPage) isObject() bool {
	return p.status == http.StatusOK && bytes.HasPrefix(bytes.TrimSpace(p.body), []byte("{"))
}

func (p *webPage) member(name string) []byte {
	var members map[string]any
	if wire.Unmarshal(p.body, &members) != nil {
		return nil
	}
	return wire.Find(p.body, name)
}

// isCatalog tells a catalogue from a card.
func isCatalog(doc []byte) bool {
	var members map[string]any
	return wire.Unmarshal(doc, &members) == nil && members["specVersion"] != nil && members["$schema"] == nil
}

// document returns the card or the catalogue that the URL leads to: the card at the reserved
// place beside it, what is at the URL itself, or the catalogue of the host.
//
// Spec: extensions/server-card docs/discovery#hosted-server-card-location.
func (f *finder) document(ctx context.Context) (*webPage, error) {
	at := f.at.String()
	beside, err := card.Location(at)
	if err != nil {
		return nil, err
	}
	catalog := (&url.URL{Scheme: f.at.Scheme, Host: f.at.Host, Path: card.CatalogPath}).String()
	places := []struct {
		url, accept string
		fits        func(*webPage) bool
	}{
		{beside, card.MediaType, (*webPage).isCard},
		{at, card.MediaType + ", " + card.CatalogMediaType + ", application/json;q=0.5", func(p *webPage) bool { return p.isCard() || p.isCatalog() }},
		{catalog, card.CatalogMediaType, (*webPage).isCatalog},
	}
	if strings.HasSuffix(f.at.Path, "/server-card") || f.at.Path == card.CatalogPath {
		places = places[1:2]
	}
	var tried []string
	for _, p := range places {
		page, err := f.get(ctx, p.url, p.accept)
		switch {
		case errors.Is(err, safehttp.ErrRefused), errors.Is(err, safehttp.ErrTooLarge):
			tried = append(tried, fmt.Sprintf("%s (%v)", target.MaskURL(p.url), reason(err)))
		case err != nil:
			return nil, err
		case p.fits(page):
			return page, nil
		default:
			tried = append(tried, fmt.Sprintf("%s (%d)", target.MaskURL(p.url), page.status))
		}
	}
	return nil, &failure{
		code: codeNotDeclared, err: fmt.Errorf("there is no server card at %s", strings.Join(tried, ", nor at ")),
		hint: "a card may be anywhere: name its own URL",
	}
}

// reason returns an error without the URL that was asked for.
func reason(err error) error {
	if at, ok := errors.AsType[*url.Error](err); ok {
		return at.Err
	}
	return err
}

// cards returns the card that the URL leads to, or all that the catalogue does.
func (f *finder) cards(ctx context.Context, note func(format string, args ...any)) ([]publishedCard, error) {
	page, err := f.document(ctx)
	if err != nil {
		return nil, err
	}
	if path := strings.Trim(f.at.Path, "/"); path != "" && page.url != f.at.String() && !page.isCard() {
		note("there is no card at %s; these are those that the host lists", target.MaskURL(f.at.String()))
	}
	if page.isCard() {
		c, err := card.Parse(page.body)
		if err != nil {
			return nil, &failure{code: codeFailed, err: fmt.Errorf("%s: %w", page.url, err), hint: `"parley card lint" says what is wrong`}
		}
		return []publishedCard{{url: page.url, doc: page.body, card: c}}, nil
	}
	found := f.listed(ctx, page.url)
	if len(found) == 0 {
		return nil, &failure{code: codeNotDeclared, err: fmt.Errorf("the catalogue %s lists no server card", page.url)}
	}
	return found, nil
}

// listed returns the cards that a catalogue leads to.
func (f *finder) listed(ctx context.Context, catalog string) []publishedCard {
	c := &card.Client{HTTP: f.http, Timeout: cardTimeout}
	var found []publishedCard
	for entry, err := range c.Discover(ctx, catalog) {
		p := publishedCard{err: err}
		if entry != nil {
			p.url, p.card = entry.URL, entry.Card
		}
		if err == nil {
			p.doc, p.err = wire.Marshal(entry.Card)
		}
		found = append(found, p)
	}
	return found
}

// one returns the only card.
func one(found []publishedCard) (*publishedCard, error) {
	if len(found) > 1 {
		urls := make([]string, 0, len(found))
		for _, f := range found {
			urls = append(urls, f.url)
		}
		return nil, &failure{code: codeUsage, err: errors.New("the host lists several cards"), hint: "name one: " + strings.Join(urls, ", ")}
	}
	return &found[0], found[0].err
}
