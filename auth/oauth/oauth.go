// Package oauth authorizes a client: it answers the challenges of MCP servers
// over HTTP. A Client is for one server. Its Transport goes beneath any client
// that takes an http.RoundTripper; it attaches the access token, and when the
// server demands one it discovers the authorization server, registers, lets the
// user log in, and repeats the request.
//
//	login, err := oauth.New(&oauth.Options{URL: url})
//	...
//	defer login.Close()
//	t := &streamable.Client{URL: url, HTTP: &http.Client{Transport: login.Transport(nil)}}
//
// Spec: 2026-07-28 basic/authorization#authorization-flow-steps.
package oauth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"

	"github.com/parley-mcp/parley/internal/httpcall"
	"github.com/parley-mcp/parley/internal/safehttp"
)

// Client gets, keeps and renews the tokens for one MCP server. All methods may
// be called concurrently.
type Client struct {
	opts   Options
	server *url.URL
	policy safehttp.Options
	http   *http.Client
	store  Store
	nonces nonces

	ctx   context.Context //nolint:containedctx // what waits for a user outlives the request that began it
	end   context.CancelCauseFunc
	tasks sync.WaitGroup

	mu      sync.Mutex
	loaded  bool
	current *credential
	logouts int // counts their beginnings and their ends
	flight  *flight
	failed  failure
}

// ErrClosed says that a Client was closed.
var ErrClosed = errors.New("the OAuth client is closed")

// New returns a Client, without any I/O yet. opts is copied; its URL must be set.
// An error says which option is missing or wrong.
func New(opts *Options) (*Client, error) {
	o, err := cmp.Or(opts, &Options{}).withDefaults()
	if err != nil {
		return nil, err
	}
	u, err := httpcall.ParseURL(o.URL)
	if err != nil {
		return nil, fmt.Errorf("oauth.Options.URL: %w", err)
	}
	policy := safehttp.Options{
		NamedBy: u, AllowLoopback: o.AllowPrivate, AllowPrivate: o.AllowPrivate, AllowHTTP: o.AllowHTTP,
		MaxBytes: o.MaxBytes, Timeout: o.RequestTimeout,
	}
	if err := policy.Check(u); err != nil {
		return nil, fmt.Errorf("oauth.Options.URL: tokens cannot be sent to this server: %w; see Options.AllowHTTP", err)
	}
	c := &Client{opts: o, server: u, policy: policy, store: o.Store, http: httpClient(o, policy)}
	c.ctx, c.end = context.WithCancelCause(context.Background())
	return c, nil
}

// String keeps the options, which may hold secrets, out of logs.
func (c *Client) String() string { return "OAuth client for " + c.server.Redacted() }

// GoString implements fmt.GoStringer.
func (c *Client) GoString() string { return c.String() }

// httpClient returns the client that sends OAuth requests.
func httpClient(o Options, policy safehttp.Options) *http.Client {
	if o.HTTP == nil {
		return safehttp.New(policy)
	}
	own := *o.HTTP
	own.CheckRedirect = safehttp.CheckRedirect
	own.Jar = nil
	if own.Timeout == 0 {
		own.Timeout = o.RequestTimeout
	}
	return &own
}

// Close ends whatever is under way and waits for it. Tokens stay in the store.
func (c *Client) Close() error {
	c.mu.Lock()
	c.end(ErrClosed)
	c.mu.Unlock()
	c.tasks.Wait()
	if c.opts.HTTP == nil {
		c.http.CloseIdleConnections()
	}
	return nil
}
