package stream

import (
	"context"
	"errors"

	"github.com/parley-mcp/parley/internal/era"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// read reads until the connection ends, or until another goroutine has the
// lead.
func (s *server) read(ctx context.Context) {
	for reading := true; reading; {
		m, err := s.next(ctx)
		if err != nil {
			s.ended <- err
			return
		}
		reading = (m == nil || s.serve(ctx, m)) && s.settle()
	}
}

// takeOver is read for who takes the lead from another goroutine.
func (s *server) takeOver(ctx context.Context) {
	if s.flush() {
		s.read(ctx)
	}
}

// next reads a frame and deals with it, unless it is a request that the caller is
// to serve: that is returned. An error says why nothing more can be read.
func (s *server) next(ctx context.Context) (*jsonrpc.Message, error) {
	frame, err := s.frames.Read()
	var long *jsonrpc.TooLongError
	switch {
	case errors.As(err, &long):
		s.seen.Drop(mcp.Received, mcp.DropTooLong, "", long)
		s.refuse(ctx, jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "%v", long))
	case err != nil:
		return nil, err
	case jsonrpc.IsBatch(frame):
		s.release()
		s.batch(ctx, frame)
	default:
		m, err := s.conversation.Decode(frame)
		if err == nil && s.quick(m) {
			return m, nil
		}
		s.release()
		s.conversation.Receive(ctx, m, err, &s.delivery)
	}
	return nil, nil //nolint:nilnil // it is dealt with
}

// batch serves an array of messages.
func (s *server) batch(ctx context.Context, frame []byte) {
	b, err := s.conversation.Batch(frame)
	if err != nil {
		s.refuse(ctx, err)
		return
	}
	b.Serve(ctx, &s.delivery)
}

// refuse answers a frame whose ID could not be read.
func (s *server) refuse(ctx context.Context, reason error) {
	s.conversation.Refuse(ctx, jsonrpc.ID{}, reason, s)
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
