package era

import (
	"bytes"
	"context"
	"errors"
	"sync"

	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// Misplaced refuses the requests that a batch cannot hold: initialize, those
// of the stateless era, which has no batches, and the second with one ID.
//
// Spec: 2025-03-26 basic/lifecycle#initialization.
// Spec: 2025-03-26 basic#requests.
func Misplaced(entries []jsonrpc.Entry) {
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

// Batch is the Out of the messages of one batch: its answers go out together,
// as one array; what precedes them goes out as it comes.
//
// Spec: 2025-03-26 basic#batching.
type Batch struct {
	messages Out
	gather   *Gather
	quiet    bool
}

var (
	_ Out     = (*Batch)(nil)
	_ Dropper = (*Batch)(nil)
)

// NewBatch returns the Out for entries. messages takes what precedes answers,
// and write the array of answers, which is not called when there are none.
func NewBatch(entries []jsonrpc.Entry, messages Out, write func(frame []byte) error) *Batch {
	open := 0
	for _, e := range entries {
		// A malformed message counts as a request: its error is an answer.
		if e.Message.Kind == jsonrpc.Request {
			open++
		}
	}
	return &Batch{messages: messages, gather: NewGather(open, write), quiet: open == 0}
}

// Quiet reports whether nothing in the batch waits for an answer.
func (b *Batch) Quiet() bool { return b.quiet }

// Message passes on what precedes an answer.
func (b *Batch) Message(ctx context.Context, frame []byte) error {
	return b.messages.Message(ctx, frame)
}

// Answer keeps an answer.
func (b *Batch) Answer(_ context.Context, frame []byte, _ *Failure) error {
	return b.gather.Settle(bytes.Clone(frame))
}

// Dropped says that one answer will not come: its request was cancelled.
func (b *Batch) Dropped() { _ = b.gather.Settle(nil) }

// Refuse answers one message with an error.
func (b *Batch) Refuse(id jsonrpc.ID, err error) {
	var rpc *jsonrpc.Error
	if !errors.As(err, &rpc) {
		rpc = jsonrpc.Errorf(jsonrpc.CodeInternalError, "internal error")
	}
	frame, err := jsonrpc.Append(nil, jsonrpc.NewError(id, rpc))
	if err != nil {
		frame = nil
	}
	_ = b.gather.Settle(frame)
}

// Gather keeps answers until the last one, and writes them as one array. It
// is safe for concurrent use.
type Gather struct {
	write func(frame []byte) error

	mu      sync.Mutex
	open    int
	answers [][]byte
}

// NewGather returns a Gather that waits for so many answers.
func NewGather(open int, write func(frame []byte) error) *Gather {
	return &Gather{write: write, open: open}
}

// Settle takes an answer, or nil for one that will not come.
func (g *Gather) Settle(answer []byte) error {
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
