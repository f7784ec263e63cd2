package era

import (
	"context"
	"sync"

	"github.com/parley-mcp/parley/mcp"
)

// Context is the context of a request. It ends with its parent, and when it is
// told to. A context that can end in two ways is made only when somebody asks for
// its end: most requests are answered before.
//
// With context.WithCancelCause for each request, a small call over HTTP in the
// stateless era takes 5 % more processor time, which is 1.26 times the floor with 16
// connections where 1.25 is the budget; over stdio it takes 4 % more (measured
// 2026-11-22, docs/decisions/0008-hot-path.md). When it is wrong, a request goes on
// that was cancelled, or what a handler has started with its context goes on after
// the request.
//
// Spec: 2026-07-28 basic/transports/streamable-http#cancellation.
type Context struct {
	context.Context //nolint:containedctx // it is one

	mu     sync.Mutex
	full   context.Context //nolint:containedctx // itself, once somebody has asked
	cancel context.CancelCauseFunc
	over   bool
}

// NewContext returns a context that ends with parent. Whoever made it calls
// Release.
func NewContext(parent context.Context) *Context { return &Context{Context: parent} }

// whole returns a context that can end both ways.
func (c *Context) whole() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.wholeLocked()
}

func (c *Context) wholeLocked() context.Context {
	if c.full == nil {
		c.full, c.cancel = context.WithCancelCause(c.Context)
		if c.over {
			c.cancel(nil)
		}
	}
	return c.full
}

// now returns a context that says what is known now.
func (c *Context) now() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.full == nil && !c.over {
		return c.Context
	}
	return c.wholeLocked()
}

// Done is what contexts made of this one ask for first.
func (c *Context) Done() <-chan struct{} { return c.whole().Done() }

// Err implements context.Context.
func (c *Context) Err() error { return c.now().Err() }

// Value implements context.Context.
func (c *Context) Value(key any) any { return c.now().Value(key) }

// End ends the context with a cause, unless it has ended.
func (c *Context) End(cause error) {
	c.whole()
	c.cancel(cause)
}

// Release ends the context, of a request that is over, and gives back what it
// needed.
func (c *Context) Release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
	if c.cancel != nil {
		c.cancel(nil)
	}
}

// UntilExpiry returns a context that ends with an authorization, which may be
// nil, with the cause ErrExpired: what a client only listens to must not
// outlive its right to hear it.
func UntilExpiry(ctx context.Context, a *mcp.Authorization) (context.Context, context.CancelFunc) {
	if a == nil || a.Expires.IsZero() {
		return ctx, func() {}
	}
	return context.WithDeadlineCause(ctx, a.Expires, ErrExpired)
}
