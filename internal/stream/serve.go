package stream

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/parley-mcp/parley/internal/era"
	"github.com/parley-mcp/parley/internal/serial"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// Serve serves one client of both eras until it closes the connection or ctx
// ends. Every goroutine it starts has ended when it returns: one that reads
// and serves, one for each request that takes long, and one for notifications
// while there are some. It returns nil when the client closed the connection
// in good order.
func Serve(ctx context.Context, h mcp.Handler, frames Frames, opts mcp.ServeOptions) error {
	opts = era.WithDefaults(&opts)
	stateless, err := era.NewStateless(h, opts)
	if err != nil {
		return err
	}
	s := &server{handler: h, opts: opts, decoder: era.Decoder(opts), frames: keeping(frames), stateless: stateless, ended: make(chan error, 1)}
	s.session = era.NewSession(h, opts, s)
	return s.run(ctx)
}

// server is one connection.
type server struct {
	handler   mcp.Handler
	opts      mcp.ServeOptions
	decoder   *jsonrpc.Decoder
	frames    keeper
	stateless *era.Stateless
	session   *era.Session
	lead      lead
	inflight  era.InFlight
	notices   serial.Queue
	end       func()     // cancels all that is being served
	ended     chan error // why nothing more is read

	mu       sync.Mutex
	closing  bool
	requests sync.WaitGroup
}

func (s *server) run(ctx context.Context) error {
	requests, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	s.end = func() { // notifications are in no table: their context ends, too
		s.inflight.CancelAll(era.ErrShutdown)
		cancel(era.ErrShutdown)
	}
	s.lead.pass = func() {
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
		s.end()
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
	s.session.Close(jsonrpc.ErrClosed)
	if patient {
		s.inflight.CancelListens()
		timer := time.AfterFunc(s.opts.DrainTimeout, s.end)
		defer timer.Stop()
	} else {
		s.end()
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
