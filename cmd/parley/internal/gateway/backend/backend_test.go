package backend_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/bridge"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/backend"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// command is a server that can be made to fail.
type command struct {
	*mcptest.Transport
	down    error // why it does not start
	started int
	calls   atomic.Int64
	dies    bool // when it is called
}

// newCommand returns a server with a tool, which dies at its first call if it is made to.
func newCommand(t *testing.T) *command {
	t.Helper()
	c := new(command)
	s := server.New(mcp.Implementation{Name: "behind", Version: "1"}, &server.Options{Logger: mcptest.Quiet(), PageSize: 2})
	for _, name := range []string{"a", "b", "c"} {
		server.AddTool(s, mcp.Tool{Name: name}, func(ctx context.Context, _ *server.Call, _ struct{}) (string, error) {
			c.calls.Add(1)
			if c.dies {
				c.dies = false
				go c.Break()
				<-ctx.Done()
			}
			return name, nil
		})
	}
	c.Transport = &mcptest.Transport{Handler: s, Over: mcptest.Lines, Serve: &mcp.ServeOptions{Logger: mcptest.Quiet()}}
	return c
}

// behind returns a backend for a server that speaks sessions.
func (c *command) behind(t *testing.T, o backend.Options) *backend.Backend {
	t.Helper()
	o.Name, o.Logger, o.Share = "files", mcptest.Quiet(), bridge.SharePrincipal
	o.Connect = func(ctx context.Context, _ *mcp.Peer, o *client.Options) (*client.Client, error) {
		c.started++
		if c.down != nil {
			return nil, c.down
		}
		o.Revisions = []mcp.Revision{mcp.Revision20251125}
		return client.Connect(ctx, c.Transport, o)
	}
	return backend.New(o)
}

// end closes a backend inside a bubble.
func (c *command) end(b *backend.Backend) {
	_ = b.Close()
	c.Wait()
}

func call(t *testing.T, b *backend.Backend, harmless bool) (string, error) {
	t.Helper()
	return callAs(t, b, &mcp.Peer{}, "a", harmless)
}

func callTool(t *testing.T, b *backend.Backend, tool string) (string, error) {
	t.Helper()
	return callAs(t, b, &mcp.Peer{}, tool, false)
}

// callAs calls a tool for somebody.
func callAs(t *testing.T, b *backend.Backend, peer *mcp.Peer, tool string, harmless bool) (string, error) {
	t.Helper()
	x := &mcp.Exchange{ID: jsonrpc.IntID(1), Method: mcp.MethodCallTool, Params: json.RawMessage(`{"name":"` + tool + `"}`), Peer: *peer, Back: quiet{}}
	x.Peer.Revision = mcp.Revision20260728
	result, err := b.Serve(t.Context(), x, harmless)
	raw, _ := result.(json.RawMessage)
	return string(raw), err
}

// quiet is the way back to a client that wants to hear nothing.
type quiet struct{ mcp.Backchannel }

func (quiet) LogEnabled(mcp.LoggingLevel) bool { return false }

// pass lets time pass inside a bubble.
func pass(d time.Duration) { <-time.NewTimer(d).C }

// A server that does not start is left alone for a while, and meanwhile calls fail at once.
func TestBroken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCommand(t)
		c.down = errors.New("no such program")
		var changed atomic.Int64
		b := c.behind(t, backend.Options{Changed: func(*mcp.Peer, mcp.ChangeKind) { changed.Add(1) }})
		defer c.end(b)
		if s := b.State(); s.Status != backend.Idle || b.Describe() != nil {
			t.Errorf("at first it is %+v", s)
		}
		for range 10 {
			_, err := call(t, b, true)
			if err == nil || !strings.Contains(err.Error(), `"files" is not available: `) || !strings.Contains(err.Error(), "it cannot be reached; it is tried again in ") {
				t.Fatalf("the error is %v", err)
			}
		}
		if s := b.State(); c.started != 1 || s.Status != backend.Broken || s.Failures != 1 || s.Err == nil {
			t.Errorf("started %d times; it is %+v", c.started, s)
		}
		var paused time.Duration
		for range 12 {
			pause := time.Until(b.State().Retry)
			if pause <= 0 || pause > time.Minute {
				t.Errorf("it is tried again in %s", pause)
			}
			paused = pause
			pass(pause)
			_, _ = call(t, b, true) // it fails again
		}
		if paused < 30*time.Second || c.started != 13 {
			t.Errorf("the last pause was %s, and it was started %d times", paused, c.started)
		}
		c.down = nil
		pass(time.Minute)
		if got, err := call(t, b, true); err != nil || !strings.Contains(got, `"a"`) {
			t.Errorf("it answers %s, error %v", got, err)
		}
		if s := b.State(); s.Status != backend.Up || s.Failures != 0 || s.Err != nil || s.Connections != 1 || s.Info.Name != "behind" {
			t.Errorf("now it is %+v", s)
		}
		if changed.Load() != 3 {
			t.Errorf("%d lists are said to have changed", changed.Load())
		}
	})
}

// A lost connection is replaced, and a call is made again only where that does no harm.
func TestLost(t *testing.T) {
	for _, harmless := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			c := newCommand(t)
			b := c.behind(t, backend.Options{})
			defer c.end(b)
			if _, err := call(t, b, harmless); err != nil {
				t.Fatal(err)
			}
			c.dies = true
			_, err := call(t, b, harmless)
			if harmless != (err == nil) {
				t.Errorf("harmless is %t, the error %v", harmless, err)
			}
			synctest.Wait()
			if n := c.calls.Load(); harmless != (n == 3) {
				t.Errorf("%d calls", n)
			}
			if _, err := call(t, b, harmless); err != nil {
				t.Errorf("afterwards: %v", err)
			}
			if s := b.State(); s.Lost != 1 || s.Connected != 2 || s.Status != backend.Up {
				t.Errorf("it is %+v", s)
			}
			// What has ended before the request was not sent there.
			c.Break()
			synctest.Wait()
			if _, err := call(t, b, false); err != nil {
				t.Errorf("after the end: %v", err)
			}
		})
	}
}

// A server that starts and ends without an answer has failed, too.
func TestEndsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCommand(t)
		b := c.behind(t, backend.Options{})
		defer c.end(b)
		c.dies = true
		if _, err := call(t, b, false); err == nil {
			t.Error("the call did not fail")
		}
		synctest.Wait()
		if s := b.State(); s.Status != backend.Broken || s.Failures != 1 {
			t.Errorf("it is %+v", s)
		}
	})
}

// What nobody uses is stopped, and started again on demand.
func TestIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCommand(t)
		b := c.behind(t, backend.Options{Idle: time.Minute})
		defer c.end(b)
		if err := b.Look(t.Context()); err != nil || b.Describe().Info.Name != "behind" {
			t.Fatal(err)
		}
		if _, err := call(t, b, true); err != nil || c.started != 1 {
			t.Errorf("started %d times, error %v", c.started, err)
		}
		pass(2 * time.Minute)
		synctest.Wait()
		if s := b.State(); s.Status != backend.Idle || s.Err != nil || s.Lost != 0 {
			t.Errorf("it is %+v", s)
		}
		if _, err := call(t, b, true); err != nil || c.started != 2 {
			t.Errorf("started %d times, error %v", c.started, err)
		}
	})
}

func TestList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCommand(t)
		b := c.behind(t, backend.Options{})
		defer c.end(b)
		pages, err := b.List(t.Context(), &mcp.Peer{}, mcp.MethodListTools)
		if err != nil || len(pages) != 2 || !strings.Contains(string(pages[1]), `"name":"c"`) {
			t.Errorf("the tools are %s, error %v", pages, err)
		}
		if pages, err = b.List(t.Context(), &mcp.Peer{}, mcp.MethodListPrompts); err != nil || pages != nil {
			t.Errorf("the prompts are %s, error %v", pages, err)
		}
	})
}

func TestStderr(t *testing.T) {
	var s backend.Stderr
	if lines := s.Lines(5); lines != nil {
		t.Errorf("at first: %q", lines)
	}
	for range 10_000 {
		_, _ = s.Write([]byte("line\n"))
	}
	_, _ = s.Write([]byte("last\nwords"))
	if lines := s.Lines(3); len(lines) != 3 || strings.Join(lines, "|") != "line|last|words" {
		t.Errorf("%q", lines)
	}
}
