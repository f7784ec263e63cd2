package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/internal/backoff"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/transport/sse"
	"github.com/parley-mcp/parley/transport/streamable"
)

// State says in a word how a server is.
type State string

// The states of servers.
const (
	Connecting State = "connecting"
	Up         State = "up"
	Down       State = "down"
)

// Status is how a server is.
type Status struct {
	// Server is its name in the configuration, and Label what the names of its tools begin
	// with, before two underscores.
	Server, Label string
	State         State
	// Since is when the state began.
	Since time.Time
	// Err is why the server is down; of one that is up again, or is being connected to, why
	// it was down before. nil if nothing has happened. It has details that are not meant for
	// models, and may quote the server.
	Err error
	// Retry is when a server that is down is tried again; zero if it takes Host.Restart, or
	// another configuration.
	Retry time.Time
	// Lost is how often a connection that was up has ended by itself.
	Lost int
	// Tools is how many tools the server has now.
	Tools int
	// Info and Revision are what the server has last said that it is.
	Info     mcp.Implementation
	Revision mcp.Revision
}

// ServerError says that a server is not up.
type ServerError struct {
	Server string
	// Err is the reason; nil for a server that is being connected to for the first time.
	Err error
	// Retry is when it is tried again; zero if it is being tried now, or takes Host.Restart.
	Retry time.Time
}

// Error names the server, and says why it is not up and what comes next.
func (e *ServerError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("the server %q is not connected to yet", e.Server)
	}
	s := fmt.Sprintf("the server %q is down: %v", e.Server, e.Err)
	if wait := time.Until(e.Retry).Round(100 * time.Millisecond); wait > 0 {
		s += fmt.Sprintf("; it is tried again in %s", wait)
	}
	return s
}

// Unwrap returns the reason.
func (e *ServerError) Unwrap() error { return e.Err }

// server is the life of one server.
type server struct {
	host        *Host
	name, label string
	config      Server
	transport   mcp.Transport // nil if broken is set
	broken      error         // what is wrong with the configuration
	opts        *client.Options
	logger      *slog.Logger

	again   chan struct{} // has room for one, like those below: connect again
	stale   chan struct{} // the list of tools has changed
	suspect chan struct{} // a call has failed in a way that says nothing of the server

	// The rest is guarded by host.mu.
	state    State
	since    time.Time
	err      error
	retry    time.Time
	attempts int
	lost     int
	client   *client.Client // nil unless it is up
	tools    []*mcp.Tool    // under their own names
	info     mcp.Implementation
	revision mcp.Revision
}

func newServer(h *Host, name, label string, config Server) *server {
	s := &server{
		host: h, name: name, label: label, config: config, opts: h.opts.client(name), logger: h.logger.With("server", name),
		again: make(chan struct{}, 1), stale: make(chan struct{}, 1), suspect: make(chan struct{}, 1),
		state: Connecting, since: time.Now(),
	}
	s.transport, s.broken = s.config.reach()
	if s.opts.MaxRestarts == 0 && !reconnects(s.transport) {
		s.opts.MaxRestarts = -1 // so that the end of a process is seen here
	}
	return s
}

// reconnects reports whether a transport's connection is made anew so often that it
// means nothing: over HTTP, where a session that the server has forgotten is replaced.
func reconnects(t mcp.Transport) bool {
	switch t.(type) {
	case *streamable.Client, *sse.Client:
		return true
	}
	return false
}

// steady is how long a connection has to last so that the failures before it are forgotten.
const steady = time.Minute

// errAgain ends a connection that somebody wants to be made again.
var errAgain = errors.New("it is being restarted")

// run connects to the server until the host ends.
func (s *server) run() {
	ctx := s.host.ctx
	for failures := 0; ; {
		up, err := s.live(ctx)
		if ctx.Err() != nil {
			s.down(context.Cause(ctx), time.Time{})
			return
		}
		if errors.Is(err, errAgain) {
			failures = 0
			continue
		}
		if !up.IsZero() && time.Since(up) >= steady {
			failures = 0
		}
		failures++
		retry := s.next(err, failures)
		s.down(err, retry)
		s.logger.Warn("the server is down", "error", err, "retry", retry)
		if s.pause(ctx, retry) {
			failures = 0
		}
	}
}

// next returns when the server is tried again. What only a person can mend is not: a login
// that nobody has given would be asked for over and over.
func (s *server) next(err error, failures int) time.Time {
	if s.broken != nil || errors.Is(err, mcp.ErrUnauthorized) {
		return time.Time{}
	}
	return time.Now().Add(backoff.Pause(failures))
}

// pause waits until a time, zero for never, or until somebody wants the server to be
// connected to now, which it reports.
func (s *server) pause(ctx context.Context, until time.Time) (wanted bool) {
	var due <-chan time.Time
	if !until.IsZero() {
		timer := time.NewTimer(time.Until(until))
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-ctx.Done():
	case <-due:
	case <-s.again:
		return true
	}
	return false
}

// live connects to the server, and returns why the connection has ended, or could not be
// made. up is when it was made.
func (s *server) live(ctx context.Context) (up time.Time, err error) {
	s.connecting()
	if s.broken != nil {
		return up, s.broken
	}
	c, err := client.Connect(ctx, s.transport, s.opts)
	if err != nil {
		return up, err
	}
	defer func() { _ = c.Close() }() // what ends is not waited for by anybody else
	k := &keeper{server: s, client: c}
	defer k.close()
	k.listen(ctx)
	tools, err := k.fetch(ctx)
	if err != nil {
		return up, fmt.Errorf("its tools cannot be listed: %w", err)
	}
	s.up(c, tools)
	up = time.Now()
	err = k.keep(ctx)
	if ctx.Err() == nil && !errors.Is(err, errAgain) {
		s.count()
	}
	return up, err
}

// count counts a connection that has ended by itself.
func (s *server) count() {
	s.host.mu.Lock()
	defer s.host.mu.Unlock()
	s.lost++
}

func (s *server) connecting() {
	s.host.mu.Lock()
	defer s.host.mu.Unlock()
	s.attempts++
	s.set(Connecting)
	s.absent()
}

func (s *server) up(c *client.Client, tools []*mcp.Tool) {
	s.host.mu.Lock()
	defer s.host.mu.Unlock()
	s.set(Up)
	s.client, s.tools, s.info, s.revision = c, tools, c.ServerInfo(), c.Revision()
	s.host.merge()
	s.host.changed(s)
}

func (s *server) down(err error, retry time.Time) {
	s.host.mu.Lock()
	defer s.host.mu.Unlock()
	s.set(Down)
	s.err, s.retry = err, retry
	s.absent()
}

// set changes the state. The caller holds host.mu.
func (s *server) set(state State) {
	s.state, s.since, s.retry = state, time.Now(), time.Time{}
}

// absent takes the server's tools away. The caller holds host.mu.
func (s *server) absent() {
	if s.client != nil {
		s.client, s.tools = nil, nil
		s.host.merge()
	}
	s.host.changed(s)
}

// relisted replaces the tools.
func (s *server) relisted(tools []*mcp.Tool) {
	s.host.mu.Lock()
	defer s.host.mu.Unlock()
	s.tools = tools
	s.host.merge()
	s.host.changed(s)
}

// status returns how the server is. The caller holds host.mu.
func (s *server) status() Status {
	return Status{
		Server: s.name, Label: s.label, State: s.state, Since: s.since, Err: s.err, Retry: s.retry,
		Lost: s.lost, Tools: len(s.tools), Info: s.info, Revision: s.revision,
	}
}

// failure returns why the server is down, or nil if it is not. The caller holds host.mu.
func (s *server) failure() error {
	if s.state != Down {
		return nil
	}
	return s.absence()
}

// absence says that the server is not up. The caller holds host.mu.
func (s *server) absence() error { return &ServerError{s.name, s.err, s.retry} }
