package stream

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/parley-mcp/parley/internal/era"
	"github.com/parley-mcp/parley/internal/serial"
	"github.com/parley-mcp/parley/internal/tap"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// Serve is ServeFor for a client of whom nothing is known.
func Serve(ctx context.Context, h mcp.Handler, frames Frames, opts mcp.ServeOptions) error {
	return ServeFor(ctx, h, frames, opts, era.Sender{})
}

// ServeFor serves one client of both eras until it closes the connection, ctx
// ends, or the client's authorization does. Every goroutine it starts has ended
// when it returns, and the connection is closed: one that reads and serves, one
// for each request that takes long, and one for notifications while there are
// some. It returns nil when the client closed the connection in good order.
func ServeFor(ctx context.Context, h mcp.Handler, frames Frames, opts mcp.ServeOptions, sender era.Sender) error {
	opts = era.WithDefaults(&opts)
	stateless, err := era.NewStateless(h, opts)
	if err != nil {
		_ = frames.Close() // there is nothing to lose
		return err
	}
	ctx, stop := era.UntilExpiry(ctx, sender.Authorization)
	defer stop()
	sender.Seen = tap.Serving(opts)
	s := &server{opts: opts, frames: watched(asBuffered(frames), sender.Seen), seen: sender.Seen, ended: make(chan error, 1)}
	s.conversation = era.NewConversation(h, opts, stateless, s, sender.Seen)
	s.delivery = era.Delivery{Out: s, Sender: sender, Start: s.start, Queue: s.notices.Add}
	return s.run(ctx)
}

// server is one connection.
type server struct {
	opts         mcp.ServeOptions
	frames       buffered
	seen         *tap.Conn
	conversation *era.Conversation
	delivery     era.Delivery // of everything but what the reader serves itself
	lead         leadership
	notices      serial.Queue
	end          func(cause error) // cancels all that is being served
	ended        chan error        // why nothing more is read

	mu       sync.Mutex
	closing  bool
	requests sync.WaitGroup
}

func (s *server) run(ctx context.Context) error {
	requests, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	s.end = func(cause error) { // notifications are in no table: their context ends, too
		s.conversation.Cancel(cause)
		cancel(cause)
	}
	s.lead.promote = func() {
		go s.takeOver(requests) // ends with the connection, or loses the lead to the next one
	}
	defer s.lead.stop()
	go s.read(requests) // ends with the connection, or loses the lead to another one; the last says how it ended
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

// abandon waits for the reader, but not for ever: a read from a terminal
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

// finish ends what is being served. A client that pipes its messages closes
// its side at once: patient lets such requests come to their answers.
// Questions to a client that is gone fail at once.
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

// begin counts a request in, unless the connection is closing.
func (s *server) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return false
	}
	s.requests.Add(1)
	return true
}

// Message and Answer make the connection the Out of all that needs no place
// of its own: order within a request is kept by who writes it.

func (s *server) Message(_ context.Context, frame []byte) error { return s.frames.Write(frame) }

func (s *server) Answer(_ context.Context, frame []byte, _ *era.Failure) error {
	return s.frames.Write(frame)
}
