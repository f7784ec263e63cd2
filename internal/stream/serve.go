package stream

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/parley-mcp/parley/internal/era"
	"github.com/parley-mcp/parley/internal/revision"
	"github.com/parley-mcp/parley/internal/serial"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// Serve serves one client of both eras until it closes the connection or ctx
// ends. Every goroutine it starts has ended when it returns: one for each
// request, and one for notifications while there are some. It returns nil
// when the client closed the connection in good order.
func Serve(ctx context.Context, h mcp.Handler, frames Frames, opts mcp.ServeOptions) error {
	opts = opts.WithDefaults()
	stateless, err := era.NewStateless(h, opts)
	if err != nil {
		return err
	}
	s := &server{handler: h, opts: opts, decoder: era.Decoder(opts), frames: frames, stateless: stateless}
	s.session = era.NewSession(h, opts, s)
	return s.run(ctx)
}

// server is one connection.
type server struct {
	handler   mcp.Handler
	opts      mcp.ServeOptions
	decoder   *jsonrpc.Decoder
	frames    Frames
	stateless *era.Stateless
	session   *era.Session
	inflight  era.InFlight
	notices   serial.Queue
	end       func() // cancels all that is being served

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
	ended := make(chan error, 1)
	go func() { ended <- s.read(requests) }() // ends with the connection; waited for below
	select {
	case err := <-ended:
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
		s.abandon(ended)
		return context.Cause(ctx)
	}
}

// abandon waits for the reader, but not for ever: a read from a terminal
// cannot be interrupted, and ends with the process.
func (s *server) abandon(ended <-chan error) {
	timer := time.NewTimer(s.opts.DrainTimeout)
	defer timer.Stop()
	select {
	case err := <-ended:
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

func (s *server) read(ctx context.Context) error {
	for {
		frame, err := s.frames.Read()
		var long *TooLongError
		switch {
		case errors.As(err, &long):
			s.refuse(ctx, jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "%v", long))
		case err != nil:
			return err
		case jsonrpc.IsBatch(frame):
			s.batch(ctx, frame)
		default:
			m, err := s.decoder.Decode(frame)
			s.message(ctx, m, err, s)
		}
	}
}

// message serves one message; bad is the error of its decoding.
func (s *server) message(ctx context.Context, m *jsonrpc.Message, bad error, out era.Out) {
	if bad != nil {
		s.malformed(ctx, m, bad, out)
		return
	}
	if m.Kind == jsonrpc.Notification && s.inflight.Notice(m) {
		return
	}
	front := s.front(m)
	switch {
	case era.Inline(m):
		front(ctx, m, out, era.Via{})
	case m.Kind == jsonrpc.Notification:
		s.notices.Add(func() { front(ctx, m, out, era.Via{}) })
	default:
		s.request(ctx, m, front, out)
	}
}

// malformed refuses a message, if it may be answered. A notification may not.
// The ID of an answer is one of this side: the question it belongs to fails.
//
// Spec: 2025-11-25 basic#notifications.
func (s *server) malformed(ctx context.Context, m *jsonrpc.Message, bad error, out era.Out) {
	switch m.Kind {
	case jsonrpc.Request:
		s.answerBad(ctx, m.ID, bad, out)
	case jsonrpc.Notification:
		s.opts.Logger.WarnContext(ctx, "notification ignored", "method", m.Method, "reason", bad)
	case jsonrpc.Response:
		failed := jsonrpc.Errorf(jsonrpc.CodeInternalError, "the client sent a malformed answer: %v", bad)
		s.session.Receive(ctx, jsonrpc.NewError(m.ID, failed), s, era.Via{})
	}
}

func (s *server) front(m *jsonrpc.Message) func(context.Context, *jsonrpc.Message, era.Out, era.Via) {
	if era.IsStateless(m) || m.Kind == jsonrpc.Notification && m.Method != mcp.NoteInitialized && s.facts().Stateless {
		return s.stateless.Receive
	}
	return s.session.Receive
}

// facts are those of what belongs to no request that names its revision: the
// session's, or without one the newest that the server speaks. Notifications
// of the stateless era name none.
func (s *server) facts() *revision.Facts {
	if f := s.session.Facts(); f != nil {
		return f
	}
	if newest := revision.Newest(s.handler.Describe().Revisions); len(newest) > 0 {
		return revision.Of(newest[0])
	}
	return revision.Of(mcp.Revision20260728)
}

// request registers a request here, on the reading goroutine, and serves it
// on one of its own.
func (s *server) request(ctx context.Context, m *jsonrpc.Message, front func(context.Context, *jsonrpc.Message, era.Out, era.Via), out era.Out) {
	own, err := s.inflight.Add(ctx, m, s.opts.MaxInFlight)
	if err != nil {
		s.answerBad(ctx, m.ID, err, out)
		return
	}
	if !s.begin() {
		s.inflight.Remove(m.ID)
		if d, ok := out.(era.Dropper); ok {
			d.Dropped() // the rest of a batch is answered all the same
		}
		return
	}
	settling := s.inflight.Settling(m.ID, out)
	go func() { // ends with the request; finish waits for it
		defer s.requests.Done()
		defer settling.Forget()
		front(own, m, settling, era.Via{})
	}()
}

// refuse answers a frame whose ID could not be read.
func (s *server) refuse(ctx context.Context, err error) { s.answerBad(ctx, jsonrpc.ID{}, err, s) }

// answerBad refuses a message; the connection lives on.
func (s *server) answerBad(ctx context.Context, id jsonrpc.ID, bad error, out era.Out) {
	var rpc *jsonrpc.Error
	if !errors.As(bad, &rpc) {
		rpc = jsonrpc.Errorf(jsonrpc.CodeInternalError, "internal error")
	}
	s.opts.Logger.WarnContext(ctx, "message refused", "reason", rpc.Message)
	frame, err := s.encodeBad(id, rpc)
	if err != nil {
		return
	}
	_ = out.Answer(ctx, frame, &era.Failure{Error: rpc, Malformed: true}) // a client that is gone shows in the next Read
}

// encodeBad leaves the id out where the revision's schema wants that, and
// writes null as JSON-RPC has it before.
//
// Spec: 2026-07-28 basic#error-responses.
func (s *server) encodeBad(id jsonrpc.ID, rpc *jsonrpc.Error) ([]byte, error) {
	if id.IsZero() && s.facts().ErrorWithoutID {
		return jsonrpc.AppendNoID(nil, rpc)
	}
	return jsonrpc.Append(nil, jsonrpc.NewError(id, rpc))
}

// Message and Answer make the connection the Out of all that needs no place
// of its own: order within a request is kept by who writes it.

func (s *server) Message(_ context.Context, frame []byte) error { return s.frames.Write(frame) }

func (s *server) Answer(_ context.Context, frame []byte, _ *era.Failure) error {
	return s.frames.Write(frame)
}
