package backend_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/bridge"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/backend"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
)

// process returns a backend for a command that speaks one revision, which ends with each
// crash.
func (c *command) process(revision mcp.Revision) *backend.Backend {
	return backend.New(backend.Options{Name: "files", Logger: mcptest.Quiet(), Share: bridge.SharePrincipal, Connect: func(ctx context.Context, _ *mcp.Peer, o *client.Options) (*client.Client, error) {
		c.started++
		o.Revisions, o.MaxRestarts = []mcp.Revision{revision}, -1
		return client.Connect(ctx, c.Transport, o)
	}})
}

// overRevisions runs a test with a server that has sessions, and one that has none.
func overRevisions(t *testing.T, body func(t *testing.T, c *command, b *backend.Backend)) {
	t.Helper()
	for _, revision := range []mcp.Revision{mcp.Revision20251125, mcp.Revision20260728} {
		t.Run(revision.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCommand(t)
				b := c.process(revision)
				defer c.end(b)
				body(t, c, b)
			})
		})
	}
}

// crash makes a server end at a call.
func (c *command) crash(t *testing.T, b *backend.Backend) {
	t.Helper()
	c.dies = true
	if _, err := call(t, b, false); err == nil {
		t.Error("a call did not fail during which the server ended")
	}
	synctest.Wait()
}

// A command that ends at its first call, each time, is started again after pauses that
// grow; meanwhile, calls fail at once and say why.
func TestCrashesAtOnce(t *testing.T) {
	overRevisions(t, func(t *testing.T, c *command, b *backend.Backend) {
		for i := range 6 {
			c.crash(t, b)
			s := b.State()
			if s.Status != backend.Broken || s.Failures != i+1 || s.Lost != i+1 || s.Connections != 0 {
				t.Errorf("after crash %d it is %+v", i+1, s)
			}
			if _, err := call(t, b, true); err == nil || !strings.Contains(err.Error(), `the server "files" is not available: `) || !strings.Contains(err.Error(), "; it is tried again in ") {
				t.Errorf("the error is %v", err)
			}
			pass(time.Until(s.Retry))
		}
		if c.started != 6 {
			t.Errorf("it was started %d times, want once for each crash", c.started)
		}
		if _, err := call(t, b, true); err != nil || b.State().Status != backend.Up || b.State().Failures != 0 {
			t.Errorf("when it works again, it is %+v, error %v", b.State(), err)
		}
	})
}

// A command that answers something each time before it ends is replaced at once three times
// in a minute; after that, it has failed as well, until it stays.
func TestCrashesAgainAndAgain(t *testing.T) {
	overRevisions(t, func(t *testing.T, c *command, b *backend.Backend) {
		for i := range 7 {
			if _, err := call(t, b, true); err != nil {
				t.Fatalf("before crash %d: %v", i+1, err)
			}
			c.crash(t, b)
			s := b.State()
			if want := max(0, i-2); s.Failures != want || (s.Status == backend.Broken) != (want > 0) {
				t.Errorf("after crash %d it is %+v", i+1, s)
			}
			pass(time.Until(s.Retry))
		}
		c.crash(t, b)
		s := b.State()
		if _, err := call(t, b, true); err == nil || !strings.Contains(err.Error(), "it has ended 8 times within a minute: ") || !strings.Contains(err.Error(), "; it is tried again in ") {
			t.Errorf("the error is %v", err)
		}
		if pause := time.Until(s.Retry); pause < 4*time.Second || c.started != 8 {
			t.Errorf("the last pause is %s, and it was started %d times", pause, c.started)
		}
		pass(time.Minute)
		if _, err := call(t, b, true); err != nil || b.State().Status != backend.Up || b.State().Failures != 0 {
			t.Errorf("when it works again, it is %+v, error %v", b.State(), err)
		}
		c.crash(t, b)
		if s := b.State(); s.Failures != 0 || s.Status != backend.Idle {
			t.Errorf("after a crash in a while it is %+v", s)
		}
	})
}

// A subscription outlives the process that it was made at.
func TestSubscribedWhenItCrashes(t *testing.T) {
	overRevisions(t, func(t *testing.T, c *command, b *backend.Backend) {
		told := make(chan mcp.Change, 10)
		w, err := b.Watch(t.Context(), &mcp.Exchange{Method: mcp.MethodListen, Peer: mcp.Peer{Revision: mcp.Revision20260728}, Watch: &mcp.Watch{
			Filter: mcp.SubscriptionFilter{ToolsListChanged: true}, Deliver: func(c mcp.Change) { told <- c },
		}})
		if err != nil {
			t.Fatal(err)
		}
		defer w.Stop()
		c.Break()
		pass(time.Second)
		synctest.Wait()
		if s := b.State(); s.Status != backend.Up || s.Used != 1 || s.Lost != 1 || c.started != 2 {
			t.Errorf("it was started %d times, and is %+v", c.started, s)
		}
		if n := <-told; n.Kind != mcp.ToolsChanged {
			t.Errorf("the client is told of %+v", n)
		}
	})
}

// Many processes that end together have ended once.
func TestManyEndTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ways []*mcptest.Transport
		b := backend.New(backend.Options{Name: "files", Logger: mcptest.Quiet(), Share: bridge.SharePrincipal, Connect: func(ctx context.Context, _ *mcp.Peer, o *client.Options) (*client.Client, error) {
			ways = append(ways, newCommand(t).Transport)
			o.Revisions, o.MaxRestarts = []mcp.Revision{mcp.Revision20260728}, -1
			return client.Connect(ctx, ways[len(ways)-1], o)
		}})
		for _, who := range []mcp.ClientCapabilities{{}, {Roots: &mcp.RootsCapability{}}, {Sampling: &mcp.SamplingCapability{}}, {Elicitation: &mcp.ElicitationCapability{}}, {Roots: &mcp.RootsCapability{ListChanged: true}}} {
			if _, err := callAs(t, b, &mcp.Peer{Capabilities: who}, "a", true); err != nil {
				t.Fatal(err)
			}
		}
		pass(time.Second)
		for _, way := range ways {
			way.Break()
		}
		synctest.Wait()
		if s := b.State(); len(ways) != 5 || s.Lost != 5 || s.Failures != 0 || s.Status != backend.Idle {
			t.Errorf("%d were started; it is %+v", len(ways), s)
		}
		_ = b.Close()
		for _, way := range ways {
			way.Wait()
		}
	})
}
