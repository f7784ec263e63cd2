package bridge_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
)

// Tasks pass through a bridge whose two sides are of one era: they are made, asked
// about, answered and cancelled behind it. Between eras there are none: the bridge
// declares none, and a tool that runs only as a task is refused by its server.
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
		if front.Revision != back.Revision {
			_, err := client.Call[string](t.Context(), c, "greet", nil)
			var rpc *jsonrpc.Error
			if !errors.As(err, &rpc) {
				t.Errorf("between eras: %v", err)
			}
			return
		}
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
		// To the server, all clients of the bridge are one.
		_, err = c.Do(t.Context(), mcp.MethodListTasks, nil)
		var undeclared *client.NotDeclaredError
		if !errors.As(err, &undeclared) {
			t.Errorf("a list of the tasks of all: %v", err)
		}
	})
}
