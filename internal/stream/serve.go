package stream

import (
	"context"
	"errors"
	"io"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parley-mcp/parley/internal/era"
	"github.com/parley-mcp/parley/internal/serial"
	"github.com/parley-mcp/parley/internal/tap"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// Serve is ServeFor for an unauthenticated client.
func Serve(ctx context.Context, h mcp.Handler, frames Frames, opts mcp.ServeOptions) error {
	return ServeFor(ctx, h, frames, opts, era.Sender{})
}

// ServeFor serves one client, in both eras, until it closes the connection, ctx
// ends, or the client's authorization expires. It starts one goroutine that
// reads and serves, one for each request that takes long, and one for
// notifications while there are any; when it returns, all of them have ended and
// the connection is closed. The one exception is a Read that does not return
// after Close. The error is nil when the client closed the connection cleanly.
func ServeFor(ctx context.Context, h mcp.Handler, frames Frames, opts mcp.ServeOptions, sender era.Sender) error {
	opts = era.WithDefaults(&opts)
	stateless, err := era.NewStateless(h, opts)
	if err != nil {
		_ = frames.Close() // nothing was written
		return err
	}
	ctx, stop := era.UntilExpiry(ctx, sender.Authorization)
	defer stop()
	sender.Seen = tap.Serving(opts)
	sender.Source = "connection " + strconv.FormatUint(connections.Add(1), 10)
	s := &server{opts: opts, frames: watched(asBuffered(frames), sender.Seen), seen: sender.Seen, ended: make(chan error, 1)}
	s.conversation = era.NewConversation(h, opts, stateless, s, sender.Seen)
	s.delivery = era.Delivery{Out: s, Sender: sender, Start: s.start, Queue: s.notices.Add}
	return s.run(ctx)
}

// connections numbers the connections of this process, so that limits can tell
// them apart.
var connections atomic.Uint64

// server is one connection.
type server struct {
	opts         mcp.ServeOptions
	frames       buffered
	seen         *tap.Conn
	conversation *era.Conversation
	delivery     era.Delivery // of everything except what the leader serves itself
	lead         leadership
	notices      serial.Queue
	end          func(cause error) // cancels everything in flight
	ended        chan error        // receives why reading ended

	mu       sync.Mutex
	closing  bool
	requests sync.WaitGroup
}

func (s *server) run(ctx context.Context) error {
	requests, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	s.end = func(cause error) { // notifications are not registered in flight: cancel their context
		s.conversation.Cancel(cause)
		cancel(cause)
	}
	s.lead.promote = func() {
		go s.takeOver(requests) // ends with the connection, or when it is replaced as leader
	}
	defer s.lead.stop()
	go s.read(requests) // likewise; the last leader sends to ended
	select {
	case err := <-s.ended:
		s.finish(errors.Is(err, io.EOF))
		_ = s.frames.Close()
		if errors.Is(err, io.EOF) {
			return nil
		}
		return err
	case <-ctx.Done():
		cause := era.ErrShutdown
		if errors.Is(context.Cause(ctx), era.ErrExpired) {
			cause = era.ErrExpired
		}
		s.end(cause)
		s.finish(false)
		_ = s.frames.Close()
		s.abandon()
		return context.Cause(ctx)
	}
}

// abandon waits for the reader, but not forever: a read from a terminal
// cannot be interrupted, and ends with the process.
func (s *server) abandon() {
	timer := time.NewTimer(s.opts.DrainTimeout)
	defer timer.Stop()
	select {
	case err := <-s.ended:
		s.opts.Logger.Debug("connection ended with the server", "error", err)
	case <-timer.C:
	}
}

// finish ends everything in flight. patient lets requests finish first, within
// DrainTimeout: a client that pipes its messages in closes its side at once and
// still expects answers. Questions to the client fail at once.
func (s *server) finish(patient bool) {
	s.mu.Lock()
	s.closing = true
	s.mu.Unlock()
	s.conversation.Close(jsonrpc.ErrClosed)
	if patient {
		s.conversation.CancelListens()
		timer := time.AfterFunc(s.opts.DrainTimeout, func() { s.end(era.ErrShutdown) })
		defer timer.Stop()
	} else {
		s.end(era.ErrShutdown)
	}
	// A client that no longer reads must not keep the server from ending.
	stuck := time.AfterFunc(2*s.opts.DrainTimeout, func() { _ = s.frames.Close() })
	defer stuck.Stop()
	s.requests.Wait()
	s.notices.Wait()
	s.send()
}

// begin registers a request with finish, unless the connection is closing.
func (s *server) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return false
	}
	s.requests.Add(1)
	return true
}

// Message implements era.Out: a connection can take the frames of all requests,
// since each request writes its own in order.
func (s *server) Message(_ context.Context, frame []byte) error { return s.frames.Write(frame) }

// Answer implements era.Out.
func (s *server) Answer(_ context.Context, frame []byte, _ *era.Failure) error {
	return s.frames.Write(frame)
}
