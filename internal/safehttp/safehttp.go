// Package safehttp is an HTTP client for URLs that others supply, such as those
// of metadata documents and keys: whoever supplies one must not be able to send
// this program to places that only this program can reach.
//
// Spec: 2026-07-28 basic/authorization/security-considerations#communication-security.
package safehttp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/parley-mcp/parley/internal/httpcall"
)

// Options say what is allowed in addition to https to public addresses. The
// zero value allows nothing else.
type Options struct {
	// NamedBy is the server that supplies the URLs. Its own origin, which the
	// user has chosen, is allowed at any address; and if it is on the loopback,
	// so is the rest of the loopback. nil means no such server.
	NamedBy *url.URL
	// AllowLoopback allows this machine.
	AllowLoopback bool
	// AllowPrivate allows private networks (RFC 1918, RFC 4193) and the shared
	// addresses of providers (RFC 6598). Link-local addresses, where clouds keep
	// credentials, stay refused.
	AllowPrivate bool
	// AllowHTTP allows http even to other machines.
	AllowHTTP bool
	// MaxBytes bounds the body of a response. 0 means 1 MiB.
	MaxBytes int64
	// Timeout bounds a request including its response. 0 means 30 seconds.
	Timeout time.Duration
}

// ErrRefused says that a URL, or the address it leads to, is not allowed.
var ErrRefused = errors.New("refused")

// ErrTooLarge says that a response is over Options.MaxBytes.
var ErrTooLarge = errors.New("the response is too large")

// New returns a client that enforces the options. Addresses are checked when
// they are dialled, after name resolution, so that a name cannot change its
// address in between. Proxies of the environment are used; they resolve names
// themselves, so refusing what lies behind them is up to them. Redirects are
// followed within an origin only, and only for GET and HEAD. It is safe for
// concurrent use; CloseIdleConnections closes the connections that it keeps.
func New(o Options) *http.Client {
	if o.MaxBytes <= 0 {
		o.MaxBytes = 1 << 20
	}
	if o.Timeout <= 0 {
		o.Timeout = 30 * time.Second
	}
	if o.NamedBy != nil {
		o.AllowLoopback = o.AllowLoopback || IsLoopback(o.NamedBy)
	}
	return &http.Client{
		Transport:     &transport{o, newTransport(o.dial, nil), newTransport(new(net.Dialer).DialContext, http.ProxyFromEnvironment)},
		CheckRedirect: CheckRedirect,
		Timeout:       o.Timeout,
	}
}

type dialFunc func(ctx context.Context, network, addr string) (net.Conn, error)

func newTransport(dial dialFunc, proxy func(*http.Request) (*url.URL, error)) *http.Transport {
	return &http.Transport{
		DialContext:            dial,
		Proxy:                  proxy,
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    10 * time.Second,
		MaxIdleConns:           8,
		IdleConnTimeout:        30 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
	}
}

// transport checks a URL before anything is sent, and bounds the response.
type transport struct {
	opts            Options
	direct, proxied *http.Transport
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := t.opts.Check(r.URL); err != nil {
		return nil, err
	}
	via := t.direct
	if proxy, err := http.ProxyFromEnvironment(r); err != nil {
		return nil, err
	} else if proxy != nil {
		via = t.proxied
	}
	resp, err := via.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	resp.Body = &limited{resp.Body, t.opts.MaxBytes}
	return resp, nil
}

// CloseIdleConnections passes http.Client.CloseIdleConnections on.
func (t *transport) CloseIdleConnections() {
	t.direct.CloseIdleConnections()
	t.proxied.CloseIdleConnections()
}

// CheckRedirect applies New's rule for redirects in other clients.
func CheckRedirect(next *http.Request, via []*http.Request) error {
	switch {
	case !httpcall.SameOrigin(next.URL, via[0].URL):
		return fmt.Errorf("%w a redirect to another origin, %q", ErrRefused, origin(next.URL))
	case via[0].Method != http.MethodGet && via[0].Method != http.MethodHead:
		return fmt.Errorf("%w a redirect of a %s", ErrRefused, via[0].Method)
	case len(via) >= 5:
		return fmt.Errorf("%w a chain of more than 5 redirects", ErrRefused)
	}
	return nil
}

// limited makes a body that is too large fail, instead of cutting it short.
type limited struct {
	body io.ReadCloser
	left int64
}

// Read implements io.Reader.
func (l *limited) Read(p []byte) (int, error) {
	if int64(len(p)) > l.left+1 {
		p = p[:l.left+1]
	}
	n, err := l.body.Read(p)
	if l.left -= int64(n); l.left < 0 {
		return n + int(l.left), ErrTooLarge
	}
	return n, err
}

// Close implements io.Closer.
func (l *limited) Close() error { return l.body.Close() }
