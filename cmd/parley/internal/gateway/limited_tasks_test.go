package gateway_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/bridge"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	limits "github.com/parley-mcp/parley/cmd/parley/internal/gateway/limit"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
)

// slow is a server with a tool that goes on as a task until it may end, and says much.
type slow struct {
	goOn    chan struct{}
	stopped chan time.Time // when calls were cancelled
}

func (s *slow) server(t *testing.T) *server.Server {
	t.Helper()
	one := server.New(mcp.Implementation{Name: "one", Version: "1"}, &server.Options{Logger: mcptest.Quiet()})
	server.AddTool(one, mcp.Tool{Name: "big", Execution: &mcp.ToolExecution{TaskSupport: mcp.TaskOptional}}, func(ctx context.Context, _ *server.Call, _ struct{}) (string, error) {
		select {
		case <-s.goOn:
			return strings.Repeat("x", 5000), nil
		case <-ctx.Done():
			s.stopped <- time.Now()
			return "", ctx.Err()
		}
	})
	return one
}

// slowly runs a test in a bubble for clients and servers with tasks of both forms, before a
// gateway with some limits.
func slowly(t *testing.T, rules []limits.Rule, body func(t *testing.T, s *slow, c *client.Client)) {
	t.Helper()
	for _, front := range []mcptest.Mode{modes[0], modes[2]} {
		for _, back := range modes {
			t.Run(front.String()+" to "+back.String(), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := &slow{make(chan struct{}), make(chan time.Time, 10)}
					one := s.server(t)
					t.Cleanup(func() { _ = one.Close(context.Background()) }) // it has nothing to say
					g := gateway.New(gateway.Options{Info: mcp.Implementation{Name: "gateway", Version: "1"}, Logger: mcptest.Quiet()})
					setup := gateway.Setup{Guards: []guard.Guard{limits.New(rules)}, Servers: []gateway.Server{behind(t, "one", one, back, bridge.SharePrincipal)}}
					t.Cleanup(func() { _ = g.Close() }) // before the server is waited for
					if err := g.Load(setup); err != nil {
						t.Fatal(err)
					}
					g.Look(t.Context())
					body(t, s, as(t, g, "ann", front, takesTasks))
				})
			})
		}
	}
}

// started starts a task of the tool.
func started(t *testing.T, c *client.Client) *client.Task {
	t.Helper()
	task, err := c.StartTask(t.Context(), "one__big", nil)
	if err != nil {
		t.Fatal(err)
	}
	if task.ID() == "" {
		t.Fatal("the call is no task")
	}
	return task
}

// What a limit says of a tool, it says of tasks of the tool.
func TestLimitedToolAsTask(t *testing.T) {
	slowly(t, []limits.Rule{{Subject: "big", ResultBytes: 1000}, {Subject: "big", Concurrent: 1}}, func(t *testing.T, s *slow, c *client.Client) {
		task := started(t, c)
		_, err := c.StartTask(t.Context(), "one__big", nil)
		fails(t, "a second task at the same time", err, "1 are served already")
		if state, err := task.Status(t.Context()); err != nil || state.Status != mcp.TaskWorking {
			t.Errorf("the first is %+v, error %v", state, err)
		}
		close(s.goOn)
		_, err = task.Wait(t.Context())
		fails(t, "its result", err, "and the gateway passes on 1000 at most")
		if _, err := c.StartTask(t.Context(), "one__big", nil); err != nil && strings.Contains(err.Error(), "served already") {
			t.Errorf("another one, when the first has ended: %v", err)
		}
	})
}

// When the time of a call is over, its task is cancelled, and who waits is told why.
func TestLimitedTimeOfTasks(t *testing.T) {
	slowly(t, []limits.Rule{{Subject: "big", Time: time.Minute}}, func(t *testing.T, s *slow, c *client.Client) {
		begun := time.Now()
		task := started(t, c)
		_, err := task.Wait(t.Context())
		if err == nil || !strings.Contains(err.Error(), "longer than 1m0s") && !errors.Is(err, client.ErrTaskCancelled) {
			t.Errorf("the task ends with %v", err)
		}
		if took := (<-s.stopped).Sub(begun); took != time.Minute {
			t.Errorf("it is stopped after %s", took)
		}
	})
}

// leaving is a guard that hears of sessions that have ended.
type leaving struct{ left chan string }

func (l *leaving) Serve(ctx context.Context, op *guard.Operation, next guard.Next) (any, error) {
	return next(ctx, op)
}

func (l *leaving) Sees(context.Context, *mcp.Peer, *guard.Definition) bool { return true }

func (l *leaving) Left(peer *mcp.Peer) { l.left <- peer.SessionID }

// Guards learn of the end of a session.
func TestLeavers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gateway.New(gateway.Options{Info: mcp.Implementation{Name: "gateway", Version: "1"}, Logger: mcptest.Quiet()})
		t.Cleanup(func() { _ = g.Close() })
		l := &leaving{make(chan string, 1)}
		if err := g.Load(gateway.Setup{Guards: []guard.Guard{l}}); err != nil {
			t.Fatal(err)
		}
		c := mcptest.Connect(t, g.View(""), modes[1], nil)
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		if session := <-l.left; session == "" {
			t.Error("the session has no name")
		}
	})
}
