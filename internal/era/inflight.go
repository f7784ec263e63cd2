package era

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// InFlight knows the requests of one connection that are being served, of
// both eras: a cancellation says an ID and nothing more. The zero value is
// ready.
//
// Requests are registered by whoever reads the connection, before they run;
// otherwise a cancellation could overtake its request.
type InFlight struct {
	mu      sync.Mutex
	running map[jsonrpc.ID]running
	over    error // the cause of CancelAll, once it was called
}

type running struct {
	ctx    *Context
	listen bool
}

// Add registers a request and returns the context to serve it with. It fails
// when the ID is in use, or when limit requests are being served.
//
// Spec: 2026-07-28 basic#requests.
func (f *InFlight) Add(ctx context.Context, m *jsonrpc.Message, limit int) (context.Context, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := f.running[m.ID]; ok {
		return nil, jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "a request with id %s is already being served", m.ID)
	}
	if len(f.running) >= limit {
		return nil, jsonrpc.Errorf(jsonrpc.CodeInternalError, "too many requests at a time: the limit is %d", limit)
	}
	if f.running == nil {
		f.running = make(map[jsonrpc.ID]running)
	}
	own := NewContext(ctx)
	f.running[m.ID] = running{own, m.Method == mcp.MethodListen}
	if f.over != nil {
		own.End(f.over)
	}
	return own, nil
}

// Remove forgets a request that was answered and releases its context.
func (f *InFlight) Remove(id jsonrpc.ID) {
	f.mu.Lock()
	r, ok := f.running[id]
	delete(f.running, id)
	f.mu.Unlock()
	if ok {
		r.ctx.Release()
	}
}

// Settling returns the Out of a registered request, which forgets the request
// before its answer goes out: the client may use the ID again as soon as it
// has the answer. Whoever served the request calls Forget, as it may end
// without an answer.
//
// Spec: 2026-07-28 basic#requests.
func (f *InFlight) Settling(id jsonrpc.ID, out Out) *Settling {
	return &Settling{Out: out, inflight: f, id: id}
}

// Settling is the Out of a registered request.
type Settling struct {
	Out
	inflight  *InFlight
	id        jsonrpc.ID
	forgotten atomic.Bool
}

// Forget forgets the request, unless that was done.
func (s *Settling) Forget() {
	if !s.forgotten.Swap(true) {
		s.inflight.Remove(s.id)
	}
}

// Answer implements Out.
func (s *Settling) Answer(ctx context.Context, frame []byte, failed *Failure) error {
	s.Forget()
	return s.Out.Answer(ctx, frame, failed)
}

// Dropped implements Dropper.
func (s *Settling) Dropped() {
	s.Forget()
	if d, ok := s.Out.(Dropper); ok {
		d.Dropped()
	}
}

// Waits implements Waiter.
func (s *Settling) Waits() {
	if w, ok := s.Out.(Waiter); ok {
		w.Waits()
	}
}

// Cancel ends a request with a cause. An unknown ID is ignored: the answer
// may have crossed the cancellation.
//
// Spec: 2026-07-28 basic/patterns/cancellation#timing-considerations.
func (f *InFlight) Cancel(id jsonrpc.ID, cause error) {
	f.mu.Lock()
	r, ok := f.running[id]
	f.mu.Unlock()
	if ok {
		r.ctx.End(cause)
	}
}

// CancelAll ends every request with a cause, those that are registered later
// as well: whoever waits for the last one must not wait for a latecomer.
func (f *InFlight) CancelAll(cause error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.over = cause
	for _, r := range f.running {
		r.ctx.End(cause)
	}
}

// CancelListens ends the subscriptions, which never end by themselves.
func (f *InFlight) CancelListens() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range f.running {
		if r.listen {
			r.ctx.End(ErrShutdown)
		}
	}
}

// Len returns how many requests are being served.
func (f *InFlight) Len() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.running)
}

// Notice handles a notification that cancels a request, and reports whether m
// was one. Malformed ones are ignored.
//
// Spec: 2026-07-28 basic/patterns/cancellation#error-handling.
func (f *InFlight) Notice(m *jsonrpc.Message) bool {
	switch m.Method {
	case mcp.NoteCancelled:
		var p mcp.CancelledParams
		if wire.Unmarshal(m.Params, &p) == nil {
			f.Cancel(p.RequestID, cancelled(p.Reason))
		}
		return true
	case "$/cancelRequest":
		var p struct {
			ID jsonrpc.ID `json:"id"`
		}
		if wire.Unmarshal(m.Params, &p) == nil {
			f.Cancel(p.ID, ErrCancelRequest)
		}
		return true
	}
	return false
}
