package oauth

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/parley-mcp/parley/mcp"
)

// need is what a token is needed for.
type need struct {
	stale      *credential // what was sent and refused; nil if nothing was
	scopes     []string    // that are demanded
	metadata   string      // where the challenge says that there is metadata
	challenged bool        // the server has demanded authorization
	stepUp     bool        // the token is good, and its scopes are too few
	renew      bool        // without the user, or not at all
	login      bool        // whatever token there is
}

// flight is one attempt to get a token, which everybody who needs one waits
// for.
type flight struct {
	need   need
	asking chan struct{} // closed when the user is asked
	done   chan struct{}
	token  *credential // after done
	err    error       // after done
}

// failure is why nobody is asked again for a while.
type failure struct {
	err   error
	until time.Time
}

// acquire returns a token that is better than the one in n: one that somebody
// else got meanwhile, or one that this call gets. Everybody who waits does so
// for the same flight, which no one of them ends.
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
		// Somebody else's; whether it is enough for n shows at the next turn.
	}
}

// serves reports whether a flight that has ended, and was somebody else's, is
// the end for n, too: the user was not in the way of a success, and need not be
// asked twice; nor has an authorization server that is down to be asked by
// everybody in turn.
func (f *flight) serves(n need) bool {
	if f.need.renew {
		return n.renew && f.err != nil
	}
	return f.err != nil || n.login && !f.token.refreshed && covers(f.token.Requested, n.scopes)
}

// join returns the flight to wait for: the one under way, or a new one. None is
// needed if there is a better token already.
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
		level := slog.LevelWarn
		if f.need.renew {
			level = slog.LevelDebug // the challenge that follows says more
		}
		c.opts.Logger.Log(ctx, level, "no token was obtained", "server", c.server.Redacted(), "error", f.err)
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

// wait waits for the flight, as long as ctx lasts. While the user is asked, the
// time is not the server's.
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

// obtain gets a token: without the user if that can be done.
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

// authorize discovers the authorization server and gets a token from it by the
// grant.
func (c *Client) authorize(ctx context.Context, f *flight) (*credential, error) {
	n := f.need
	if old := c.token(ctx); old != nil && n.metadata == "" && (n.stepUp || n.renew) {
		n.metadata = old.Metadata // said once, it need not be said with each challenge
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
			return nil, err // to have it stored is what a login is for
		}
		c.opts.Logger.WarnContext(ctx, "the token is good for this process only", "error", err)
	}
	return t, nil
}

// requestedBefore returns what was asked of the same authorization server for
// the same resource.
func (c *Client) requestedBefore(ctx context.Context, found *discovery) []string {
	if t := c.token(ctx); t != nil && t.Issuer == found.server.Issuer && t.Resource == found.resource {
		return t.Requested
	}
	return nil
}
