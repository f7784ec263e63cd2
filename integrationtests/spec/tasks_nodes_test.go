package spec_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/server/taskstore"
)

// withTasks are the modes whose revision has tasks.
func withTasks() []mcptest.Mode {
	return slices.DeleteFunc(mcptest.Modes(), func(m mcptest.Mode) bool {
		return m.Revision != mcp.Revision20251125 && m.Revision != mcp.Revision20260728
	})
}

// trips is a server whose tool plans a trip: it works, asks, and books once.
func trips(store taskstore.Store, booked *int) *server.Server {
	s := server.New(mcp.Implementation{Name: "trips", Version: "1"}, &server.Options{Logger: mcptest.Quiet(), Tasks: server.TaskOptions{Store: store, TTL: time.Hour}})
	tool := mcp.Tool{Name: "trip", Execution: &mcp.ToolExecution{TaskSupport: mcp.TaskOptional}}
	server.AddTool(s, tool, func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
		call.Progress(ctx, 1, 2, "looking at maps")
		if err := sleepIn(ctx, 5*time.Second); err != nil {
			return "", err
		}
		where, err := server.Elicit[city](ctx, call, "where", "Where?")
		if err != nil {
			return "", err
		}
		booking, err := server.Once(ctx, call, "book", func(context.Context) (string, error) { *booked++; return "a trip to " + where.City, nil })
		if err != nil {
			return "", err
		}
		return booking, sleepIn(ctx, 5*time.Minute)
	}, server.Resumable())
	return s
}

func sleepIn(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Spec: 2025-11-25 basic/utilities/tasks#message-flow.
// Spec: ext-tasks/draft tasks#example-message-flow.
// In each mode a task goes on when its server has ended: another one answers for it,
// asks, cancels and forgets it in time, and does not repeat what was done once.
func TestTasksSurviveTheirServer(t *testing.T) {
	for _, m := range withTasks() {
		t.Run(m.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store, booked := taskstore.NewMemory(), 0
				asked := 0
				opts := func() *client.Options {
					return &client.Options{Elicit: func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
						asked++
						return &mcp.ElicitResult{Action: mcp.ActionAccept, Content: []byte(`{"city":"Bern"}`)}, nil
					}}
				}
				node := func() (*server.Server, *client.Client) {
					s := trips(store, &booked)
					return s, mcptest.Connect(t, s, m, opts())
				}
				ctx := t.Context()
				first, c := node()
				begin := func() string {
					task, err := c.StartTask(ctx, "trip", nil, client.WithTask(0))
					if err != nil || task.ID() == "" {
						t.Fatalf("%+v, %v", task, err)
					}
					return task.ID()
				}
				id := begin()
				synctest.Wait()
				if state, err := c.Task(id, "trip").Status(ctx); err != nil || state.StatusMessage != "looking at maps" {
					t.Errorf("the state is %+v, %v", state, err)
				}
				stop(t, first)
				second, c := node()
				if state, err := c.Task(id, "trip").Status(ctx); err != nil || state.Status != mcp.TaskWorking { // it goes on here
					t.Errorf("the state is %+v, %v", state, err)
				}
				pause(t, 10*time.Second) // until it asks
				if err := c.Task(id, "trip").Answer(ctx); err != nil {
					t.Error(err)
				}
				pause(t, time.Minute) // until it has booked
				stop(t, second)
				third, c := node()
				r, err := c.Task(id, "trip").Wait(ctx)
				if err != nil || r.IsError || r.Content[0].(*mcp.TextContent).Text != "a trip to Bern" {
					t.Errorf("the result is %+v, %v", r, err)
				}
				if asked != 1 || booked != 1 {
					t.Errorf("asked %d times, booked %d times", asked, booked)
				}

				cancelled := begin()
				fourth, other := node()
				if err := other.Task(cancelled, "trip").Cancel(ctx); err != nil {
					t.Error(err)
				}
				if _, err := c.Task(cancelled, "trip").Wait(ctx); !errors.Is(err, client.ErrTaskCancelled) {
					t.Errorf("waiting for a cancelled task: %v", err)
				}
				pause(t, time.Hour)
				if _, err := c.Task(id, "trip").Status(ctx); !errors.Is(err, client.ErrNotFound) {
					t.Errorf("a task after its time: %v", err)
				}
				stop(t, third)
				stop(t, fourth)
			})
		})
	}
}

func pause(t *testing.T, d time.Duration) {
	t.Helper()
	if err := sleepIn(t.Context(), d); err != nil {
		t.Fatal(err)
	}
}

func stop(t *testing.T, s *server.Server) {
	t.Helper()
	if err := s.Close(context.Background()); err != nil {
		t.Error(err)
	}
}
