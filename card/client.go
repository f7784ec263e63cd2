package card

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/parley-mcp/parley/internal/content"
	"github.com/parley-mcp/parley/internal/httpcall"
	"github.com/parley-mcp/parley/internal/safehttp"
	"github.com/parley-mcp/parley/mcp"
)

// fetchTimeout is the default of Client.Timeout.
const fetchTimeout = 10 * time.Second

// Client reads cards and catalogues, whose URLs are often the word of somebody else. So it
// goes to public addresses over https only, unless its fields allow more, follows redirects
// within an origin only, reads at most 1 MiB, and sends no credentials. It keeps a few
// documents for as long as their servers say, and then asks whether they have changed. The
// zero value is ready for use. A Client is safe for concurrent use; its fields must not be
// changed once it is in use.
//
// Spec: extensions/server-card docs/discovery#client-discovery-flow.
type Client struct {
	// Origin is a URL that the user has chosen: its origin may be at any address. If it is
	// on the loopback, the rest of this machine is allowed, too.
	Origin string
	// AllowPrivate allows this machine and private networks.
	AllowPrivate bool
	// AllowHTTP allows http even to other machines.
	AllowHTTP bool
	// HTTP sends the requests in place of a client that keeps to the rules above; which
	// addresses it reaches is then up to it.
	HTTP *http.Client
	// Timeout bounds a request including its response. 0 means 10 seconds.
	Timeout time.Duration

	once sync.Once
	http *http.Client
	err  error
	kept shelf
}

// HTTPError is the answer of a server that has no document.
type HTTPError struct {
	URL    string
	Status int
}

// Error names the URL and the status.
func (e *HTTPError) Error() string {
	return fmt.Sprintf("%s: status %d %s", e.URL, e.Status, http.StatusText(e.Status))
}

// Card fetches a card. Of its icons, those that a client may show are left. If the server
// answers with another status than 200, the error is an *HTTPError. For what else makes it
// fail, see Parse.
func (c *Client) Card(ctx context.Context, at string) (*Card, error) {
	d, err := c.fetch(ctx, at, MediaType)
	if err != nil {
		return nil, err
	}
	card, err := Parse(d.text)
	if err != nil {
		return nil, d.fault(at, err)
	}
	return card.safe(), nil
}

// safe leaves out the icons that a client must not show.
func (c *Card) safe() *Card {
	c.Icons = slices.DeleteFunc(c.Icons, func(i mcp.Icon) bool { return !content.SafeIcon(i.Src) })
	return c
}

// Catalog fetches a catalogue. If the URL has no path, this is the one of that host, at its
// well-known URI. Errors are as those of Card.
//
// Spec: extensions/server-card docs/discovery#well-known-uri.
func (c *Client) Catalog(ctx context.Context, at string) (*Catalog, error) {
	at, err := catalogURL(at)
	if err != nil {
		return nil, err
	}
	d, err := c.fetch(ctx, at, CatalogMediaType)
	if err != nil {
		return nil, err
	}
	catalog, err := ParseCatalog(d.text)
	if err != nil {
		return nil, d.fault(at, err)
	}
	return catalog, nil
}

// catalogURL returns where the catalogue is that a URL stands for.
func catalogURL(at string) (string, error) {
	u, err := httpcall.ParseURL(at)
	if err == nil && (u.Path == "" || u.Path == "/") {
		at = (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: CatalogPath}).String()
	}
	return at, err
}

// Close closes the connections that the client keeps. It can still be used.
func (c *Client) Close() {
	if own, err := c.client(); err == nil && c.HTTP == nil {
		own.CloseIdleConnections()
	}
}

func (c *Client) client() (*http.Client, error) {
	c.once.Do(func() { c.http, c.err = c.newClient() })
	return c.http, c.err
}

func (c *Client) newClient() (*http.Client, error) {
	timeout := c.Timeout
	if timeout <= 0 {
		timeout = fetchTimeout
	}
	if c.HTTP != nil {
		own := *c.HTTP
		own.CheckRedirect, own.Jar, own.Timeout = safehttp.CheckRedirect, nil, timeout
		return &own, nil
	}
	o := safehttp.Options{AllowLoopback: c.AllowPrivate, AllowPrivate: c.AllowPrivate, AllowHTTP: c.AllowHTTP, MaxBytes: maxDocument, Timeout: timeout}
	if c.Origin != "" {
		u, err := httpcall.ParseURL(c.Origin)
		if err != nil {
			return nil, fmt.Errorf("card.Client.Origin: %w", err)
		}
		o.NamedBy = u
	}
	return safehttp.New(o), nil
}

// fetch returns a document that is kept, if it is fresh, or asks for it.
//
// Spec: extensions/server-card docs/discovery#caching.
func (c *Client) fetch(ctx context.Context, at, mediaType string) (*document, error) {
	web, err := c.client()
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", mediaType)
	key := mediaType + " " + at
	old := c.kept.find(key)
	if old != nil {
		if time.Now().Before(old.fresh) {
			return old, nil
		}
		req.Header.Set("If-None-Match", old.tag)
	}
	resp, err := web.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }() // it was read, or is not needed
	switch {
	case old != nil && resp.StatusCode == http.StatusNotModified:
		again := *old
		again.fresh = freshUntil(resp.Header)
		c.kept.keep(key, &again, resp.Header)
		return &again, nil
	case resp.StatusCode != http.StatusOK:
		return nil, &HTTPError{URL: req.URL.Redacted(), Status: resp.StatusCode}
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxDocument+1))
	if err != nil {
		return nil, fmt.Errorf("%s: the document did not arrive whole: %w", req.URL.Redacted(), err)
	}
	d := &document{text: text, mediaType: resp.Header.Get("Content-Type"), tag: resp.Header.Get("ETag"), fresh: freshUntil(resp.Header)}
	c.kept.keep(key, d, resp.Header)
	return d, nil
}
