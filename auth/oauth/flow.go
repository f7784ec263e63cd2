package oauth

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/parley-mcp/parley/mcp"
)

// need says why a token is needed, and what it must be good for.
type need struct {
	stale      *credential // what was sent and refused; nil if nothing was
	scopes     []string    // demanded by the server
	metadata   string      // the metadata URL of the challenge
	challenged bool        // the server has demanded authorization
	stepUp     bool        // the token is good, but its scopes are not enough
	renew      bool        // without the user, or fail
	anyway     bool        // with renew: even if the token is new
	login      bool        // get a new token, even if there is one
}

// flight is one attempt to get a token, shared by all callers that need one.
type flight struct {
	need   need
	asking chan struct{} // closed when the user is asked
	done   chan struct{}
	token  *credential // after done
	err    error       // after done
}

// failure is why the user is not asked again for a while.
type failure struct {
	err   error
	until time.Time
}

// acquire returns a token that is better than the one in n: one that another
// call has obtained in the meantime, or one that this call obtains. All waiting
// callers share one flight, and none of them can end it.
func (c *Client) acquire(ctx context.Context, n need) (*credential, error) {
	for {
		f, own, err := c.join(n) //nolint:contextcheck // a flight is not one request's
		if err != nil {
			return nil, err
		}
		if f == nil {
			return c.token(ctx), nil
		}
		if err := f.wait(ctx); err != nil {
			return nil, err
		}
		if own || f.serves(n) {
			return f.token, f.err
		}
		// The flight was started by another caller; the next turn shows whether
		// its token is enough for n.
	}
}

// serves reports whether the result of a flight that another caller started is
// also the result for n: if the user has answered, they need not be asked
// twice; and if an authorization server is down, not every caller needs to try
// it in turn.
func (f *flight) serves(n need) bool {
	if f.need.renew {
		return n.renew && f.err != nil
	}
	return f.err != nil || n.login && !f.token.refreshed && covers(f.token.Requested, n.scopes)
}

// join returns the flight to wait for: the one under way, or a new one. It
// returns none if there is a better token already.
func (c *Client) join(n need) (f *flight, own bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.ctx.Err() != nil:
		return nil, false, context.Cause(c.ctx)
	case c.current != nil && c.current != n.stale && !n.login && !c.current.endsWithin(0) && (!n.stepUp || covers(c.current.Requested, n.scopes)):
		return nil, false, nil
	case c.flight != nil:
		return c.flight, false, nil
	case !n.renew && !n.login && time.Now().Before(c.failed.until):
		return nil, false, c.failed.err
	}
	f = &flight{need: n, asking: make(chan struct{}), done: make(chan struct{})}
	c.flight = f
	c.tasks.Go(func() { c.fly(f) }) // ends with the flight, or by its timeout, or with Close
	return f, true, nil
}

// fly gets a token.
func (c *Client) fly(f *flight) {
	ctx, cancel := context.WithTimeoutCause(c.ctx, c.opts.FlowTimeout, fmt.Errorf("authorization took longer than %s", c.opts.FlowTimeout))
	defer cancel()
	f.token, f.err = c.obtain(ctx, f)
	if f.err != nil {
		if ctx.Err() != nil {
			f.err = context.Cause(ctx)
		}
		f.err = fmt.Errorf("%w: %w", mcp.ErrUnauthorized, f.err)
		// Those who wait for the token get the error, or the challenge that follows.
		c.opts.Logger.Debug("no token was obtained", "server", c.server.Redacted(), "error", f.err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.flight = nil
	if f.err == nil {
		c.failed = failure{}
	} else if f.asked() || isFinal(f.err) && !c.opts.Grant.interactive() {
		c.failed = failure{f.err, time.Now().Add(c.opts.Cooldown)}
	}
	close(f.done)
}

func (f *flight) asked() bool {
	select {
	case <-f.asking:
		return true
	default:
		return false
	}
}

// wait waits for the flight while ctx lasts. Time in which the user is asked
// does not count against the server.
func (f *flight) wait(ctx context.Context) error {
	asking := f.asking
	for {
		select {
		case <-f.done:
			return nil
		case <-asking:
			asking = nil
			defer mcp.Waiting(ctx)()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// obtain gets a token, without the user if possible.
func (c *Client) obtain(ctx context.Context, f *flight) (*credential, error) {
	n := f.need
	if !c.opts.Grant.interactive() {
		return c.authorize(ctx, f)
	}
	if !n.login {
		t, err := c.renewed(ctx, c.token(ctx), n)
		if t != nil || err != nil && (n.renew || !isFinal(err) && !errors.Is(err, errCannotRenew)) {
			return t, err
		}
	}
	if n.renew {
		return nil, errCannotRenew
	}
	return c.authorize(ctx, f)
}

// authorize discovers the authorization server and gets a token from it with
// the grant.
func (c *Client) authorize(ctx context.Context, f *flight) (*credential, error) {
	n := f.need
	if old := c.token(ctx); old != nil && n.metadata == "" && (n.stepUp || n.renew) {
		n.metadata = old.Metadata // not every challenge repeats it
	}
	found, err := c.discover(ctx, n.metadata, n.challenged)
	if err != nil {
		return nil, err
	}
	a := &attempt{
		client: c, resource: found.resource, server: found.server,
		scopes: c.selectScopes(n.scopes, found.scopes, c.requestedBefore(ctx, found)),
		asking: func() { close(f.asking) },
	}
	if err := c.bind(a, found.dpop); err != nil {
		return nil, err
	}
	t, err := c.opts.Grant.obtain(ctx, a)
	if err != nil {
		return nil, err
	}
	t.Authorized, t.Metadata = time.Now(), n.metadata
	t.unproven.Store(true)
	c.opts.Logger.InfoContext(ctx, "got a token", "issuer", t.Issuer, "resource", t.Resource, "scopes", t.Granted)
	if err := c.keep(ctx, t); err != nil {
		if n.login {
			return nil, err // storing the token is the purpose of a login
		}
		c.opts.Logger.WarnContext(ctx, "the token is good for this process only", "error", err)
	}
	return t, nil
}

// requestedBefore returns the scopes that were requested earlier from the same
// authorization server for the same resource.
func (c *Client) requestedBefore(ctx context.Context, found *discovery) []string {
	if t := c.token(ctx); t != nil && t.Issuer == found.server.Issuer && t.Resource == found.resource {
		return t.Requested
	}
	return nil
}
