package bridge_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/bridge"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/transport/frames"
)

// repeating is a server whose tasks all have the same ID, unless they are numbered.
type repeating struct {
	made     atomic.Int64
	numbered bool
}

func (*repeating) Describe(context.Context, *mcp.Peer) *mcp.Description {
	return &mcp.Description{Capabilities: mcp.ServerCapabilities{
		Tools: &mcp.ListCapability{},
		Tasks: &mcp.TasksCapability{List: &mcp.Empty{}, Requests: mcp.TaskRequests{Tools: &mcp.ToolTasks{Call: &mcp.Empty{}}}},
	}}
}

func (r *repeating) Serve(_ context.Context, x *mcp.Exchange) (any, error) {
	task := mcp.Task{ID: "same", Status: mcp.TaskWorking, CreatedAt: "2026-07-28T00:00:00Z", LastUpdatedAt: "2026-07-28T00:00:00Z"}
	switch {
	case x.Watch != nil:
		return &mcp.Watching{Stop: func() {}}, nil
	case x.Method == mcp.MethodCallTool:
		if made := r.made.Add(1); r.numbered {
			task.ID = fmt.Sprint(made)
		}
		return &mcp.CreateTaskResult{Task: task}, nil
	case x.Method == mcp.MethodGetTask:
		return &mcp.TaskState{Task: task}, nil
	}
	return nil, &mcp.MethodNotFoundError{Method: x.Method}
}

// A task whose ID a server repeats is one task, of who had it first.
func TestRepeatedTaskID(t *testing.T) {
	b := sharedBy(t, new(repeating), modes[0], bridge.ShareAll)
	ann, bob := inSession(t, b, "ann"), inSession(t, b, "bob")
	startAll(t, ann, ann, ann, bob)
	if listed, err := client.Collect(ann.Tasks(t.Context())); err != nil || len(listed) != 1 {
		t.Errorf("ann has the tasks %v, error %v", listed, err)
	}
	if listed, err := client.Collect(bob.Tasks(t.Context())); err != nil || len(listed) != 0 {
		t.Errorf("bob has the tasks %v, error %v", listed, err)
	}
}

// inSession connects a principal to a bridge.
func inSession(t *testing.T, b *bridge.Bridge, principal string) *client.Client {
	t.Helper()
	tr := frames.InProcess(b, &frames.Options{Principal: principal, ServeOptions: mcp.ServeOptions{Logger: mcptest.Quiet()}})
	c, err := client.Connect(t.Context(), tr, &client.Options{Revisions: []mcp.Revision{mcp.Revision20251125}, Logger: mcptest.Quiet()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// startAll makes a task for each client.
func startAll(t *testing.T, clients ...*client.Client) {
	t.Helper()
	for _, c := range clients {
		if _, err := c.Do(t.Context(), mcp.MethodCallTool, json.RawMessage(`{"name":"x","task":{}}`)); err != nil {
			t.Fatal(err)
		}
	}
}

// Whoever makes any number of tasks at the server loses their own from the list, and
// nobody else's.
func TestListedTasksOfFew(t *testing.T) {
	b := sharedBy(t, &repeating{numbered: true}, modes[0], bridge.ShareAll)
	ann, eve := inSession(t, b, "ann"), inSession(t, b, "eve")
	startAll(t, ann)
	startAll(t, slices.Repeat([]*client.Client{eve}, 1100)...)
	for who, test := range map[string]struct {
		c    *client.Client
		want int
	}{"ann": {ann, 1}, "eve": {eve, 999}} {
		if listed, err := client.Collect(test.c.Tasks(t.Context())); err != nil || len(listed) != test.want {
			t.Errorf("%s has %d tasks in the list, error %v; want %d", who, len(listed), err, test.want)
		}
	}
}
