package stream

import (
	"context"
	"time"

	"github.com/parley-mcp/parley/internal/era"
	"github.com/parley-mcp/parley/jsonrpc"
)

// request serves a request on a goroutine of its own.
func (s *server) request(ctx context.Context, m *jsonrpc.Message, out era.Out) {
	own, settling := s.admit(ctx, m, out)
	if settling == nil {
		return
	}
	front := s.front(m)
	go func() { // ends with the request; finish waits for it
		defer s.requests.Done()
		defer settling.Forget()
		began := time.Now()
		front.Receive(own, m, settling, era.Via{})
		s.lead.took(time.Since(began))
	}()
}

// serve serves a request on the goroutine that reads, and reports whether that
// still has the lead.
func (s *server) serve(ctx context.Context, m *jsonrpc.Message) bool {
	out := &turn{server: s}
	own, settling := s.admit(ctx, m, out)
	if settling == nil {
		return true
	}
	defer s.requests.Done()
	defer settling.Forget()
	out.more = s.frames.ready()
	out.number, out.kept = s.lead.begin()
	defer s.lead.relieve(out.number) // if the handler ends the goroutine
	s.front(m).Receive(own, m, settling, era.Via{})
	if s.lead.end(out.number, out.kept) {
		return true
	}
	if out.kept { // the one who reads now may be waiting
		s.send()
	}
	return false
}

// admit registers a request, on the reading goroutine: otherwise a
// cancellation could overtake it. It returns nil when the request is not to be
// served. Whoever serves it calls Forget, and s.requests.Done.
func (s *server) admit(ctx context.Context, m *jsonrpc.Message, out era.Out) (context.Context, *era.Settling) {
	own, err := s.inflight.Add(ctx, m, s.opts.MaxInFlight)
	if err != nil {
		s.answerBad(ctx, m.ID, err, out)
		return nil, nil
	}
	if !s.begin() {
		s.inflight.Remove(m.ID)
		if d, ok := out.(era.Dropper); ok {
			d.Dropped() // the rest of a batch is answered all the same
		}
		return nil, nil
	}
	return own, s.inflight.Settling(m.ID, out)
}

// turn is the Out of a request that the reader serves.
type turn struct {
	*server
	number uint64
	more   bool // the next frame is here already: its answer can go out with this one
	kept   bool // answers are kept back
}

// Answer implements era.Out.
func (t *turn) Answer(_ context.Context, frame []byte, _ *era.Failure) error {
	t.kept = t.more
	if t.more {
		return t.frames.keep(frame)
	}
	return t.frames.Write(frame)
}

// Waits implements era.Waiter: the client's answer has to be read.
func (t *turn) Waits() { t.lead.relieve(t.number) }
