package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parley-mcp/parley/internal/flight"

	"github.com/parley-mcp/parley/internal/caching"
	"github.com/parley-mcp/parley/internal/era"
	"github.com/parley-mcp/parley/internal/tap"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// live is one connection, and what is known about the server behind it. Exactly one
// of stateless and session is set once it is open.
type live struct {
	conn      mcp.Conn
	seen      *tap.Conn
	link      *cacheLink
	ids       era.IDs
	probed    bool
	stateless *era.StatelessClient
	session   *era.SessionClient
	revision  mcp.Revision
	offer     atomic.Pointer[offer] // nil until it is open
	asking    flight.Group[*offer]  // asks the server for a new offer, once for all who wait for it
	replaced  atomic.Bool           // by another connection; set before it is closed, after which Err says nothing
}

// call sends a request in the way of the era. reusable says that the result may be
// used for other calls with the same params.
func (l *live) call(ctx context.Context, o *era.Outgoing) (result json.RawMessage, reusable bool, err error) {
	if l.session != nil {
		result, err = l.session.Call(ctx, o)
		return l.ended(o.Method, result), true, err
	}
	return l.stateless.Call(ctx, o)
}

// unheard returns a channel that is closed when what the server says outside of calls
// cannot arrive, or nil if the transport has no such state.
func (l *live) unheard() <-chan struct{} {
	conn := l.conn
	if seen, ok := conn.(*seenConn); ok {
		conn = seen.Conn
	}
	if u, ok := conn.(interface{ Unheard() <-chan struct{} }); ok {
		return u.Unheard()
	}
	return nil
}

func (l *live) lost() bool {
	select {
	case <-l.conn.Done():
		return true
	default:
		return false
	}
}

// connected returns the connection, making one if there is none. A lost connection
// is replaced in the stateless era, where nothing is lost with it, and when the
// server has forgotten the session.
//
// Spec: 2026-07-28 basic/transports/stdio#unexpected-termination.
// Spec: 2025-11-25 basic/transports#session-management (4).
func (c *Client) connected(ctx context.Context) (*live, error) {
	c.mu.Lock()
	l := c.live
	c.mu.Unlock()
	if l != nil && !l.lost() {
		return l, nil
	}
	c.dialing.Lock()
	defer c.dialing.Unlock()
	if c.ctx.Err() != nil {
		return nil, context.Cause(c.ctx) //nolint:contextcheck // the reason for which the client ended
	}
	c.mu.Lock()
	l = c.live
	c.mu.Unlock()
	switch {
	case l == nil:
	case !l.lost():
		return l, nil
	case l.final():
		err := lostError(l)
		c.end(err)
		return nil, err
	}
	return c.redial(ctx, l)
}

// final reports whether a connection was lost for good: with it went a session that
// the server has not merely forgotten.
func (l *live) final() bool {
	return l.session != nil && l.lost() && !forgotten(l) && !l.replaced.Load()
}

func lostError(l *live) error { return fmt.Errorf("the session was lost: %w", lostReason(l)) }

func lostReason(l *live) error {
	if err := l.conn.Err(); err != nil {
		return err
	}
	return jsonrpc.ErrClosed
}

// attend waits for the end of a connection, so that a client whose session went with
// it ends at once, and not when somebody makes the next call. In the stateless era
// nothing is lost: the next call and the subscriptions connect again.
//
// Spec: 2025-11-25 basic/lifecycle#shutdown.
func (c *Client) attend(l *live) {
	select {
	case <-c.ctx.Done():
	case <-l.conn.Done():
		switch {
		case l.final():
			c.end(lostError(l))
		case c.opts.MaxRestarts < 0:
			c.end(&restartsError{why: lostReason(l)})
		}
	}
}

// redial replaces a lost connection, or makes the first one. The caller holds
// c.dialing.
func (c *Client) redial(ctx context.Context, old *live) (*live, error) {
	if old != nil {
		if err := c.mayRestart(lostReason(old)); err != nil {
			return nil, err
		}
		old.replaced.Store(true)
		_ = old.conn.Close() // it is gone already
	}
	ctx, watchdog := c.bound(ctx, unlimited)
	defer watchdog.stop()
	l, err := c.dial(ctx)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	c.live = l
	c.mu.Unlock()
	c.spawn(func() { c.attend(l) }) // ends with the connection or the client
	if old != nil {
		c.tools.forget()
	}
	if old != nil && old.session != nil {
		c.resume(ctx, l)
	}
	return l, nil
}

// mayRestart bounds how often a server that keeps going away is connected to again.
func (c *Client) mayRestart(why error) error {
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.dials) > 0 && now.Sub(c.dials[0]) > time.Minute {
		c.dials = c.dials[1:]
	}
	if len(c.dials) >= c.opts.MaxRestarts {
		return &restartsError{len(c.dials), why}
	}
	c.dials = append(c.dials, now)
	c.opts.Logger.Warn("the server went away; connecting again", "server", c.transport.Name(), "reason", why)
	return nil
}

// restartsError says that a server keeps going away.
type restartsError struct {
	times int
	why   error
}

func (e *restartsError) Error() string {
	if e.times == 0 {
		return fmt.Sprintf("the server went away: %v", e.why)
	}
	return fmt.Sprintf("the server went away too often, %d restarts in a minute: %v", e.times, e.why)
}

func (e *restartsError) Unwrap() error { return e.why }

// dial connects and finds out which revision the server speaks.
func (c *Client) dial(ctx context.Context) (*live, error) {
	known, remembered := c.opts.Eras.get(c.transport.Name())
	if remembered && !c.allows(known) {
		remembered = false
	}
	l, err := c.open(ctx, func(ctx context.Context, l *live) era.Decision {
		if remembered {
			return era.Decision{Revision: known, Stateless: era.StatelessRevision(known)}
		}
		return c.probe(ctx, l)
	})
	if err != nil && remembered && !errors.Is(err, mcp.ErrUnauthorized) && !errors.Is(err, mcp.ErrUnavailable) {
		// The server may speak another revision by now.
		c.opts.Eras.forget(c.transport.Name())
		l, err = c.open(ctx, c.probe)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot connect to %s: %w", brief(c.transport.Name()), err)
	}
	c.opts.Eras.set(c.transport.Name(), l.revision)
	return l, nil
}

// brief cuts a server's name, which may be a long command line, so that it does not
// hide the reason that follows it.
func brief(name string) string {
	const most = 80
	if runes := []rune(name); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return name
}

func (c *Client) allows(r mcp.Revision) bool {
	if c.opts.Revisions == nil {
		return true
	}
	return slices.Contains(c.opts.Revisions, r)
}

// open makes a connection and begins on it as decide says. If the probe made the
// server end the connection, during the probe or later while the session is opened,
// open makes another connection and opens the session on that.
func (c *Client) open(ctx context.Context, decide func(context.Context, *live) era.Decision) (*live, error) {
	l, err := c.attach(ctx)
	if err != nil {
		return nil, err
	}
	d := decide(ctx, l)
	mayBreak := l.probed && d.Err == nil && !d.Stateless
	if mayBreak && l.lost() {
		mayBreak = false
		if l, err = c.again(ctx, l); err != nil {
			return nil, err
		}
	}
	if err = d.Err; err == nil {
		err = c.begin(ctx, l, d)
	}
	if err != nil && mayBreak && l.lost() {
		if l, err = c.again(ctx, l); err != nil {
			return nil, err
		}
		err = c.begin(ctx, l, d)
	}
	if err != nil {
		_ = l.conn.Close()
		return nil, err
	}
	return l, nil
}

func (c *Client) attach(ctx context.Context) (*live, error) {
	l := &live{seen: c.seen.Another(), link: c.cache.link()}
	ctx = caching.With(tap.With(ctx, l.seen), &l.link.Link)
	conn, err := c.transport.Connect(ctx, &receiver{c, l})
	if err != nil {
		return nil, err
	}
	l.conn = &seenConn{conn, l.seen}
	return l, nil
}

// again replaces a connection that the server ended because of a probe.
func (c *Client) again(ctx context.Context, broken *live) (*live, error) {
	_ = broken.conn.Close() // it is gone already
	return c.attach(ctx)
}

// probe asks a server of unknown era which revisions it speaks. Where there is no
// handshake to fall back to, the question is like any other request.
//
// Spec: 2026-07-28 basic/transports/stdio#backward-compatibility.
func (c *Client) probe(ctx context.Context, l *live) era.Decision {
	probe, in := era.Opening(c.opts.Revisions)
	if !probe {
		return era.Propose(c.opts.Revisions)
	}
	l.probed = true
	timeout, alternative := c.opts.ProbeTimeout, era.Propose(c.opts.Revisions)
	if alternative.Err != nil {
		timeout = c.opts.Timeout
	}
	bound, watchdog := c.bound(ctx, &callOptions{timeout: timeout})
	defer watchdog.stop()
	result, err := c.statelessFront(l, in).Raw(bound, &era.Outgoing{Method: mcp.MethodDiscover})
	late := err != nil && (ctx.Err() != nil || alternative.Err != nil && errors.Is(err, ErrTimeout))
	// None of these says anything about the era.
	// Spec: 2026-07-28 basic/versioning#compatibility-matrix.
	if late || errors.Is(err, mcp.ErrUnauthorized) || errors.Is(err, mcp.ErrUnavailable) {
		return era.Decision{Err: fmt.Errorf("%s: %w", mcp.MethodDiscover, err)}
	}
	var rpc *jsonrpc.Error
	errors.As(err, &rpc)
	return era.Decide(c.opts.Revisions, era.Probe{Result: result, Error: rpc})
}

func (c *Client) statelessFront(l *live, r mcp.Revision) *era.StatelessClient {
	return &era.StatelessClient{Conn: l.conn, IDs: &l.ids, Revision: r, Self: c.self, Answers: (*answers)(c), MaxRounds: c.opts.MaxRounds, ResultTypes: c.opts.ResultTypes}
}

func (c *Client) begin(ctx context.Context, l *live, d era.Decision) error {
	ctx, watchdog := c.bound(ctx, &callOptions{timeout: c.opts.Timeout})
	defer watchdog.stop()
	if d.Stateless {
		return c.beginStateless(ctx, l, d)
	}
	err := c.beginSession(ctx, l, d)
	if stateless, ok := era.Late(c.opts.Revisions, err); ok {
		c.mu.Lock()
		l.session = nil
		c.mu.Unlock()
		return c.beginStateless(ctx, l, stateless)
	}
	return err
}

func (c *Client) beginStateless(ctx context.Context, l *live, d era.Decision) error {
	front := c.statelessFront(l, d.Revision)
	if d.Discover == nil {
		var err error
		if d.Discover, err = discover(ctx, front); err != nil {
			return err
		}
	}
	c.discovered(l, d.Discover)
	l.revision = d.Revision
	l.stateless = front
	return nil
}

func (c *Client) beginSession(ctx context.Context, l *live, d era.Decision) error {
	session := &era.SessionClient{Conn: l.conn, IDs: &l.ids, Self: c.self, Answers: (*answers)(c), Go: c.spawn, Refused: func(refused, instead mcp.Revision, reason error) {
		c.opts.Logger.Warn("the server refused a revision and takes an older one", "server", c.transport.Name(), "refused", refused.String(), "takes", instead.String(), "reason", reason)
	}}
	c.mu.Lock()
	l.session = session // the server may ask as soon as the handshake begins
	c.mu.Unlock()
	result, err := session.Initialize(ctx, d.Revision, c.opts.Revisions)
	if err != nil {
		return err
	}
	l.revision = session.Facts().Revision
	icons := iconFilter{c: c}
	icons.filter(&result.ServerInfo.Icons)
	icons.log()
	l.keep(&offer{info: result.ServerInfo, caps: result.Capabilities, instructions: result.Instructions, supported: []string{l.revision.String()}})
	if level := c.level.Load(); level != nil && result.Capabilities.Logging != nil {
		if err := c.setSessionLevel(ctx, l, *level); err != nil {
			c.opts.Logger.Warn("the server does not take a log level", "error", err)
		}
	}
	return nil
}

// Eras remembers, by the names of transports, which revision a server spoke last, so
// that the next client need not find out. An entry that turns out to be wrong is
// forgotten. The zero value is ready. Eras is safe for concurrent use.
//
// Spec: 2026-07-28 basic/versioning#backward-compatibility-with-initialization-based-versions.
type Eras struct {
	mu    sync.Mutex
	known map[string]mcp.Revision
}

func (e *Eras) get(name string) (mcp.Revision, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	r, ok := e.known[name]
	return r, ok
}

func (e *Eras) set(name string, r mcp.Revision) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.known == nil {
		e.known = make(map[string]mcp.Revision)
	}
	e.known[name] = r
}

func (e *Eras) forget(name string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.known, name)
}
