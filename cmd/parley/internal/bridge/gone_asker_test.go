package bridge_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/bridge"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/transport/frames"
)

// ghosts is a server that can ask, on each of its connections, without having been called.
type ghosts struct {
	mcp.Transport

	mu        sync.Mutex
	receivers []mcp.Receiver
}

// Connect implements mcp.Transport.
func (g *ghosts) Connect(ctx context.Context, r mcp.Receiver) (mcp.Conn, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.receivers = append(g.receivers, r)
	return g.Transport.Connect(ctx, r)
}

// ask asks on the first connection, with something in _meta.
func (g *ghosts) ask(meta string) {
	g.mu.Lock()
	first := g.receivers[0]
	g.mu.Unlock()
	q := message(mcp.MethodElicit, `{"message":"Delete it?","requestedSchema":{"type":"object","properties":{}},"_meta":{`+meta+`}}`)
	q.Kind, q.ID = jsonrpc.Request, jsonrpc.StringID("ghost")
	_, _ = first.Request(context.Background(), q)
}

func (g *ghosts) bridge(t *testing.T, h mcp.Handler) *bridge.Bridge {
	t.Helper()
	g.Transport = &mcptest.Transport{Handler: h, Over: mcptest.Lines, Serve: &mcp.ServeOptions{Logger: mcptest.Quiet()}}
	b, err := bridge.New(t.Context(), bridge.Options{Share: bridge.SharePrincipal, OnDemand: true, Logger: mcptest.Quiet(), Connect: func(ctx context.Context, _ *mcp.Peer, c *client.Options) (*client.Client, error) {
		c.Revisions = []mcp.Revision{mcp.Revision20251125}
		return client.Connect(ctx, g, c)
	}})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A question about a call that was given up reaches no other client whose call runs now;
// after a while the connection is there for others again.
func TestQuestionOfACallThatWasGivenUp(t *testing.T) {
	overAskers(t, func(t *testing.T, principal string, stateless bool) {
		g, s := new(ghosts), newLate()
		b := g.bridge(t, serving(s.serve))
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { // ends when the call is given up
			_, err := callerOf(b, "one", principal, stateless).call(ctx, "sleep")
			ended <- err
		}()
		synctest.Wait()
		cancel()
		if err := <-ended; err == nil {
			t.Error("a call that was given up succeeds")
		}
		two := callerOf(b, "two", principal, stateless)
		asking := during(func() (any, error) { g.ask(""); return nil, nil })
		running, listing := two.begin("sleep"), two.list()
		g.ask("")
		if got := two.heard.String(); got != "" {
			t.Errorf("who calls next hears %q", got)
		}
		close(s.end)
		<-running
		<-listing
		<-asking
		pass(2 * time.Minute)
		if _, err := two.call(t.Context(), "ask"); err != nil {
			t.Error(err)
		}
		if n, _ := b.Connections(); n != 1 {
			t.Errorf("%d connections are open, want 1", n)
		}
		_ = b.Close()
	})
}

// process is a server that knows only the tasks that were made on its connection.
type process struct {
	repeating

	number int64
	late   *late
	told   *atomic.Int64 // how many notifications came
}

func (p *process) task() mcp.Task {
	const time = "2026-07-28T00:00:00Z"
	return mcp.Task{ID: fmt.Sprint("of process ", p.number), Status: mcp.TaskWorking, CreatedAt: time, LastUpdatedAt: time}
}

func (p *process) Serve(ctx context.Context, x *mcp.Exchange) (any, error) {
	name := ""
	if m := mcp.MethodNamed(x.Method); m != nil {
		name = m.SubjectOf(x.Params)
	}
	switch {
	case x.Method == mcp.NoteRootsChanged:
		p.told.Add(1)
		return nil, nil
	case x.Watch != nil:
		return p.repeating.Serve(ctx, x)
	case x.Method != mcp.MethodCallTool && name == p.task().ID:
		return &mcp.TaskState{Task: p.task()}, nil
	case x.Method != mcp.MethodCallTool:
		return nil, mcp.InvalidParams("no task %s", name)
	case name == "sleep":
		return p.late.serve(ctx, x)
	}
	return &mcp.CreateTaskResult{Task: p.task()}, nil
}

// A task is looked for on the connection that it was made on, and what clients tell the
// server is told on all.
func TestTasksOfSeveralConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var made, told atomic.Int64
		s := newLate()
		b, err := bridge.New(t.Context(), bridge.Options{Share: bridge.SharePrincipal, OnDemand: true, Logger: mcptest.Quiet(), Connect: func(ctx context.Context, _ *mcp.Peer, c *client.Options) (*client.Client, error) {
			p := &process{number: made.Add(1), late: s, told: &told}
			c.Revisions = []mcp.Revision{mcp.Revision20251125}
			return client.Connect(ctx, frames.InProcess(p, &frames.Options{ServeOptions: mcp.ServeOptions{Logger: mcptest.Quiet()}}), c)
		}})
		if err != nil {
			t.Fatal(err)
		}
		running := callerOf(b, "one", "ann", false).begin("sleep")
		two := callerOf(b, "two", "ann", false)
		serve := func(method, params string, id jsonrpc.ID) string {
			result, err := b.Serve(t.Context(), &mcp.Exchange{ID: id, Method: method, Params: json.RawMessage(params), Back: two, Peer: two.peer, Task: &mcp.TaskOffer{Demanded: true}})
			raw, _ := result.(json.RawMessage)
			return fmt.Sprint(string(raw), " ", err)
		}
		if got := serve(mcp.MethodCallTool, `{"name":"work","task":{}}`, jsonrpc.IntID(1)); !strings.Contains(got, "of process 2") {
			t.Errorf("beside a call of another client, the call makes %s", got)
		}
		close(s.end)
		<-running
		for method, params := range map[string]string{mcp.MethodGetTask: `{"taskId":"of process 2"}`, mcp.MethodListTasks: `{}`} {
			if got := serve(method, params, jsonrpc.IntID(2)); !strings.Contains(got, `"taskId":"of process 2"`) {
				t.Errorf("%s: %s", method, got)
			}
		}
		serve(mcp.NoteRootsChanged, `{}`, jsonrpc.ID{})
		synctest.Wait()
		if told.Load() != 2 {
			t.Errorf("the server is told on %d connections, want 2", told.Load())
		}
		_ = b.Close()
	})
}

// A question of a task reaches nobody but who has made it.
func TestQuestionOfATaskOfOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, s := new(ghosts), newLate()
		b := g.bridge(t, &process{number: 1, late: s})
		one, two := callerOf(b, "one", "ann", false), callerOf(b, "two", "ann", false)
		_, err := b.Serve(t.Context(), &mcp.Exchange{
			ID: jsonrpc.IntID(1), Method: mcp.MethodCallTool, Params: json.RawMessage(`{"name":"work","task":{}}`), Back: one, Peer: one.peer, Task: &mcp.TaskOffer{Demanded: true},
		})
		if err != nil {
			t.Fatal(err)
		}
		const related = `"io.modelcontextprotocol/related-task":{"taskId":"of process 1"}`
		for _, test := range []struct {
			c    *caller
			want bool
		}{{two, false}, {one, true}} {
			s.end = make(chan struct{})
			running := test.c.begin("sleep")
			g.ask(related)
			if got := test.c.heard.String(); strings.Contains(got, "Delete it?") != test.want {
				t.Errorf("%s hears %q of a task of the first", test.c.name, got)
			}
			close(s.end)
			<-running
		}
		_ = b.Close()
	})
}
