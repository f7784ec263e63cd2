// Package httpcall is what the clients of the HTTP transports share: where a
// request may go, and with whose credentials.
package httpcall

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/parley-mcp/parley/internal/loopback"
)

// ParseURL reads the URL of a server: http or https, with a host.
func ParseURL(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	if err != nil {
		return nil, err
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("URL %q: it must be an http or https URL with a host", u.Redacted())
	}
	return u, nil
}

// maxIdle is how many idle connections are kept for later calls. More
// concurrent calls than that work, but open new connections. An idle connection
// is closed after 90 seconds.
const maxIdle = 256

// Guarded returns a client like c, which may be nil, that does not carry
// credentials to other origins: it follows no redirect there, nor one that
// would turn a request into another.
func Guarded(c *http.Client) *http.Client {
	var g http.Client
	if c != nil {
		g = *c
	} else if t, ok := http.DefaultTransport.(*http.Transport); ok {
		own := t.Clone()
		own.MaxIdleConnsPerHost = maxIdle    // concurrent calls are the normal case
		own.MaxIdleConns = maxIdle           // and nearly all of them go to one host
		own.MaxResponseHeaderBytes = 1 << 20 // the default is ten times as much
		g.Transport = own
	}
	g.CheckRedirect = checkRedirect
	return &g
}

// RedirectError says that a redirect was not followed.
type RedirectError struct {
	// URL is where the server wanted to have the request sent, and Other whether that is of
	// another origin.
	URL   *url.URL
	Other bool
	// Status is that of the response.
	Status int
}

// Error names the URL without its password.
func (e *RedirectError) Error() string {
	if e.Other {
		return fmt.Sprintf("refused a redirect to another origin; if it is to be trusted, use the URL %q", e.URL.Redacted())
	}
	return fmt.Sprintf("refused a redirect (%d) that does not keep the request; use the URL %q", e.Status, e.URL.Redacted())
}

// checkRedirect refuses redirects that would send a message, or a request's
// headers, to a place it was not meant for.
func checkRedirect(next *http.Request, via []*http.Request) error {
	other, status := !SameOrigin(next.URL, via[0].URL), next.Response.StatusCode
	switch {
	case other, status != http.StatusTemporaryRedirect && status != http.StatusPermanentRedirect:
		return &RedirectError{next.URL, other, status}
	case len(via) >= 10:
		return errors.New("stopped after 10 redirects")
	}
	return nil
}

// SameOrigin reports whether two URLs have the same scheme, host and port.
func SameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && port(a) == port(b)
}

// IsLoopback reports whether a host, given without port, is this machine.
func IsLoopback(host string) bool { return loopback.Is(host) }

func port(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}
