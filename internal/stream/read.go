package stream

import (
	"context"
	"errors"

	"github.com/parley-mcp/parley/internal/era"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// read reads until the connection ends or another goroutine has become the
// leader.
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

// takeOver is read for a goroutine that was just promoted to leader.
func (s *server) takeOver(ctx context.Context) {
	if s.flush() {
		s.read(ctx)
	}
}

// next reads a frame and processes it. A request that the caller should serve
// itself is returned instead. An error says why nothing more can be read.
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
	return nil, nil //nolint:nilnil // the frame has been processed
}

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

// quick reports whether the leader should serve a message itself: a request that
// is likely to be short, which a subscription never is.
func (s *server) quick(m *jsonrpc.Message) bool {
	return m.Kind == jsonrpc.Request && m.Method != mcp.MethodListen && !era.Inline(m) && s.lead.trusts()
}

// settle sends the answers that were kept back if the next read may block or
// they are due, and reports whether the caller is still the leader.
func (s *server) settle() bool {
	kept, due := s.lead.keeping()
	if !kept || !due && s.frames.ready() {
		return true
	}
	return s.flush()
}

// release sends the answers that were kept back, before the leader passes on a
// message outside a turn: that may block, and the leader cannot be replaced
// until it is done.
func (s *server) release() {
	if s.lead.release() && s.begin() {
		go func() { // ends with the write; finish waits for it
			defer s.requests.Done()
			s.send()
		}()
	}
}

// flush sends the answers that were kept back, and reports whether the caller is
// still the leader. It is replaced if it waits too long for the client to read.
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
