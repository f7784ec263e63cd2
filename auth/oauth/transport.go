package oauth

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/parley-mcp/parley/internal/challenge"
	"github.com/parley-mcp/parley/internal/httpcall"
)

// Transport returns a transport that sends requests to the server with the
// token, and answers its challenges. base sends them; nil means
// http.DefaultTransport. Requests to other origins, and those that already have
// an Authorization header, pass unchanged.
//
// A request can only be repeated if it has GetBody, which http.NewRequest sets
// for bodies in memory; otherwise the response is returned as it came. The
// errors of a failed authorization wrap mcp.ErrUnauthorized. If the server does
// not accept what could be obtained, its last response is returned.
func (c *Client) Transport(base http.RoundTripper) http.RoundTripper {
	return &transport{c, baseOf(base)}
}

type transport struct {
	client *Client
	base   http.RoundTripper
}

// CloseIdleConnections passes http.Client.CloseIdleConnections on to base.
func (t *transport) CloseIdleConnections() {
	if closer, ok := t.base.(interface{ CloseIdleConnections() }); ok {
		closer.CloseIdleConnections()
	}
}

// Credentials identifies the token that a request with this context would be sent
// with, for caches of private results. It is not known when the token has ended,
// because the request would get another one.
//
// Spec: 2026-07-28 server/utilities/caching#cache-scope-field.
func (t *transport) Credentials(ctx context.Context) (id string, known bool) {
	id, known = httpcall.Carried(ctx, t.base)
	token := t.client.token(ctx)
	switch {
	case !known || token == nil:
		return id, known
	case token.endsWithin(0):
		return "", false
	}
	return id + " " + token.Access, true
}

// RoundTrip implements http.RoundTripper.
//
// Spec: 2026-07-28 basic/authorization#token-requirements.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if !httpcall.SameOrigin(req.URL, t.client.server) || req.Header.Get("Authorization") != "" {
		return t.base.RoundTrip(req)
	}
	token, err := t.client.ready(req.Context())
	if err != nil {
		closeBody(req)
		return nil, err
	}
	op := operation{transport: t, req: req, token: token}
	return op.run() //nolint:contextcheck // the request has it
}

// ready returns the token to send with a request, renewed if it is about to
// end; nil if there is none, so that the server has to send a challenge.
func (c *Client) ready(ctx context.Context) (*credential, error) {
	t := c.token(ctx)
	if t == nil || !t.endsWithin(c.opts.Leeway) {
		return t, ctx.Err()
	}
	if t.Refresh == "" && c.opts.Grant.interactive() && !t.endsWithin(0) {
		return t, nil // it cannot be renewed early without the user
	}
	fresh, err := c.acquire(ctx, need{stale: t, renew: true, challenged: true})
	switch {
	case err == nil:
		return fresh, nil
	case ctx.Err() != nil || c.ctx.Err() != nil:
		return nil, err
	case t.endsWithin(0):
		return nil, nil //nolint:nilnil // the challenge says how to go on
	}
	return t, nil
}

// operation is a request, including its repetitions.
type operation struct {
	*transport
	req      *http.Request
	token    *credential
	sent     int
	attempts int
	nonces   int
	renonced bool // the last response has a nonce that was not used
}

func (o *operation) run() (*http.Response, error) {
	for {
		resp, err := o.send()
		if err != nil {
			return nil, err
		}
		n, again := o.judge(resp)
		if !again || o.req.Body != nil && o.req.Body != http.NoBody && o.req.GetBody == nil {
			return resp, nil
		}
		discard(resp) // before the user is asked, which takes time
		if n == nil {
			continue
		}
		o.attempts++
		if o.token, err = o.client.acquire(o.req.Context(), *n); err != nil {
			return nil, err
		}
	}
}

// send sends the request with the token.
func (o *operation) send() (*http.Response, error) {
	req := o.req.Clone(o.req.Context())
	if o.sent++; o.sent > 1 && o.req.GetBody != nil {
		body, err := o.req.GetBody()
		if err != nil {
			return nil, err
		}
		req.Body = body
	}
	nonce := ""
	if o.token != nil {
		nonce = o.client.nonces.get(req.URL)
		if err := o.token.attach(req, nonce); err != nil {
			closeBody(req)
			return nil, err
		}
	}
	resp, err := o.base.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	o.renonced = o.client.nonces.note(resp, req.URL, nonce)
	return resp, nil
}

// maxNonces is how often a server may demand a new nonce in the proof of one
// request.
const maxNonces = 2

// attach puts the token into a request.
func (c *credential) attach(req *http.Request, nonce string) error {
	if !c.bound() {
		req.Header.Set("Authorization", "Bearer "+c.Access)
		return nil
	}
	proof, err := c.key.Proof(req.Method, req.URL.String(), c.Access, nonce)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "DPoP "+c.Access)
	req.Header.Set(headerProof, proof)
	return nil
}

// judge reports whether the request is to be sent again, and what is needed
// before that; nil if only a nonce was missing.
func (o *operation) judge(resp *http.Response) (*need, bool) {
	if o.token != nil && resp.StatusCode != http.StatusUnauthorized {
		o.token.unproven.Store(false)
	}
	if resp.StatusCode != http.StatusUnauthorized && resp.StatusCode != http.StatusForbidden {
		return nil, false
	}
	demand, ok := demandOf(resp, o.token != nil && o.token.bound())
	if !ok {
		return nil, false
	}
	if resp.StatusCode == http.StatusUnauthorized && demand.Get("error") == "use_dpop_nonce" && o.token != nil && o.token.bound() {
		o.nonces++
		return nil, o.renonced && o.nonces <= maxNonces
	}
	if o.attempts >= o.client.opts.MaxAttempts {
		return nil, false
	}
	n := &need{stale: o.token, scopes: split(demand.Get("scope")), metadata: demand.Get("resource_metadata"), challenged: true}
	if resp.StatusCode == http.StatusUnauthorized {
		return n, !o.inVain()
	}
	n.stepUp = true
	return n, o.token != nil && demand.Get("error") == "insufficient_scope" && !o.futile(n)
}

// demandOf returns the challenge in a response. A 401 without one counts as a
// challenge, too: servers of 2025-03-26 send those.
func demandOf(resp *http.Response, bound bool) (*challenge.Challenge, bool) {
	all := challenge.Parse(resp.Header.Values("WWW-Authenticate"))
	schemes := []string{"Bearer", "DPoP"}
	if bound {
		slices.Reverse(schemes)
	}
	for _, scheme := range schemes {
		for i := range all {
			if all[i].Is(scheme) {
				return &all[i], true
			}
		}
	}
	return &challenge.Challenge{}, len(all) == 0
}

// inVain reports whether the refused token is one that the user has just logged
// in for: another like it would be refused, too.
func (o *operation) inVain() bool {
	t := o.token
	return t != nil && t.unproven.Load() && !t.refreshed && o.client.isCurrent(t) && time.Since(t.Authorized) < o.client.opts.Cooldown
}

// futile reports whether the demanded scopes were requested a moment ago, and
// did not help.
//
// Spec: 2026-07-28 basic/authorization#step-up-authorization-flow.
func (o *operation) futile(n *need) bool {
	t := o.token
	return covers(t.Requested, n.scopes) && o.client.isCurrent(t) && time.Since(t.Authorized) < o.client.opts.Cooldown
}

func (c *Client) isCurrent(t *credential) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.current == t
}
