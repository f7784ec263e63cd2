package clientprobe

import (
	"slices"
	"sync"
	"time"
)

// process is what the process of a server has seen of its end. Its methods may be
// called concurrently.
type process struct {
	// signals is set where a process can be told to end, and see it.
	signals bool
	begun   time.Time

	mu     sync.Mutex
	events []happening
}

// happening is something that a process has seen.
type happening struct {
	what string
	at   time.Duration // by the clock of the process
}

// What a process sees, or what is seen of it.
const (
	inputEnded = "the end of its input"
	terminated = "a signal to end"
	killed     = "its end, which it did not see coming"
)

// saw notes what happened now.
func (p *process) saw(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if p.begun.IsZero() {
		p.begun = now
	}
	p.events = append(p.events, happening{what, now.Sub(p.begun)})
}

// told notes what the process says that it has seen.
func (p *process) told(what string, at time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.events = append(p.events, happening{what, at})
}

// first is the first of a kind that happened.
func (p *process) first(what string) (at time.Duration, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := slices.IndexFunc(p.events, func(h happening) bool { return h.what == what })
	if n < 0 {
		return 0, false
	}
	return p.events[n].at, true
}
