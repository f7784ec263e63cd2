package backend

import (
	"context"
	"sync"
)

// running counts what is being served. Unlike httpserve.Calls it takes more while somebody
// waits: who has looked a backend up before it left may still come.
type running struct {
	mu   sync.Mutex
	n    int
	idle chan struct{} // closed when there is nothing any more; nil while nobody waits
}

func (r *running) begin() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.n++
}

func (r *running) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.n--; r.n == 0 && r.idle != nil {
		close(r.idle)
		r.idle = nil
	}
}

func (r *running) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.n
}

// none returns what is closed when there is nothing, for the first time from now; nil if
// there is nothing now.
func (r *running) none() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.n > 0 && r.idle == nil {
		r.idle = make(chan struct{})
	}
	return r.idle
}

// Drain waits until nothing is being served, or until ctx ends, which it says in its error.
// The backend goes on serving.
func (b *Backend) Drain(ctx context.Context) error {
	idle := b.inFlight.none()
	if idle == nil {
		return nil
	}
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
