package streamable

import (
	"context"
	"sync"
)

// requestContext is the context of a stateless request. It ends with net/http's,
// whose client has closed the response then, and when it is told to. A context
// that can end in two ways costs as much as all else that a small request
// needs, and most are answered before anybody asks for their end: so it is
// made for who asks.
//
// Spec: 2026-07-28 basic/transports/streamable-http#cancellation.
type requestContext struct {
	context.Context //nolint:containedctx // it is one

	mu     sync.Mutex
	full   context.Context //nolint:containedctx // itself, once somebody has asked
	cancel context.CancelCauseFunc
}

// whole returns a context that can end both ways.
func (c *requestContext) whole() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.full == nil {
		c.full, c.cancel = context.WithCancelCause(c.Context)
	}
	return c.full
}

// now returns a context that says what is known now.
func (c *requestContext) now() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.full == nil {
		return c.Context
	}
	return c.full
}

// Done is what contexts made of this one ask for first.
func (c *requestContext) Done() <-chan struct{} { return c.whole().Done() }

func (c *requestContext) Err() error { return c.now().Err() }

func (c *requestContext) Value(key any) any { return c.now().Value(key) }

// end ends the context with a cause.
func (c *requestContext) end(cause error) {
	c.whole()
	c.cancel(cause)
}

// release gives back what the context needed: nobody asks any more.
func (c *requestContext) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cancel != nil {
		c.cancel(nil)
	}
}
