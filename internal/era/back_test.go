package era

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"testing"

	"github.com/parley-mcp/parley/internal/revision"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// keeper is an Out that still reads a frame after Answer has failed, as an
// abandoned write does.
type keeper struct {
	frame []byte
	err   error
}

func (k *keeper) Message(context.Context, []byte) error { return nil }

func (k *keeper) Answer(_ context.Context, frame []byte, _ *Failure) error {
	k.frame = frame
	return k.err
}

// The buffer of a frame that was not delivered is not reused for another one.
func TestUndeliveredFrameIsNotReused(t *testing.T) {
	answer := func(out Out, text string) {
		l := &returnPath{ctx: t.Context(), out: out, facts: revision.Of(mcp.Revision20260728), log: slog.New(slog.DiscardHandler)}
		l.answer(t.Context(), &jsonrpc.Message{ID: jsonrpc.IntID(1)}, map[string]string{"text": text}, nil)
	}
	failed := &keeper{err: errors.New("the client is gone")}
	answer(failed, "first")
	before := bytes.Clone(failed.frame)
	for range 100 {
		answer(&keeper{}, "other")
	}
	if !bytes.Equal(failed.frame, before) {
		t.Errorf("a frame that was not delivered has become %s", failed.frame)
	}
}
