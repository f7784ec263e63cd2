package backend

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/bridge"
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
	// Parking bounds them.
	Parked      int
	ParkedSince time.Time
	Parking     bridge.Parking
	// InFlight requests have not been answered yet. Those that are parked are not among
	// them.
	InFlight int
	// Connected is how often a connection was made, Lost how often one ended by itself, and
	// Restarted how often another one took the place of a lost one.
	Connected, Lost, Restarted int
	// Reached says that there was a connection or an answer since the last failure.
	Reached bool
	// Failures is how often in a row the server has failed, and Retry when it is tried
	// again; zero means with the next request.
	Failures int
	Retry    time.Time
	// Err is why the last connection could not be made, or has ended by itself, and
	// Since when that was; nil if there was nothing. It is over if there are no Failures.
	Err   error
	Since time.Time
	// Words are the last lines that the server's processes have written to their standard
	// error.
	Words []string
}

// Reachable reports whether there is reason to believe that the server can be reached: it
// is, or nobody needs it now and nothing has failed. A server that is connected to for the
// first time has yet to show that.
func (s *State) Reachable() bool {
	switch s.Status {
	case Up:
		return true
	case Idle:
		return s.Failures == 0 || s.Reached
	case Connecting:
		return s.Reached
	case Broken:
	}
	return false
}

// lastLines is how many lines of the standard error a state has.
const lastLines = 20

// State returns how the backend is.
func (b *Backend) State() State {
	s := b.life.state()
	s.Name = b.opts.Name
	_, s.Used = b.bridge.Connections()
	s.Parked, s.ParkedSince, s.Parking = b.bridge.Parked(), b.bridge.ParkedSince(), b.bridge.Parking()
	s.InFlight = b.inFlight.count()
	if b.opts.Stderr != nil {
		s.Words = b.opts.Stderr.Lines(lastLines)
	}
	if worst := b.breakers.worst(); worst.failures > 0 {
		s.fail(&worst)
		s.Reached = s.Reached && !b.life.lastReached().Before(worst.at)
		if !s.Retry.IsZero() && s.Status != Up {
			s.Status = Broken
		}
	}
	return s
}

// fail is how a server is that has failed.
func (s *State) fail(b *breaker) {
	s.Failures, s.Err, s.Since, s.Retry = b.failures, b.why, b.at, time.Time{}
	if b.open(time.Now()) {
		s.Retry = b.until
	}
}

// life is what has become of the connections.
type life struct {
	mu       sync.Mutex
	open     map[*client.Client]*connection
	dialing  int
	heard    time.Time // when the server has last answered
	reached  time.Time // or a connection was made
	awaited  bool      // somebody got no answer since the last connection
	last     mcp.Implementation
	revision mcp.Revision
	made     int
	lost     int
	again    int             // made in place of one that was lost
	gone     map[string]bool // the keys of those who have lost one, and have no other yet
	err      error
	since    time.Time
	closed   bool
}

// connection is one that is open.
type connection struct {
	key     string // of those who share it
	begun   time.Time
	retired bool    // nothing new goes there
	checked bool    // it is being checked whether the server answers
	hangs   breaker // counts checks without an answer
}

func (l *life) connecting(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dialing += n
}

// connected keeps a connection. It reports whether somebody has missed it.
func (l *life) connected(c *client.Client, key string) (missed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open == nil {
		l.open = map[*client.Client]*connection{}
	}
	l.open[c] = &connection{key: key, begun: time.Now()}
	l.reached = time.Now()
	l.made++
	if l.gone[key] {
		delete(l.gone, key)
		l.again++
	}
	l.last, l.revision = c.ServerInfo(), c.Revision()
	missed, l.awaited = l.awaited, false
	return missed
}

// ended forgets a connection, and returns what it was. err is nil if it did not end by
// itself. early says that the server has answered nothing since the connection was made.
func (l *life) ended(c *client.Client, err error) (had *connection, early bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	had = l.open[c]
	delete(l.open, c)
	if err != nil {
		l.err, l.since = err, time.Now()
		l.lost++
		l.loses(had.key)
	}
	return had, l.heard.Before(had.begun)
}

// loses remembers that somebody has lost a connection. The caller holds l.mu.
func (l *life) loses(key string) {
	if l.gone == nil || len(l.gone) >= maxBreakers { // of those who never come back
		l.gone = map[string]bool{}
	}
	l.gone[key] = true
}

// answered says that the server has answered on a connection. It reports false if that has
// ended.
func (l *life) answered(c *client.Client) (key string, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.heard = time.Now()
	l.reached = l.heard
	if on := l.open[c]; on != nil {
		return on.key, true
	}
	return "", false
}

func (l *life) lastReached() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.reached
}

func (l *life) missed() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.awaited = true
}

// retire says that nothing new goes to some connections.
func (l *life) retire(all []*client.Client) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range all {
		if on := l.open[c]; on != nil {
			on.retired = true
		}
	}
}

// close lets nothing begin that goes on by itself.
func (l *life) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
}

// clients returns the connections that are open.
func (l *life) clients() []*client.Client {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Collect(maps.Keys(l.open))
}

// check calls start, which begins to check a connection, unless that is being done.
func (l *life) check(c *client.Client, start func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if on := l.open[c]; on != nil && !on.checked && !l.closed {
		on.checked = true
		start()
	}
}

// checked is the end of a check: the server answers, or is lost.
func (l *life) checked(c *client.Client) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if on := l.open[c]; on != nil {
		on.checked, on.hangs = false, breaker{}
	}
}

// hangs counts a check without an answer, and returns when to make the next one.
func (l *life) hangs(c *client.Client) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	on := l.open[c]
	if on == nil { // it has ended by now
		return 0
	}
	on.hangs.failed(errHangs)
	return time.Until(on.hangs.until)
}

// may says why a connection must not be used now, or returns nil.
func (l *life) may(c *client.Client) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if on := l.open[c]; on != nil {
		return on.hangs.why
	}
	return nil
}

// retry returns when a connection is checked again; zero means that it need not be, or
// that it is about to be.
func (l *life) retry(c *client.Client) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	if on := l.open[c]; on != nil && on.hangs.open(time.Now()) {
		return on.hangs.until
	}
	return time.Time{}
}

func (l *life) state() State {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := State{Status: Idle, Info: l.last, Revision: l.revision, Connections: len(l.open), Connected: l.made, Reached: l.made > 0, Lost: l.lost, Restarted: l.again, Err: l.err, Since: l.since}
	if l.dialing > 0 {
		s.Status = Connecting
	}
	serves := false
	for _, on := range l.open {
		switch {
		case on.hangs.failures > 0:
			s.Status = Broken
			s.fail(&on.hangs)
		case !on.retired:
			serves = true
		}
	}
	if serves {
		s.Status = Up
	}
	return s
}
