package stream

import (
	"context"
	"time"

	"github.com/parley-mcp/parley/internal/era"
	"github.com/parley-mcp/parley/jsonrpc"
)

// start serves a request on a goroutine of its own. It is era.Delivery.Start.
func (s *server) start(r *era.Request) bool {
	if !s.begin() {
		return false
	}
	go func() { // ends with the request; finish waits for it
		defer s.requests.Done()
		began := time.Now()
		r.Serve(s.delivery.Sender)
		s.lead.took(time.Since(began))
	}()
	return true
}

// serve serves a request on the leader's goroutine, and reports whether that is
// still the leader.
func (s *server) serve(ctx context.Context, m *jsonrpc.Message) bool {
	out := &inlineRequest{server: s}
	r, err := s.conversation.Admit(ctx, m, out)
	if err != nil {
		s.conversation.Refuse(ctx, m.ID, err, out)
		return true
	}
	if !s.begin() {
		r.Drop()
		return true
	}
	defer s.requests.Done()
	out.more = s.frames.ready()
	out.number, out.kept = s.lead.begin()
	defer s.lead.handOver(out.number) // if the handler ends the goroutine
	r.Serve(s.delivery.Sender)        //nolint:contextcheck // it got ctx when it was admitted
	if s.lead.end(out.number, out.kept) {
		return true
	}
	if out.kept { // the new leader may be blocked in a read
		s.send()
	}
	return false
}

// inlineRequest is the Out of a request that the leader serves.
type inlineRequest struct {
	*server
	number uint64 // of its turn
	more   bool   // the next frame is buffered already: the two answers can go out together
	kept   bool   // answers are kept back
}

// Answer implements era.Out.
func (r *inlineRequest) Answer(_ context.Context, frame []byte, _ *era.Failure) error {
	r.kept = r.more
	if r.more {
		return r.frames.keep(frame)
	}
	return r.frames.Write(frame)
}

// Waits implements era.Waiter: somebody has to read the client's answer
// meanwhile.
func (r *inlineRequest) Waits() { r.lead.handOver(r.number) }
