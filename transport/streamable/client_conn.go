package streamable

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/parley-mcp/parley/internal/era"
	"github.com/parley-mcp/parley/internal/serial"
	"github.com/parley-mcp/parley/internal/tap"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// conn is a client's connection to a server: nothing but what is known of the
// server, until there is a session.
type conn struct {
	opts       Client // with its defaults
	seen       *tap.Conn
	blank      *http.Request // what the others are made of
	header     http.Header   // what the user adds to every request
	postHeader http.Header   // and what every POST has
	http       *http.Client
	own        bool // http is this connection's own
	inbound    era.Inbound
	refusals   serial.Queue // of requests of the server
	tools      toolHeaders
	lastID     atomic.Int64

	ctx       context.Context //nolint:containedctx // the connection's life: ended by its end
	end       context.CancelCauseFunc
	done      chan struct{}
	work      sync.WaitGroup
	farewells sync.WaitGroup // cancellations on their way

	mu        sync.Mutex
	closing   bool
	ended     bool // done is closed
	err       error
	session   string   // its identifier, if the server gave it one
	version   string   // of the session; "" while there is none
	stateless string   // the version of the last stateless request
	listening bool     // the standing stream was begun
	old       mcp.Conn // what carries everything once the server turned out to speak HTTP+SSE
}

var _ mcp.Conn = (*conn)(nil)

var errSessionOver = fmt.Errorf("%w: the server has ended the session", jsonrpc.ErrClosed)

// RoundTrip implements mcp.Conn.
func (c *conn) RoundTrip(ctx context.Context, request *jsonrpc.Message) (*jsonrpc.Message, error) {
	old, err := c.ready(ctx)
	switch {
	case err != nil:
		return nil, err
	case old != nil:
		return old.RoundTrip(ctx, request)
	}
	call, err := newCall(request)
	if err != nil {
		return nil, err
	}
	if call.stateless {
		return c.callStateless(ctx, call)
	}
	return c.callSession(ctx, call)
}

// Send implements mcp.Conn.
func (c *conn) Send(ctx context.Context, notification *jsonrpc.Message) error {
	old, err := c.ready(ctx)
	switch {
	case err != nil:
		return err
	case old != nil:
		return old.Send(ctx, notification)
	}
	call, err := newCall(notification)
	if err != nil {
		return err
	}
	if err := c.deliver(ctx, call); err != nil {
		return fmt.Errorf("%s: %w", notification.Method, err)
	}
	if notification.Method == mcp.NoteInitialized && !call.stateless {
		c.startListening(ctx)
	}
	return nil
}

// ready returns the connection that has taken over, if one has, or why nothing
// can be sent any more.
func (c *conn) ready(ctx context.Context) (mcp.Conn, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case c.closing:
		return nil, jsonrpc.ErrClosed
	case c.ended:
		return nil, c.err
	}
	return c.old, nil
}

// spawn starts a goroutine that Close waits for. It reports false when the
// connection has ended.
func (c *conn) spawn(f func()) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return false
	}
	c.work.Go(f)
	return true
}

// spawnFarewell is spawn for what Close waits for before it ends the
// connection.
func (c *conn) spawnFarewell(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended || c.closing {
		return
	}
	c.farewells.Add(1)
	c.work.Go(func() {
		defer c.farewells.Done()
		f()
	})
}

// lose ends the connection: the server has forgotten its session. Calls in
// flight may have been processed, so they are not told that they were
// refused.
//
// Spec: 2025-11-25 basic/transports#session-management (3).
func (c *conn) lose() error {
	err := fmt.Errorf("%q: %w", c.opts.Name(), mcp.ErrSessionGone)
	c.finish(err, errSessionOver)
	return err
}

// finish ends the connection for a reason, which calls in flight fail with.
func (c *conn) finish(err, inFlight error) {
	c.mu.Lock()
	if !c.ended {
		c.ended, c.err = true, err
		close(c.done)
	}
	c.mu.Unlock()
	c.end(inFlight)
}

// Done implements mcp.Conn.
func (c *conn) Done() <-chan struct{} { return c.done }

// Err implements mcp.Conn.
func (c *conn) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closing {
		return nil
	}
	return c.err
}

// Close implements mcp.Conn. It tells the server that the session is over; a
// server that does not hear it has to find out by itself.
//
// Spec: 2025-11-25 basic/transports#session-management (5).
func (c *conn) Close() error {
	c.mu.Lock()
	c.closing = true
	alive, session, version, old := !c.ended, c.session, c.version, c.old
	c.mu.Unlock()
	// A server that hears of cancellations stops work that nobody wants.
	serial.WaitFor(&c.farewells, c.opts.CloseTimeout)
	c.finish(nil, jsonrpc.ErrClosed)
	var err error
	if old != nil {
		err = old.Close()
	}
	if alive && session != "" {
		c.delete(session, version)
	}
	c.work.Wait()
	c.refusals.Wait()
	if c.own {
		c.http.CloseIdleConnections()
	}
	return err
}

// delete ends the session.
func (c *conn) delete(session, version string) {
	ctx, cancel := context.WithTimeoutCause(context.Background(), c.opts.CloseTimeout, errors.New("the server did not answer in time"))
	defer cancel()
	header := c.header.Clone()
	sessionHeader(header, session, version)
	resp, err := c.do(ctx, http.MethodDelete, nil, header) //nolint:bodyclose // drain closes it
	if err != nil {
		c.opts.Logger.Debug("session not ended", "server", c.opts.Name(), "error", err)
		return
	}
	drain(resp.Body)
	// A 405 says that sessions end when the server wants.
	if resp.StatusCode/100 != 2 && resp.StatusCode != http.StatusMethodNotAllowed {
		c.opts.Logger.Debug("session not ended", "server", c.opts.Name(), "status", resp.StatusCode)
	}
}
