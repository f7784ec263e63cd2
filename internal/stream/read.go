package stream

import (
	"context"
	"errors"

	"github.com/parley-mcp/parley/internal/era"
	"github.com/parley-mcp/parley/internal/revision"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// read reads until the connection ends, or until another goroutine has the
// lead.
func (s *server) read(ctx context.Context) {
	for s.next(ctx) && s.settle() {
	}
}

// takeOver is read for who takes the lead from another goroutine.
func (s *server) takeOver(ctx context.Context) {
	if s.flush() {
		s.read(ctx)
	}
}

// next deals with one frame. It reports whether the caller is to read on.
func (s *server) next(ctx context.Context) bool {
	frame, err := s.frames.Read()
	var long *TooLongError
	switch {
	case errors.As(err, &long):
		s.refuse(ctx, jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "%v", long))
	case err != nil:
		s.ended <- err
		return false
	case jsonrpc.IsBatch(frame):
		s.release()
		s.batch(ctx, frame)
	default:
		m, err := s.decoder.Decode(frame)
		if err == nil && s.quick(m) {
			return s.serve(ctx, m)
		}
		s.release()
		s.message(ctx, m, err, s)
	}
	return true
}

// quick reports whether a message is to be served by who has read it: a
// request that is likely to take no longer than it takes to wake a goroutine.
// A subscription never is.
func (s *server) quick(m *jsonrpc.Message) bool {
	return m.Kind == jsonrpc.Request && m.Method != mcp.MethodListen && !era.Inline(m) && s.lead.trusts()
}

// settle sends what was kept back before a read that may wait, and reports
// whether the caller still has the lead.
func (s *server) settle() bool {
	kept, due := s.lead.keeping()
	if !kept || !due && s.frames.ready() {
		return true
	}
	return s.flush()
}

// release sends what was kept back before a message that may hold up the
// reader, who cannot be relieved before it has passed that on.
func (s *server) release() {
	if s.lead.release() && s.begin() {
		go func() { // ends when that is written; finish waits for it
			defer s.requests.Done()
			s.send()
		}()
	}
}

// flush sends what was kept back, and reports whether the caller still has the
// lead: it is taken from one who waits for the client to read.
func (s *server) flush() bool {
	if !s.begin() {
		return true // finish flushes
	}
	defer s.requests.Done()
	turn, _ := s.lead.begin()
	s.send()
	return s.lead.end(turn, false)
}

func (s *server) send() {
	if err := s.frames.flush(); err != nil {
		s.opts.Logger.Debug("answers not delivered", "error", err)
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
	switch {
	case m.Kind == jsonrpc.Request && !era.Inline(m):
		s.request(ctx, m, out)
	case era.Inline(m):
		s.front(m).Receive(ctx, m, out, era.Via{})
	default:
		front := s.front(m)
		s.notices.Add(func() { front.Receive(ctx, m, out, era.Via{}) })
	}
}

// front is what serves the messages of one era.
type front interface {
	Receive(context.Context, *jsonrpc.Message, era.Out, era.Via)
}

func (s *server) front(m *jsonrpc.Message) front {
	if era.IsStateless(m) || m.Kind == jsonrpc.Notification && m.Method != mcp.NoteInitialized && s.facts().Stateless {
		return s.stateless
	}
	return s.session
}

// facts are those of what belongs to no request that names its revision: the
// session's, or without one the newest that the server speaks. Notifications
// of the stateless era name none.
func (s *server) facts() *revision.Facts {
	if f := s.session.Facts(); f != nil {
		return f
	}
	if newest := revision.Newest(s.handler.Describe(context.Background(), nil).Revisions); len(newest) > 0 {
		return revision.Of(newest[0])
	}
	return revision.Of(mcp.Revision20260728)
}
