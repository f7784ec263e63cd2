package auth

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/parley-mcp/parley/internal/httpcall"
	"github.com/parley-mcp/parley/internal/safehttp"
)

const (
	// fetchTimeout bounds a request to an authorization server, because a
	// client's request waits for it.
	fetchTimeout = 10 * time.Second
	// maxDocument bounds the response of an authorization server, in bytes.
	maxDocument = 512 << 10
)

// fetcher makes requests to an authorization server.
type fetcher struct {
	http *http.Client
	// issuer is the server that is asked; URLs that it names must be https, or,
	// like itself, on the loopback.
	issuer *url.URL
	own    bool // whether http is used here only
}

// newFetcher returns a fetcher that uses c, or, if c is nil, a client that
// reaches only the issuer and public addresses.
func newFetcher(c *http.Client, issuer *url.URL) *fetcher {
	if c == nil {
		return &fetcher{safehttp.New(safehttp.Options{NamedBy: issuer, MaxBytes: maxDocument, Timeout: fetchTimeout}), issuer, true}
	}
	own := *c
	own.CheckRedirect = safehttp.CheckRedirect
	own.Jar = nil
	if own.Timeout == 0 {
		own.Timeout = fetchTimeout
	}
	return &fetcher{&own, issuer, false}
}

// rest closes idle connections.
func (f *fetcher) rest() {
	if f.own {
		f.http.CloseIdleConnections()
	}
}

// checkURL refuses URLs over which requests and keys would travel unencrypted.
func (f *fetcher) checkURL(s string) error {
	u, err := httpsURL(s)
	if err == nil && u.Scheme == "http" && !safehttp.IsLoopback(f.issuer) {
		err = fmt.Errorf("%q must be https, because the issuer is not on the loopback", cut(s))
	}
	return err
}

// httpsURL parses the URL of an endpoint: https, or on the loopback.
func httpsURL(s string) (*url.URL, error) {
	u, err := httpcall.ParseURL(s)
	switch {
	case err != nil || u.User != nil || u.Fragment != "":
		return nil, fmt.Errorf("%q: an https URL with a host is needed, without a user name and a fragment", cut(s))
	case u.Scheme == "http" && !safehttp.IsLoopback(u):
		return nil, fmt.Errorf("%q must be https, because it is not on the loopback", cut(s))
	}
	return u, nil
}

// answer is the response of a server.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// do makes a request and reads the whole response.
func (f *fetcher) do(req *http.Request) (*answer, error) {
	req.Header.Set("Accept", "application/json")
	resp, err := f.http.Do(req) //nolint:gosec,nolintlint // the client is for URLs of others; gosec does not always see this
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }() // it was read, or is not needed
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxDocument+1))
	if err != nil {
		return nil, fmt.Errorf("%s: the answer did not arrive whole: %w", req.URL.Redacted(), err)
	}
	if len(body) > maxDocument {
		return nil, fmt.Errorf("%s: the answer is over %d bytes", req.URL.Redacted(), maxDocument)
	}
	return &answer{resp.StatusCode, resp.Header, body}, nil
}

// get fetches a document.
func (f *fetcher) get(ctx context.Context, at string) (*answer, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil) //nolint:gosec,nolintlint // the operator chose where, or the issuer did; gosec does not always see this
	if err != nil {
		return nil, err
	}
	a, err := f.do(req)
	if err == nil && a.status != http.StatusOK {
		err = fmt.Errorf("%s: status %d", req.URL.Redacted(), a.status)
	}
	return a, err
}
