package httpserve

import (
	"context"
	"sync"
)

// Calls counts the requests in flight of a handler that end by themselves, so that it can
// end once all of them are answered. The zero value is ready. It is safe for concurrent
// use.
type Calls struct {
	mu      sync.Mutex
	running int
	drained chan struct{} // made by Drain; closed once nothing runs
}

// Begin counts a call as in flight, until End. It reports false after Drain: then the call
// must not begin.
func (c *Calls) Begin() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.drained != nil {
		return false
	}
	c.running++
	return true
}

// Keep says that one more End comes for a call that has begun.
func (c *Calls) Keep() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running++
}

// End is called once for each Begin that has reported true, and for each Keep.
func (c *Calls) End() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running--; c.running == 0 && c.drained != nil {
		close(c.drained) // once: no call begins after Drain
	}
}

// Draining reports whether Drain was called.
func (c *Calls) Draining() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.drained != nil
}

// Drain lets no call begin any more, and waits until none is in flight, or until ctx ends
// and its cause is returned. It may be called more than once.
func (c *Calls) Drain(ctx context.Context) error {
	select {
	case <-c.drain():
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (c *Calls) drain() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.drained == nil {
		c.drained = make(chan struct{})
		if c.running == 0 {
			close(c.drained)
		}
	}
	return c.drained
}
