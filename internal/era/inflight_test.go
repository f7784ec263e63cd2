package era

import (
	"context"
	"errors"
	"testing"

	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// A request that is registered after all were cancelled is cancelled, too:
// whoever ends the connection waits for it.
func TestLatecomersAreCancelled(t *testing.T) {
	var f inFlight
	f.cancelAll(ErrShutdown)
	m := &jsonrpc.Message{Kind: jsonrpc.Request, ID: jsonrpc.IntID(1), Method: mcp.MethodPing}
	ctx, err := f.add(t.Context(), m, 1)
	if err != nil {
		t.Fatal(err)
	}
	if cause := context.Cause(ctx); !errors.Is(cause, ErrShutdown) {
		t.Errorf("cause = %v, want ErrShutdown", cause)
	}
	f.remove(m.ID)
}
