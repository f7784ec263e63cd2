package devauth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"golang.org/x/sync/singleflight"
	"golang.org/x/time/rate"

	"github.com/parley-mcp/parley/internal/safehttp"
	"github.com/parley-mcp/parley/internal/wire"
)

// Bounds on the size of what is fetched, and on how long it is kept, whatever
// its headers say: a single login needs it several times.
const (
	maxDocument   = 16 << 10 // bytes
	maxDocuments  = 1000
	fetchTimeout  = 5 * time.Second
	shortestCache = time.Minute
	usualCache    = 5 * time.Minute
	longestCache  = time.Hour
)

// documents fetches Client ID Metadata Documents and the keys of clients, and
// keeps them.
//
// Spec: 2026-07-28 basic/authorization/security-considerations#client-id-metadata-document-security.
type documents struct {
	http    *http.Client
	limiter *rate.Limiter // anybody can name a URL
	known   *shelf[*client]
	keys    *shelf[*jose.JSONWebKeySet]
	flights singleflight.Group
}

func newDocuments(o Options) *documents {
	var c http.Client
	if o.HTTPClient != nil {
		c = *o.HTTPClient
	} else {
		c = *safehttp.New(safehttp.Options{MaxBytes: maxDocument, Timeout: fetchTimeout})
	}
	// With a redirect, one client could pose as another.
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &documents{http: &c, limiter: newLimiter(), known: newShelf[*client](maxDocuments), keys: newShelf[*jose.JSONWebKeySet](maxDocuments)}
}

// client returns the client that a URL is about.
//
// Spec: 2026-07-28 basic/authorization/client-registration#implementation-requirements.
func (d *documents) client(ctx context.Context, id string) (*client, error) {
	if err := checkDocumentURL(id); err != nil {
		return nil, err
	}
	return cached(ctx, d, d.known, id, func(body []byte) (*client, error) {
		c, err := parseDocument(id, body)
		if err != nil {
			err = fmt.Errorf("the document at the client_id %w", err)
		}
		return c, err
	})
}

// keysOf returns the keys that a client authenticates with.
func (d *documents) keysOf(ctx context.Context, c *client) (*jose.JSONWebKeySet, error) {
	if c.keysURL == "" {
		return c.keys, nil
	}
	return cached(ctx, d, d.keys, c.keysURL, func(body []byte) (*jose.JSONWebKeySet, error) {
		keys := new(jose.JSONWebKeySet)
		return keys, wire.Unmarshal(body, keys)
	})
}

// cached returns the parsed document at a URL. Unless it is cached, it is
// fetched, once for all that wait for it. Failures are not cached.
func cached[V any](ctx context.Context, d *documents, known *shelf[V], target string, parse func([]byte) (V, error)) (v V, err error) {
	if v, ok := known.get(target); ok {
		return v, nil
	}
	made, err, _ := d.flights.Do(target, func() (any, error) {
		// Others may wait for it, so it goes on when the first caller gives up.
		body, fresh, err := d.fetch(context.WithoutCancel(ctx), target)
		if err != nil {
			return nil, fmt.Errorf("the document at %s cannot be fetched: %w", target, err)
		}
		v, err := parse(body)
		if err == nil {
			known.put(target, v, time.Now().Add(fresh))
		}
		return v, err
	})
	v, _ = made.(V)
	return v, err
}

// checkDocumentURL returns an error that says why a URL cannot be a client_id.
func checkDocumentURL(id string) error {
	u, err := url.Parse(id)
	switch {
	case err != nil || len(id) > maxRedirect || u.Scheme != "https" || u.Hostname() == "" || u.User != nil || strings.Contains(id, "#"):
		return errors.New("a client_id that is a URL has to be an https URL with neither user nor fragment")
	case u.Path == "" || u.Path == "/":
		return errors.New("a client_id that is a URL needs a path")
	}
	for part := range strings.SplitSeq(u.Path, "/") {
		if part == "." || part == ".." {
			return errors.New("a client_id that is a URL must not have dots as parts of its path")
		}
	}
	return nil
}

func parseDocument(id string, body []byte) (*client, error) {
	var doc software
	if err := wire.Unmarshal(body, &doc); err != nil {
		return nil, errors.New("is not the metadata of a client")
	}
	switch {
	case doc.ID != id:
		return nil, errors.New("says that it is about another client_id")
	case doc.Name == "":
		return nil, errors.New("has no client_name")
	case doc.Method == "":
		doc.Method = methodNone
	case doc.Method == methodBasic || doc.Method == methodPost:
		return nil, errors.New("asks for a secret, which cannot be given to it")
	}
	if e := doc.check(); e != nil {
		return nil, errors.New("is not acceptable: " + e.description)
	}
	return doc.client(documented), nil
}

// fetch returns a document, and for how long it can be kept.
func (d *documents) fetch(ctx context.Context, target string) ([]byte, time.Duration, error) {
	if !d.limiter.Allow() {
		return nil, 0, errors.New("too many documents are being fetched; try again in a minute")
	}
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target, http.NoBody) //nolint:gosec // fetching what others name is the point; safehttp restricts the addresses
	if err != nil {
		return nil, 0, err
	}
	req.Header.Set("Accept", "application/json")
	resp, err := d.http.Do(req) //nolint:gosec // as above
	if err != nil {
		return nil, 0, reason(err)
	}
	defer func() { _ = resp.Body.Close() }() // the body has been read
	if resp.StatusCode != http.StatusOK {
		return nil, 0, fmt.Errorf("the status is %d instead of 200", resp.StatusCode)
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if kind != "application/json" && (!strings.HasPrefix(kind, "application/") || !strings.HasSuffix(kind, "+json")) {
		return nil, 0, errors.New("its Content-Type is not JSON")
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxDocument+1))
	if err == nil && len(body) > maxDocument {
		err = safehttp.ErrTooLarge
	}
	return body, freshness(resp.Header), err
}

// reason leaves out what the error of a request says about the local network:
// whoever named the URL may also read the page.
func reason(err error) error {
	if errors.Is(err, safehttp.ErrRefused) {
		return errors.New("its address is not allowed")
	}
	return errors.New("the server did not answer")
}

// freshness is how long a response may be kept (RFC 9111), within bounds.
func freshness(h http.Header) time.Duration {
	keep := usualCache
	if t, err := http.ParseTime(h.Get("Expires")); err == nil {
		keep = time.Until(t)
	}
	for directive := range strings.SplitSeq(strings.ToLower(strings.Join(h.Values("Cache-Control"), ",")), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(directive), "=")
		switch name {
		case "no-store", "no-cache":
			return shortestCache
		case "max-age":
			if seconds, err := strconv.Atoi(strings.Trim(value, `"`)); err == nil {
				keep = time.Duration(min(seconds, 1<<20)) * time.Second
			}
		}
	}
	age, _ := strconv.Atoi(h.Get("Age"))
	keep -= time.Duration(max(0, min(age, 1<<20))) * time.Second
	return min(max(keep, shortestCache), longestCache)
}
