package era

import (
	"sync"

	"github.com/parley-mcp/parley/internal/wire"
)

const (
	maxRecent     = 256
	maxRecentText = 4 << 10 // bytes
)

// recent remembers the decoded form of texts that come again and again, as
// what a client says of itself does in every request. What it returns is
// shared, and must not be changed. It is safe for concurrent use.
type recent[T any] struct {
	mu   sync.RWMutex
	seen map[string]*T
}

func (r *recent[T]) decode(text []byte) (*T, error) {
	r.mu.RLock()
	v, ok := r.seen[string(text)]
	r.mu.RUnlock()
	if ok {
		return v, nil
	}
	v = new(T)
	if err := wire.Unmarshal(text, v); err != nil {
		return nil, err
	}
	if len(text) > maxRecentText {
		return v, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seen == nil || len(r.seen) >= maxRecent { // who is still there is soon known again
		r.seen = make(map[string]*T)
	}
	r.seen[string(text)] = v
	return v, nil
}
