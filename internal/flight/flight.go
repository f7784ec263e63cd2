// Package flight has work done once for all who want it at the same time.
package flight

import (
	"errors"
	"sync"
)

// Group knows the work under way, by key. The zero value is ready; it is safe for
// concurrent use.
type Group[T any] struct {
	mu    sync.Mutex
	calls map[string]*Call[T]
}

// Call is work under way, or done.
type Call[T any] struct {
	done  chan struct{}
	value T
	err   error
}

// Done returns a channel that is closed when the work is done.
func (c *Call[T]) Done() <-chan struct{} { return c.done }

// Result waits until the work is done and returns what came of it.
func (c *Call[T]) Result() (T, error) {
	<-c.done
	return c.value, c.err
}

// Do does the work, or waits for the same work that is under way already.
func (g *Group[T]) Do(key string, work func() (T, error)) (T, error) {
	c, mine := g.join(key)
	if mine {
		g.run(key, c, work)
	}
	return c.Result()
}

// Begin is Do without waiting: the work is done on a goroutine of its own, which
// ends with it.
func (g *Group[T]) Begin(key string, work func() (T, error)) *Call[T] {
	c, mine := g.join(key)
	if mine {
		go g.run(key, c, work)
	}
	return c
}

// join returns the work under way and, if there was none, says that the caller has
// to do it.
func (g *Group[T]) join(key string) (c *Call[T], mine bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if c, ok := g.calls[key]; ok {
		return c, false
	}
	if g.calls == nil {
		g.calls = map[string]*Call[T]{}
	}
	c = &Call[T]{done: make(chan struct{}), err: errPanicked}
	g.calls[key] = c
	return c, true
}

// errPanicked is for those who waited for work that did not return.
var errPanicked = errors.New("the work that this call waited for panicked")

func (g *Group[T]) run(key string, c *Call[T], work func() (T, error)) {
	defer close(c.done)
	defer func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		delete(g.calls, key)
	}()
	c.value, c.err = work()
}
