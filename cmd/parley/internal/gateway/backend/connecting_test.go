package backend_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/backend"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
)

// A server that hangs before it can be used is given up after a time, and then left alone
// for as long: calls fail at once.
func TestConnectingHangs(t *testing.T) {
	for _, limit := range []time.Duration{0, 5 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			started := 0
			b := backend.New(backend.Options{Name: "files", Logger: mcptest.Quiet(), ConnectTimeout: limit, Connect: func(ctx context.Context, _ *mcp.Peer, _ *client.Options) (*client.Client, error) {
				started++
				<-ctx.Done()
				return nil, context.Cause(ctx)
			}})
			defer func() { _ = b.Close() }()
			if limit == 0 {
				limit = 30 * time.Second
			}
			begun := time.Now()
			if _, err := call(t, b, false); err == nil || !strings.Contains(err.Error(), "did not answer in time") || time.Since(begun) != limit {
				t.Errorf("after %s, the first call: %v", time.Since(begun), err)
			}
			for range 4 {
				atOnce(t, b, `"files" is not available`, "did not answer in time", "it is tried again in")
				pass(limit / 5)
			}
			if started != 1 {
				t.Errorf("it was started %d times", started)
			}
			pass(limit)
			if _, err := call(t, b, false); err == nil || started != 2 {
				t.Errorf("after the pause it was started %d times, error %v", started, err)
			}
		})
	}
}

// A connection for somebody else is no restart; one that takes the place of a lost one is.
func TestRestarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCommand(t)
		b := c.behind(t, backend.Options{})
		defer c.end(b)
		for _, who := range []string{"ann", "bob", "cat"} {
			if _, err := callAs(t, b, &mcp.Peer{Principal: who}, "a", true); err != nil {
				t.Fatal(err)
			}
		}
		if s := b.State(); s.Connected != 3 || s.Restarted != 0 || s.Lost != 0 {
			t.Errorf("of three that never ended, it says %+v", s)
		}
	})
	overRevisions(t, func(t *testing.T, c *command, b *backend.Backend) {
		c.crash(t, b)
		at := time.Now()
		pass(time.Minute)
		if _, err := call(t, b, true); err != nil {
			t.Fatal(err)
		}
		if s := b.State(); s.Restarted != 1 || s.Lost != 1 || s.Failures != 0 || s.Err == nil || !s.Since.Equal(at) {
			t.Errorf("after a crash at %s it is %+v", at, s)
		}
	})
}
