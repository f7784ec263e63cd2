package stream

import (
	"context"

	"github.com/parley-mcp/parley/internal/era"
	"github.com/parley-mcp/parley/jsonrpc"
)

// batch serves an array of messages.
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
	era.Misplaced(entries)
	b := era.NewBatch(entries, s, s.frames.Write)
	for _, e := range entries {
		s.message(ctx, e.Message, e.Err, b)
	}
}
