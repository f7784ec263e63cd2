package era

import (
	"context"
	"sync/atomic"

	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// Request is an admitted request: it is registered by its ID, so that it can be
// cancelled, until its answer goes out. It is the Out that its front writes to.
type Request struct {
	Out
	of        *Conversation
	m         *jsonrpc.Message
	ctx       *Context
	forgotten atomic.Bool
}

var (
	_ Dropper = (*Request)(nil)
	_ Waiter  = (*Request)(nil)
)

// Admit registers a request whose answer goes to out. The goroutine that reads the
// connection must call it, as a cancellation could otherwise overtake its request;
// then somebody must call Serve or Drop. The error says why the request is refused:
// its ID is in use, or too many are being served.
func (c *Conversation) Admit(ctx context.Context, m *jsonrpc.Message, out Out) (*Request, error) {
	own, err := c.inflight.add(ctx, m, c.opts.MaxInFlight)
	if err != nil {
		return nil, err
	}
	return &Request{Out: out, of: c, m: m, ctx: own}, nil
}

// Serve serves the request, and returns when it was answered or cancelled.
func (r *Request) Serve(sender Sender) {
	defer r.forget() // it may end without an answer
	r.of.front(r.ctx, r.m).Receive(r.ctx, r.m, r, sender)
}

// Drop gives up a request that will not be served after all, because the
// connection is ending. There is no answer.
func (r *Request) Drop() {
	r.of.seen.Drop(mcp.Received, mcp.DropClosed, r.m.Method, nil)
	r.Dropped()
}

// forget frees the ID for another request.
func (r *Request) forget() {
	if !r.forgotten.Swap(true) {
		r.of.inflight.remove(r.m.ID)
	}
}

// Answer implements Out. The request is forgotten first: the client may use the
// ID again as soon as it has the answer.
//
// Spec: 2026-07-28 basic#requests.
func (r *Request) Answer(ctx context.Context, frame []byte, failed *Failure) error {
	r.forget()
	return r.Out.Answer(ctx, frame, failed)
}

// Dropped implements Dropper.
func (r *Request) Dropped() {
	r.forget()
	if d, ok := r.Out.(Dropper); ok {
		d.Dropped()
	}
}

// Waits implements Waiter.
func (r *Request) Waits() {
	if w, ok := r.Out.(Waiter); ok {
		w.Waits()
	}
}
