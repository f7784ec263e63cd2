package bridge_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
)

// Tasks pass through a bridge whatever the eras of its two sides: they are made, asked
// about, answered, cancelled and listed behind it.
func TestTasksPass(t *testing.T) {
	overPairs(t, func(t *testing.T, front, back mcptest.Mode) {
		s := server.New(mcp.Implementation{Name: "behind", Version: "1"}, &server.Options{
			Logger: mcptest.Quiet(), Tasks: server.TaskOptions{PollInterval: 100 * time.Millisecond, ListUnowned: true},
		})
		tool := mcp.Tool{Name: "greet", Execution: &mcp.ToolExecution{TaskSupport: mcp.TaskRequired}}
		server.AddTool(s, tool, func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
			who, err := server.Elicit[struct {
				Name string `json:"name"`
			}](ctx, call, "who", "Who are you?")
			return "Hello " + who.Name, err
		})
		b := bridged(t, s, back)
		c := mcptest.Connect(t, b, front, &client.Options{Elicit: func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: mcp.ActionAccept, Content: []byte(`{"name":"Ada"}`)}, nil
		}})
		var states []mcp.TaskStatus
		got, err := client.Call[string](t.Context(), c, "greet", nil, client.WithTaskStatus(func(task *mcp.Task) { states = append(states, task.Status) }), client.WithTask(0))
		if err != nil || got != "Hello Ada" {
			t.Errorf("%q, %v", got, err)
		}
		if !slices.Contains(states, mcp.TaskCompleted) && !slices.Contains(states, mcp.TaskInputRequired) {
			t.Errorf("states: %v", states)
		}
		task, err := c.StartTask(t.Context(), "greet", nil)
		if err == nil {
			err = task.Cancel(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := task.Wait(t.Context()); !errors.Is(err, client.ErrTaskCancelled) {
			t.Errorf("after cancellation: %v", err)
		}
		if _, err := c.Task("nosuch", "").Status(t.Context()); !errors.Is(err, client.ErrNotFound) {
			t.Errorf("an unknown task: %v", err)
		}
		listed, err := client.Collect(c.Tasks(t.Context()))
		switch {
		case stateless(front) && !errors.Is(err, errors.ErrUnsupported):
			t.Errorf("a list that the revision does not have: %v", err)
		case !stateless(front) && (err != nil || len(listed) != 2 || listed[0].Status != mcp.TaskCancelled || listed[1].Status != mcp.TaskCompleted):
			t.Errorf("the list is %+v, error %v", listed, err)
		}
		if stateless(front) {
			return
		}
		others, err := client.Collect(mcptest.Connect(t, b, front, nil).Tasks(t.Context()))
		if err != nil || len(others) != 0 {
			t.Errorf("another session sees %+v, error %v", others, err)
		}
	})
}
