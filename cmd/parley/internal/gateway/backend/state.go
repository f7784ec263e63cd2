package backend

import (
	"sync"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
)

// Status says in one word how a backend is.
type Status string

// What a backend can be.
const (
	Idle       Status = "idle"       // nobody needs it
	Connecting Status = "connecting" // and there is no other connection
	Up         Status = "up"
	Broken     Status = "broken" // it has failed, and is left alone for a while
)

// Statuses are all that a backend can be.
func Statuses() []Status { return []Status{Idle, Connecting, Up, Broken} }

// State is how a backend is.
type State struct {
	Name   string
	Status Status
	// Info and Revision are those of the last connection; zero if there was none.
	Info     mcp.Implementation
	Revision mcp.Revision
	// Connections are open, of which Used serve a call, a subscription or a session.
	Connections, Used int
	// Parked calls wait for their clients to come back, the oldest since ParkedSince.
	Parked      int
	ParkedSince time.Time
	// InFlight requests have not been answered yet. Those that are parked are not among
	// them.
	InFlight int
	// Connected is how often a connection was made, and Lost how often one ended by
	// itself.
	Connected, Lost int
	// Failures is how often in a row the server has failed, and Retry when it is tried
	// again; zero means with the next request.
	Failures int
	Retry    time.Time
	// Err is why the last connection could not be made, or has ended by itself, and
	// Since when that was; nil if there was nothing.
	Err   error
	Since time.Time
	// Words are the last lines that the server's processes have written to their standard
	// error.
	Words []string
}

// words is how many lines of the standard error a state has.
const words = 20

// State returns how the backend is.
func (b *Backend) State() State {
	s := b.life.state()
	s.Name = b.opts.Name
	_, s.Used = b.bridge.Connections()
	s.Parked, s.ParkedSince, s.InFlight = b.bridge.Parked(), b.bridge.ParkedSince(), int(b.inFlight.Load())
	if b.opts.Stderr != nil {
		s.Words = b.opts.Stderr.Lines(words)
	}
	b.breaker.mu.Lock()
	s.Failures = b.breaker.failures
	if b.breaker.why != nil {
		s.Err = b.breaker.why
	}
	b.breaker.mu.Unlock()
	s.Retry = b.breaker.retry()
	if !s.Retry.IsZero() && s.Connections == 0 {
		s.Status = Broken
	}
	return s
}

// life is what has become of the connections.
type life struct {
	mu       sync.Mutex
	begun    map[*client.Client]time.Time
	dialing  int
	heard    time.Time // when the server has last answered
	awaited  bool      // somebody got no answer since the last connection
	last     mcp.Implementation
	revision mcp.Revision
	made     int
	lost     int
	err      error
	since    time.Time
}

func (l *life) connecting(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dialing += n
}

// connected keeps a connection. It reports whether somebody has missed it.
func (l *life) connected(c *client.Client) (missed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.begun == nil {
		l.begun = map[*client.Client]time.Time{}
	}
	l.begun[c] = time.Now()
	l.made++
	l.last, l.revision = c.ServerInfo(), c.Revision()
	missed, l.awaited = l.awaited, false
	return missed
}

// ended forgets a connection. err is nil if it did not end by itself. It reports whether
// the server has answered nothing since the connection was made.
func (l *life) ended(c *client.Client, err error) (early bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	begun := l.begun[c]
	delete(l.begun, c)
	if err != nil {
		l.lost++
		l.err, l.since = err, time.Now()
	}
	return l.heard.Before(begun)
}

func (l *life) answered() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.heard = time.Now()
}

func (l *life) missed() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.awaited = true
}

func (l *life) state() State {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := State{Status: Idle, Info: l.last, Revision: l.revision, Connections: len(l.begun), Connected: l.made, Lost: l.lost, Err: l.err, Since: l.since}
	switch {
	case len(l.begun) > 0:
		s.Status = Up
	case l.dialing > 0:
		s.Status = Connecting
	}
	return s
}
