package gateway

import (
	"sync"
	"time"

	"github.com/parley-mcp/parley/mcp"
)

// news is that a list of a backend has changed, for those who see what the connection of
// a principal or a session shows; without one, for everybody.
type news struct {
	backend            string
	kind               mcp.ChangeKind
	everybody          bool
	principal, session string
}

// rest is how long nobody is told again of what has changed once more: a backend whose
// lists change all the time would have all clients fetch them all the time.
const rest = time.Second

// pace tells of news at once when there have been none for a while, and then together.
// Its zero value is ready.
type pace struct {
	mu      sync.Mutex
	resting map[news]bool // whether there are more
}

// tell calls f, now or in a while.
func (p *pace) tell(n news, f func()) {
	p.mu.Lock()
	_, rests := p.resting[n]
	if p.resting == nil {
		p.resting = map[news]bool{}
	}
	p.resting[n] = rests
	p.mu.Unlock()
	if rests {
		return
	}
	time.AfterFunc(rest, func() { p.again(n, f) })
	f()
}

// again is the end of a rest.
func (p *pace) again(n news, f func()) {
	p.mu.Lock()
	more := p.resting[n]
	delete(p.resting, n)
	p.mu.Unlock()
	if more {
		p.tell(n, f)
	}
}
