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

// conn is a client's connection to a server. Until there is a session it is no more
// than what the client has learned about the server.
type conn struct {
	opts       Client // with its defaults
	seen       *tap.Conn
	blank      *http.Request // the template of every request
	header     http.Header   // of every request: Client.Header
	postHeader http.Header   // of every POST
	http       *http.Client
	own        bool // http was made for this connection
	inbound    era.Inbound
	refusals   serial.Queue // of the server's requests
	tools      toolHeaders
	named      *atomic.Bool // whether streams say which call a message belongs to
	lastID     atomic.Int64

	ctx       context.Context //nolint:containedctx // the connection's lifetime: cancelled when it ends
	end       context.CancelCauseFunc
	done      chan struct{}
	unheard   chan struct{} // closed when no standing stream will come any more
	work      sync.WaitGroup
	farewells sync.WaitGroup // cancellations that are being delivered

	mu        sync.Mutex
	closing   bool
	ended     bool // done is closed
	err       error
	session   string   // its identifier, if the server gave it one
	version   string   // of the session; "" while there is none
	stateless string   // the version of the last stateless request
	listening bool     // the standing stream has been requested
	older     bool     // HTTP+SSE has been tried
	old       mcp.Conn // carries everything if the server turned out to speak HTTP+SSE
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

// ready returns the HTTP+SSE connection if it has replaced this one. An error says
// why nothing can be sent any more.
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

// spawnFarewell is spawn for functions that Close lets finish before it ends the
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

// lose ends the connection because the server no longer knows its session. It
// returns the error for the call that was refused. Calls in flight fail with
// another one, since they may have been processed.
//
// Spec: 2025-11-25 basic/transports#session-management (3).
func (c *conn) lose() error {
	err := fmt.Errorf("%q: %w", c.opts.Name(), mcp.ErrSessionGone)
	c.finish(err, errSessionOver)
	return err
}

// finish ends the connection. err becomes what Err returns, and calls in flight
// fail with inFlight.
func (c *conn) finish(err, inFlight error) {
	c.mu.Lock()
	if !c.ended {
		c.ended, c.err = true, err
		close(c.done)
	}
	c.mu.Unlock()
	c.end(inFlight)
}

// Unheard returns a channel that is closed when what the server says outside of calls
// cannot arrive: it refuses to stream it, or has ceased to.
func (c *conn) Unheard() <-chan struct{} { return c.unheard }

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

// Close implements mcp.Conn. It ends the session at the server, within
// CloseTimeout; a server that this does not reach has to let the session expire.
//
// Spec: 2025-11-25 basic/transports#session-management (5).
func (c *conn) Close() error {
	c.mu.Lock()
	c.closing = true
	alive, session, version, old := !c.ended, c.session, c.version, c.old
	c.mu.Unlock()
	// So that the server can stop work that nobody wants.
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

// delete tells the server that the session is over.
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
	// A 405 says that only the server ends sessions.
	if resp.StatusCode/100 != 2 && resp.StatusCode != http.StatusMethodNotAllowed {
		c.opts.Logger.Debug("session not ended", "server", c.opts.Name(), "status", resp.StatusCode)
	}
}
