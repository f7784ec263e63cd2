package stream_test

import (
	"context"
	"testing"

	"github.com/parley-mcp/parley/internal/stream"
	"github.com/parley-mcp/parley/mcp"
)

// waiter serves one notification until it is cancelled.
type waiter struct {
	echo
	started chan struct{}
}

func (w waiter) Serve(ctx context.Context, x *mcp.Exchange) (any, error) {
	if x.Method != "notifications/x" {
		return nil, &mcp.MethodNotFoundError{Method: x.Method}
	}
	close(w.started)
	<-ctx.Done()
	return nil, ctx.Err()
}

// A notification that is being served does not keep the server from ending.
func TestServeEndsDuringNotification(t *testing.T) {
	const note = `{"jsonrpc":"2.0","method":"notifications/x"}`
	for _, how := range []string{"the client leaves", "the server ends"} {
		t.Run(how, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			a, b := stream.Pipe()
			w := waiter{started: make(chan struct{})}
			ended := make(chan error, 1)
			go func() { ended <- stream.Serve(ctx, w, a, mcp.ServeOptions{}) }()
			for _, line := range []string{initNov, ready, note} {
				if err := b.Write([]byte(line)); err != nil {
					t.Fatal(err)
				}
			}
			<-w.started
			if how == "the server ends" {
				cancel()
			} else {
				_ = b.Close()
			}
			<-ended
			_ = b.Close()
		})
	}
}
