package backend

import (
	"sync"
	"time"

	"github.com/parley-mcp/parley/internal/backoff"
)

// breaker keeps a server that fails from being tried all the time, and its clients from
// waiting for it.
type breaker struct {
	mu       sync.Mutex
	failures int       // in a row
	until    time.Time // when it may be tried again
	why      error
}

// allows returns why the server must not be tried now, or nil.
func (b *breaker) allows() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if time.Now().Before(b.until) {
		return b.why
	}
	return nil
}

// failed counts a failure. Those of attempts that were under way at the same time are
// one.
func (b *breaker) failed(why error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	b.why = why
	if now.Before(b.until) {
		return
	}
	b.failures++
	b.until = now.Add(backoff.Pause(b.failures))
}

// worked says that the server has answered.
func (b *breaker) worked() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failures, b.until, b.why = 0, time.Time{}, nil
}

// retry returns when the server may be tried again; zero means now.
func (b *breaker) retry() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	if time.Now().Before(b.until) {
		return b.until
	}
	return time.Time{}
}
