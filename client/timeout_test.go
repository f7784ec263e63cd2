package client_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
)

// Concurrent calls each end at their own time limit, whatever the limits of the
// others, and when the client ends.
func TestCallsEndEachInItsTime(t *testing.T) {
	bothEras(t, func(t *testing.T, revisions []mcp.Revision) {
		c, _, stop := dial(t, slow(), &client.Options{Revisions: revisions})
		start := time.Now()
		var wg sync.WaitGroup
		call := func(steps int, after time.Duration, want error, opts ...client.CallOption) {
			wg.Go(func() {
				_, err := c.CallTool(t.Context(), "slow", map[string]any{"steps": steps}, opts...)
				if !errors.Is(err, want) {
					t.Errorf("%d steps: error = %v, want %v", steps, err, want)
				}
				// A request may start a little late, until the server has noticed that
				// the one before it takes long.
				if took := time.Since(start); took < after || took > after+10*time.Millisecond {
					t.Errorf("%d steps: over after %v, want %v", steps, took, after)
				}
			})
		}
		call(11, 30*time.Second, client.ErrTimeout, client.WithTimeout(30*time.Second))
		call(12, 10*time.Second, client.ErrTimeout, client.WithTimeout(10*time.Second))
		call(13, 20*time.Second, client.ErrTimeout, client.WithTimeout(-1), client.WithMaxTimeout(20*time.Second))
		call(1, time.Minute, nil, client.WithTimeout(2*time.Minute))
		call(14, 90*time.Second, client.ErrClosed, client.WithTimeout(-1), client.WithMaxTimeout(-1))
		wg.Go(func() {
			<-time.NewTimer(90 * time.Second).C
			stop()
		})
		wg.Wait()
		if _, err := c.CallTool(context.Background(), "slow", nil); !errors.Is(err, client.ErrClosed) {
			t.Errorf("a call after the end: %v", err)
		}
	})
}
