package bridge_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/bridge"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/transport/frames"
)

// repeating is a server whose tasks all have the same ID.
type repeating struct{ asked int }

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
		return &mcp.CreateTaskResult{Task: task}, nil
	case x.Method == mcp.MethodGetTask:
		r.asked++
		return &mcp.TaskState{Task: task}, nil
	}
	return nil, &mcp.MethodNotFoundError{Method: x.Method}
}

// A task whose ID a server repeats is one task, of who had it first.
func TestRepeatedTaskID(t *testing.T) {
	r := new(repeating)
	b := sharedBy(t, r, modes[0], bridge.ShareAll)
	connect := func(principal string) *client.Client {
		tr := frames.InProcess(b, &frames.Options{Principal: principal, ServeOptions: mcp.ServeOptions{Logger: mcptest.Quiet()}})
		c, err := client.Connect(t.Context(), tr, &client.Options{Revisions: []mcp.Revision{mcp.Revision20251125}, Logger: mcptest.Quiet()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	ann, bob := connect("ann"), connect("bob")
	for _, c := range []*client.Client{ann, ann, ann, bob} {
		if _, err := c.Do(t.Context(), mcp.MethodCallTool, json.RawMessage(`{"name":"x","task":{}}`)); err != nil {
			t.Fatal(err)
		}
	}
	if listed, err := client.Collect(ann.Tasks(t.Context())); err != nil || len(listed) != 1 || r.asked != 1 {
		t.Errorf("ann has the tasks %v, error %v; the server was asked %d times", listed, err, r.asked)
	}
	if listed, err := client.Collect(bob.Tasks(t.Context())); err != nil || len(listed) != 0 {
		t.Errorf("bob has the tasks %v, error %v", listed, err)
	}
}
