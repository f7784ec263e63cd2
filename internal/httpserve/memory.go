package httpserve

import (
	"errors"
	"runtime"
	"runtime/debug"
	"sync"
	"time"
)

// ErrBusy says that a body was not read because too many large ones are held.
var ErrBusy = errors.New("the server holds too many large messages; come back later")

// Sizes in bytes.
const (
	// smallBody is not counted, so that small requests are served while others
	// take all the room. Their number is bounded.
	smallBody = 64 << 10
	// muchHeld is how much must have been held for the memory to be returned.
	muchHeld = 32 << 20
)

// The times after which memory is returned.
const (
	quiet  = time.Second
	atMost = 10 * time.Second // once in this time
)

// Memory bounds the bodies that are held at a time, of all requests together:
// those that arrive and those that are served. It is safe for concurrent use.
type Memory struct {
	limit  int64
	giveUp func() // returns memory to the operating system

	mu    sync.Mutex
	held  int64
	by    map[string]int64 // held, by client
	most  int64            // that was held since giveUp was called
	last  time.Time
	timer *time.Timer
}

// NewMemory returns a Memory of limit bytes. 0 means 256 MiB; negative means no
// bound.
func NewMemory(limit int64) *Memory {
	if limit == 0 {
		limit = 256 << 20
	}
	return &Memory{limit: limit, giveUp: returnMemory, by: map[string]int64{}}
}

// returnMemory collects garbage twice, as pools keep what they hold for one time.
// Otherwise an idle process keeps what a burst of large requests took for minutes.
func returnMemory() {
	runtime.GC()
	debug.FreeOSMemory()
}

// Close ends what Memory would still do.
func (m *Memory) Close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.timer != nil {
		m.timer.Stop()
	}
}

// Hold is the memory of one large body. A nil Hold is that of a small one.
type Hold struct {
	of     *Memory
	client string
	bytes  int64
	users  int
}

// take adds to what h holds for a client; h is nil at first. It reports false, and
// takes nothing, if that is over the limit. One client gets a quarter of it, unless
// the client is "", which stands for all that are on the loopback.
func (m *Memory) take(h *Hold, client string, bytes int64) (*Hold, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.limit >= 0 && (m.held+bytes > m.limit || client != "" && m.by[client]+bytes > m.limit/4) {
		return h, false
	}
	if h == nil {
		h = &Hold{of: m, client: client, users: 1}
	}
	h.bytes += bytes
	m.by[client] += bytes
	m.held += bytes
	m.most = max(m.most, m.held)
	return h, true
}

// Keep says that one more user of the body has to call Release.
func (h *Hold) Keep() {
	if h == nil {
		return
	}
	h.of.mu.Lock()
	defer h.of.mu.Unlock()
	h.users++
}

// Release says that one user needs the body no longer.
func (h *Hold) Release() {
	if h == nil {
		return
	}
	m := h.of
	m.mu.Lock()
	defer m.mu.Unlock()
	if h.users--; h.users > 0 {
		return
	}
	m.held -= h.bytes
	if m.by[h.client] -= h.bytes; m.by[h.client] == 0 {
		delete(m.by, h.client)
	}
	if m.held > 0 || m.most < muchHeld {
		return
	}
	wait := max(quiet, atMost-time.Since(m.last))
	if m.timer == nil {
		m.timer = time.AfterFunc(wait, m.settle)
		return
	}
	m.timer.Reset(wait)
}

// settle returns memory after a burst.
func (m *Memory) settle() {
	m.mu.Lock()
	again := m.held > 0
	if !again {
		m.most, m.last = 0, time.Now()
	}
	m.mu.Unlock()
	if !again { // otherwise the next Release sees to it
		m.giveUp()
	}
}
