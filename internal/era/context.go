package era

import (
	"context"
	"sync"

	"github.com/parley-mcp/parley/mcp"
)

// Context is the context of a request. It ends with its parent, and when End or
// Release is called. A cancellable context is made only when somebody asks for
// Done: most requests are answered before that.
//
// With context.WithCancelCause for each request, a small call over HTTP in the
// stateless era takes 5 % more processor time, which is 1.26 times the floor with 16
// connections where 1.25 is the budget; over stdio it takes 4 % more (measured
// 2026-11-22, docs/decisions/0008-hot-path.md). A mistake here means that a
// cancelled request goes on, or that what a handler has started with its context
// outlives the request.
//
// Spec: 2026-07-28 basic/transports/streamable-http#cancellation.
type Context struct {
	context.Context //nolint:containedctx // it is one

	mu     sync.Mutex
	full   context.Context //nolint:containedctx // the cancellable one, once it was needed
	cancel context.CancelCauseFunc
	over   bool
}

// NewContext returns a context that ends with parent. The caller must call
// Release.
func NewContext(parent context.Context) *Context { return &Context{Context: parent} }

// whole returns the cancellable context, making it if need be.
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

// now returns a context that reflects the current state.
func (c *Context) now() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.full == nil && !c.over {
		return c.Context
	}
	return c.wholeLocked()
}

// Done implements context.Context. Contexts derived from this one call it first.
func (c *Context) Done() <-chan struct{} { return c.whole().Done() }

// Err implements context.Context.
func (c *Context) Err() error { return c.now().Err() }

// Value implements context.Context.
func (c *Context) Value(key any) any { return c.now().Value(key) }

// End ends the context with a cause, unless it has ended already.
func (c *Context) End(cause error) {
	c.whole()
	c.cancel(cause)
}

// Release ends the context once the request is over, and frees its resources.
func (c *Context) Release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
	if c.cancel != nil {
		c.cancel(nil)
	}
}

// UntilExpiry returns a context that ends when an authorization expires, with the
// cause ErrExpired: a stream that a client only listens to must not outlive the
// client's right to hear it. a may be nil; then there is no such limit.
func UntilExpiry(ctx context.Context, a *mcp.Authorization) (context.Context, context.CancelFunc) {
	if a == nil || a.Expires.IsZero() {
		return ctx, func() {}
	}
	return context.WithDeadlineCause(ctx, a.Expires, ErrExpired)
}
