package card

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/parley-mcp/parley/internal/httpserve"
	"github.com/parley-mcp/parley/internal/loopback"
	"github.com/parley-mcp/parley/internal/rates"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// DefaultMaxAge is how long clients may reuse a card or a catalogue without asking again.
const DefaultMaxAge = time.Hour

// The default rate of requests of one address.
var standardRate = mcp.Rate{PerSecond: 20, Burst: 100}

// HandlerOptions say how cards and catalogues are served. The zero value and nil are the
// defaults.
type HandlerOptions struct {
	// MaxAge is how long clients may reuse the document without asking again. 0 means
	// DefaultMaxAge; less than a second makes them ask each time.
	MaxAge time.Duration
	// Rate bounds the requests of one address; over it they get a 429. The default is 20
	// a second and bursts of 100, and no bound for programs of this machine.
	Rate mcp.Rate
	// TrustedProxies are the networks of proxies whose word is taken for the address of
	// a client, as in streamable.Options.
	TrustedProxies []string
}

// Handler serves the card, as it is now, to everybody, whatever its URL: with its media
// type, for pages of every origin, and with an entity tag that depends on nothing but the
// card. It fails with an *InvalidError if the card must not be published. The handler is
// safe for concurrent use.
//
// Spec: extensions/server-card docs/discovery#cors-requirements.
// Spec: extensions/server-card docs/discovery#caching.
func (c *Card) Handler(o *HandlerOptions) (http.Handler, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	return newPage(c, MediaType, o)
}

// Handler serves the catalogue, as it is now, to everybody; see Card.Handler.
func (c *Catalog) Handler(o *HandlerOptions) (http.Handler, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	return newPage(c, CatalogMediaType, o)
}

// page is a document that anybody may read.
type page struct {
	text    []byte
	header  http.Header
	loop    bool // whether programs of this machine are bounded, too
	limit   *rates.Keyed[string]
	proxies *httpserve.Proxies
}

func newPage(document any, mediaType string, o *HandlerOptions) (*page, error) {
	if o == nil {
		o = &HandlerOptions{}
	}
	text, err := wire.Marshal(document)
	if err != nil {
		return nil, err
	}
	proxies, err := httpserve.NewProxies(o.TrustedProxies)
	if err != nil {
		return nil, fmt.Errorf("card.HandlerOptions.TrustedProxies: %w", err)
	}
	age := o.MaxAge
	if age == 0 {
		age = DefaultMaxAge
	}
	digest := sha256.Sum256(text)
	header := http.Header{}
	for name, value := range map[string]string{
		"Content-Type":                  mediaType,
		"X-Content-Type-Options":        "nosniff",
		"Cache-Control":                 "public, max-age=" + strconv.Itoa(max(0, int(age/time.Second))),
		"ETag":                          `"` + base64.RawURLEncoding.EncodeToString(digest[:12]) + `"`,
		"Access-Control-Allow-Origin":   "*",
		"Access-Control-Allow-Methods":  "GET",
		"Access-Control-Allow-Headers":  "Content-Type, If-None-Match",
		"Access-Control-Expose-Headers": "ETag",
	} {
		header.Set(name, value)
	}
	return &page{text, header, o.Rate.PerSecond > 0, rates.New[string](o.Rate, standardRate), proxies}, nil
}

// ServeHTTP implements http.Handler.
func (p *page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	for name, values := range p.header {
		if strings.HasPrefix(name, "Access-Control-") {
			h[name] = values
		}
	}
	if wait := p.wait(r); wait > 0 {
		h.Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
		http.Error(w, "too many requests", http.StatusTooManyRequests)
		return
	}
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		maps.Copy(h, p.header)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(p.text))
	case http.MethodOptions:
		h.Set("Access-Control-Max-Age", "7200")
		h.Set("Allow", allowed)
		w.WriteHeader(http.StatusNoContent)
	default:
		h.Set("Allow", allowed)
		http.Error(w, "this document can only be read", http.StatusMethodNotAllowed)
	}
}

const allowed = "GET, HEAD, OPTIONS"

// wait returns how long the sender of a request has to wait.
//
// Spec: extensions/server-card docs/discovery#denial-of-service.
func (p *page) wait(r *http.Request) time.Duration {
	address := p.proxies.Client(r)
	if !p.loop && loopback.Is(address) {
		return 0
	}
	return p.limit.Take(address)
}

// Mount serves each card at its reserved place, beside its endpoint, and one catalogue of
// them at its well-known URI. The mux must serve the root of the origin in the cards' URLs;
// with another layout, serve Card.Handler and Catalog.Handler at paths of your own. Call it
// once, with all cards of the origin: it fails if the mux has something at one of these
// paths already, and if a card must not be published, and then serves nothing. It takes GET,
// HEAD and OPTIONS for itself, so that patterns such as "GET /" may be there, too.
//
// The card of a server that demands a login is public nevertheless: mount it on the mux
// that stands around the auth.Guard, as that of the guard's metadata does.
//
// Spec: extensions/server-card docs/discovery#hosted-server-card-location.
func Mount(mux *http.ServeMux, o *HandlerOptions, cards ...*Card) error {
	if slices.Contains(cards, nil) {
		return errors.New("card.Mount got a card that is nil; look at the error of card.New")
	}
	catalog, err := NewCatalog(cards...)
	if err != nil {
		return err
	}
	pages := map[string]http.Handler{}
	for i, c := range cards {
		u, err := url.Parse(catalog.Entries[i].URL)
		if err != nil {
			return err
		}
		path := u.EscapedPath()
		if pages[path] != nil {
			return fmt.Errorf("two cards have the same place, %s", path)
		}
		if pages[path], err = c.Handler(o); err != nil {
			return fmt.Errorf("the card %q: %w", c.Name, err)
		}
	}
	if pages[CatalogPath], err = catalog.Handler(o); err != nil {
		return fmt.Errorf("the catalogue: %w", err)
	}
	for path := range pages {
		if strings.ContainsAny(path, "{}") {
			return fmt.Errorf("no mux can serve %s", path)
		}
		for _, method := range mounted {
			_, taken := mux.Handler(&http.Request{Method: method, URL: &url.URL{Path: path}})
			if taken != "" && strings.HasSuffix(taken, path) {
				return errors.New("the mux serves " + path + " already; mount all cards of an origin in one call")
			}
		}
	}
	for path, h := range pages {
		for _, method := range mounted {
			mux.Handle(method+" "+path, h)
		}
	}
	return nil
}

// mounted are the methods of the patterns of Mount. A pattern without a method would be in
// conflict with others for a single one, which are common; GET stands for HEAD, too.
var mounted = []string{http.MethodGet, http.MethodOptions}
