package stream

import (
	"context"
	"time"

	"github.com/parley-mcp/parley/internal/era"
	"github.com/parley-mcp/parley/jsonrpc"
)

// start serves a request on a goroutine of its own. It is the Start of
// era.Delivery.
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

// serve serves a request on the goroutine that reads, and reports whether that
// still has the lead.
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
	r.Serve(s.delivery.Sender)        //nolint:contextcheck // it has had ctx since it was admitted
	if s.lead.end(out.number, out.kept) {
		return true
	}
	if out.kept { // the one who reads now may be waiting
		s.send()
	}
	return false
}

// inlineRequest is the Out of a request that the reader serves.
type inlineRequest struct {
	*server
	number uint64
	more   bool // the next frame is here already: its answer can go out with this one
	kept   bool // answers are kept back
}

// Answer implements era.Out.
func (t *inlineRequest) Answer(_ context.Context, frame []byte, _ *era.Failure) error {
	t.kept = t.more
	if t.more {
		return t.frames.keep(frame)
	}
	return t.frames.Write(frame)
}

// Waits implements era.Waiter: the client's answer has to be read.
func (t *inlineRequest) Waits() { t.lead.handOver(t.number) }
