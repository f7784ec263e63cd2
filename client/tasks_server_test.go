package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
)

// greeter is a server of this module whose tool takes its time, reports progress, and
// asks in the middle.
func greeter() mcp.Handler {
	s := newServer(&server.Options{Subscriptions: true})
	tool := mcp.Tool{Name: "greet", Execution: &mcp.ToolExecution{TaskSupport: mcp.TaskRequired}}
	server.AddTool(s, tool, func(ctx context.Context, call *server.Call, in struct {
		Fail bool `json:"fail,omitempty"`
	},
	) (string, error) {
		if in.Fail {
			return "", errors.New("no greetings today")
		}
		call.Progress(ctx, 1, 2, "looking around")
		if !sleep(ctx, 3*time.Second) {
			return "", ctx.Err()
		}
		name, err := askName(ctx, call)
		if err != nil {
			return "", err
		}
		if !sleep(ctx, 3*time.Second) {
			return "", ctx.Err()
		}
		return "Hello " + name, nil
	})
	return s
}

// The client and the server of this module understand each other about tasks.
func TestTasksOfTheServer(t *testing.T) {
	who := new(naming)
	for _, m := range taskModes() {
		t.Run(m.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				who.asked = nil
				h := greeter()
				c := mcptest.Connect(t, h, m, &client.Options{Elicit: who.elicit})
				var said []string
				got, err := client.Call[string](t.Context(), c, "greet", nil, client.WithProgress(func(p *mcp.ProgressParams) { said = append(said, p.Message) }))
				if err != nil || got != "Hello Ada" || len(who.asked) != 1 || !strings.Contains(strings.Join(said, " "), "looking around") {
					t.Errorf("%q, %v; asked %v; progress %q", got, err, who.asked, said)
				}
				var failed *client.ToolError
				if _, err := client.Call[string](t.Context(), c, "greet", map[string]any{"fail": true}); !errors.As(err, &failed) {
					t.Errorf("a tool that fails: %v", err)
				}
				begun, err := c.StartTask(t.Context(), "greet", nil)
				if err != nil || begun.ID() == "" {
					t.Fatalf("%v, %v", begun, err)
				}
				other := mcptest.Connect(t, h, m, &client.Options{Elicit: who.elicit})
				r, err := other.Task(begun.ID(), "greet").Wait(t.Context())
				if err != nil || r.Content[0].(*mcp.TextContent).Text != "Hello Ada" {
					t.Errorf("from another connection: %+v, %v", r, err)
				}
				begun, err = c.StartTask(t.Context(), "greet", nil)
				if err == nil {
					err = begun.Cancel(t.Context())
				}
				if err != nil {
					t.Fatal(err)
				}
				if _, err := begun.Wait(t.Context()); !errors.Is(err, client.ErrTaskCancelled) {
					t.Errorf("waiting for a cancelled task: %v", err)
				}
				// What the server has noticed about the task, it tells; the client asks less.
				synctest.Wait()
			})
		})
	}
}

// Whoever passes a call on says with the call that a task is taken.
func TestTaskTakenOfOneCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		who := new(naming)
		c := mcptest.Connect(t, greeter(), mcptest.Mode{Revision: mcp.Revision20260728, Transport: mcptest.Lines}, &client.Options{Elicit: who.elicit, NoTasks: true})
		params := mcp.CallToolParams{Name: "greet"}
		if _, err := c.Do(t.Context(), mcp.MethodCallTool, params); err == nil || !strings.Contains(err.Error(), "only be called as a task") {
			t.Errorf("without it: %v", err)
		}
		raw, err := c.Do(t.Context(), mcp.MethodCallTool, params, client.WithTaskTaken())
		var made mcp.CreateTaskResult
		if err != nil || json.Unmarshal(raw, &made) != nil || made.ResultType != mcp.ResultTask {
			t.Fatalf("%s, %v", raw, err)
		}
		got, err := c.Task(made.ID, "greet").WaitRaw(t.Context(), client.WithTaskTaken())
		if err != nil || !strings.Contains(string(got), "Hello Ada") {
			t.Errorf("%s, %v", got, err)
		}
	})
}
