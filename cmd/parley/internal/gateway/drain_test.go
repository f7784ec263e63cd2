package gateway_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/bridge"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
)

// sluggish is a server with a tool that takes its time.
func sluggish(takes time.Duration) *server.Server {
	s := server.New(mcp.Implementation{Name: "slow", Version: "1"}, &server.Options{Logger: mcptest.Quiet()})
	server.AddTool(s, mcp.Tool{Name: "work"}, func(ctx context.Context, _ *server.Call, _ struct{}) (string, error) {
		work := time.NewTimer(takes)
		defer work.Stop()
		select {
		case <-work.C:
			return "done", nil
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	})
	return s
}

// A call that is under way when its server leaves the configuration, or comes to be reached
// in another way, may finish, for as long as the gateway gives it.
func TestCallsFinishAtTheServerThatLeaves(t *testing.T) {
	for name, c := range map[string]struct {
		takes, grace time.Duration
		stays        bool // in another form
		close        bool // the gateway ends meanwhile
		done         bool
	}{
		"removed":         {takes: 5 * time.Second, grace: 10 * time.Second, done: true},
		"changed":         {takes: 5 * time.Second, grace: 10 * time.Second, stays: true, done: true},
		"too slow":        {takes: time.Minute, grace: 10 * time.Second},
		"without time":    {takes: 5 * time.Second},
		"the gateway end": {takes: time.Minute, grace: time.Hour, close: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := behind(t, "slow", sluggish(c.takes), modes[0], bridge.SharePrincipal)
				g := gateway.New(gateway.Options{Info: mcp.Implementation{Name: "gateway", Version: "1"}, Logger: mcptest.Quiet(), Grace: c.grace})
				t.Cleanup(func() { _ = g.Close() })
				if err := g.Load(gateway.Setup{Servers: []gateway.Server{srv}}); err != nil {
					t.Fatal(err)
				}
				user := mcptest.Connect(t, g.View(""), modes[0], nil)
				ended := make(chan error, 1)
				go func() { ended <- called(t, user) }()
				synctest.Wait()
				begun := time.Now()
				next := gateway.Setup{}
				if c.stays {
					srv.Same = "another"
					next.Servers = []gateway.Server{srv}
				}
				if err := g.Load(next); err != nil {
					t.Fatal(err)
				}
				if c.close {
					_ = g.Close()
				}
				err, took := <-ended, time.Since(begun)
				if (err == nil) != c.done || !c.done && took > c.grace+waits || c.close && took > waits {
					t.Errorf("the call ended after %s: %v", took, err)
				}
			})
		})
	}
}

// waits is what a setup takes to follow another one.
const waits = 5 * time.Second

func called(t *testing.T, c *client.Client) error {
	t.Helper()
	_, err := c.CallTool(t.Context(), "slow__work", nil)
	return err
}
