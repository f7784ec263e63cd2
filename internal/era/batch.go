package era

import (
	"bytes"
	"context"
	"sync"

	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// Batch is an array of messages that a client sent.
//
// Spec: 2025-03-26 basic#batching.
type Batch struct {
	of      *Conversation
	entries []jsonrpc.Entry
	open    int // answers still due
}

// Batch reads a frame that holds an array. The error says why the whole batch is
// refused; a malformed element affects only itself.
func (c *Conversation) Batch(frame []byte) (*Batch, error) {
	if f := c.Facts(); f == nil || !f.Batches {
		return nil, jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "batches are part of revision 2025-03-26 only; send the messages one by one")
	}
	entries, err := c.decoder.DecodeBatch(frame)
	if err != nil {
		return nil, err
	}
	misplaced(entries)
	b := &Batch{of: c, entries: entries}
	for _, e := range entries {
		// A malformed message counts as a request: its error is an answer.
		if e.Message.Kind == jsonrpc.Request {
			b.open++
		}
	}
	return b, nil
}

// misplaced refuses the requests that a batch cannot hold: initialize, those
// of the stateless era, which has no batches, and any that repeats an ID.
//
// Spec: 2025-03-26 basic/lifecycle#initialization.
// Spec: 2025-03-26 basic#requests.
func misplaced(entries []jsonrpc.Entry) {
	seen := make(map[jsonrpc.ID]bool, len(entries))
	for i, e := range entries {
		m := e.Message
		if e.Err != nil || m.Kind != jsonrpc.Request {
			continue
		}
		switch {
		case m.Method == mcp.MethodInitialize:
			entries[i].Err = jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "initialize must not be part of a batch")
		case IsStateless(m):
			entries[i].Err = jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "a request with a protocol version of its own must not be part of a batch")
		case seen[m.ID]:
			entries[i].Err = jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "the batch has a request with id %s already", m.ID)
		}
		seen[m.ID] = true
	}
}

// Quiet reports whether nothing in the batch waits for an answer.
func (b *Batch) Quiet() bool { return b.open == 0 }

// Serve serves the messages one after the other, as Receive does. Their
// answers go to d.Out.Answer together, as one array; it is not called when there
// are none. What precedes the answers goes out as it comes.
func (b *Batch) Serve(ctx context.Context, d *Delivery) {
	each := *d
	each.Out = &batchOut{Out: d.Out, gather: newGather(b.open, func(frame []byte) error { return d.Out.Answer(ctx, frame, nil) })}
	for _, e := range b.entries {
		b.of.Receive(ctx, e.Message, e.Err, &each)
	}
}

// batchOut is the Out of the messages of one batch.
type batchOut struct {
	Out
	gather *gather
}

var _ Dropper = (*batchOut)(nil)

// Answer keeps an answer until the batch is complete.
func (b *batchOut) Answer(_ context.Context, frame []byte, _ *Failure) error {
	return b.gather.settle(bytes.Clone(frame))
}

// Dropped says that one answer will not come, because its request was cancelled.
func (b *batchOut) Dropped() { _ = b.gather.settle(nil) } // the reader notices that the client has gone

// gather collects answers until the last one has come, and writes them as one
// array. It is safe for concurrent use.
type gather struct {
	write func(frame []byte) error

	mu      sync.Mutex
	open    int
	answers [][]byte
}

// newGather returns a gather that waits for open answers.
func newGather(open int, write func(frame []byte) error) *gather {
	return &gather{write: write, open: open}
}

// settle takes an answer, or nil for one that will not come.
func (g *gather) settle(answer []byte) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if answer != nil {
		g.answers = append(g.answers, answer)
	}
	if g.open--; g.open > 0 || len(g.answers) == 0 {
		return nil
	}
	return g.write(jsonrpc.AppendBatch(nil, g.answers))
}
