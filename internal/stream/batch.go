package stream

import (
	"bytes"
	"context"
	"sync"

	"github.com/parley-mcp/parley/internal/era"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// batch serves an array of messages. Its answers go out together, as one
// array; what precedes them goes out as it comes.
//
// Spec: 2025-03-26 basic#batching.
func (s *server) batch(ctx context.Context, frame []byte) {
	if f := s.session.Facts(); f == nil || !f.Batches {
		s.refuse(ctx, jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "batches are part of revision 2025-03-26 only; send the messages one by one"))
		return
	}
	entries, err := s.decoder.DecodeBatch(frame)
	if err != nil {
		s.refuse(ctx, err)
		return
	}
	b := &batch{server: s}
	for _, e := range entries {
		if e.Err != nil || e.Message.Kind == jsonrpc.Request {
			b.open++
		}
	}
	for _, e := range entries {
		// Spec: 2025-03-26 basic/lifecycle#initialization.
		if e.Err == nil && e.Message.Method == mcp.MethodInitialize {
			e.Err = jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "initialize must not be part of a batch")
		}
		s.message(ctx, e.Message, e.Err, b)
	}
}

// batch gathers answers until the last one.
type batch struct {
	server *server

	mu      sync.Mutex
	open    int
	answers [][]byte
}

func (b *batch) Message(ctx context.Context, frame []byte) error { return b.server.Message(ctx, frame) }

func (b *batch) Answer(_ context.Context, frame []byte, _ *jsonrpc.Error) error {
	return b.settle(bytes.Clone(frame))
}

// Dropped says that one answer will not come: its request was cancelled.
func (b *batch) Dropped() { _ = b.settle(nil) }

func (b *batch) settle(answer []byte) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if answer != nil {
		b.answers = append(b.answers, answer)
	}
	if b.open--; b.open > 0 || len(b.answers) == 0 {
		return nil
	}
	return b.server.frames.Write(jsonrpc.AppendBatch(nil, b.answers))
}

var _ era.Dropper = (*batch)(nil)
