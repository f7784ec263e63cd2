package spec_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/transport/frames"
)

// Spec: 2025-11-25 basic/utilities/tasks#task-isolation-and-access-control.
// Spec: ext-tasks/draft tasks#security-considerations.
// A task belongs to the principal that made it, over all its connections. For everybody
// else it looks like one that does not exist.
func TestTasksBelongToTheirPrincipal(t *testing.T) {
	for _, revision := range []mcp.Revision{mcp.Revision20251125, mcp.Revision20260728} {
		t.Run(revision.String(), func(t *testing.T) {
			s := newTasker(server.TaskOptions{})
			defer s.stop(t)
			as := func(principal string) *client.Client {
				t.Helper()
				c, err := client.Connect(t.Context(), frames.InProcess(s, &frames.Options{Principal: principal, ServeOptions: mcp.ServeOptions{Logger: mcptest.Quiet()}}),
					&client.Options{Revisions: []mcp.Revision{revision}, Logger: mcptest.Quiet()})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = c.Close() })
				return c
			}
			ann, again, bob := as("Ann"), as("Ann"), as("Bob")
			task, err := ann.StartTask(t.Context(), "slow", nil, client.WithTask(0))
			if err != nil || task.ID() == "" {
				t.Fatal(task, err)
			}
			refused := map[string]bool{}
			for _, id := range []string{task.ID(), "nobody"} {
				for _, ask := range []func() error{
					func() error { _, err := bob.Task(id, "").Status(t.Context()); return err },
					func() error { return bob.Task(id, "").Cancel(t.Context()) },
				} {
					err := ask()
					rpc, ok := errors.AsType[*jsonrpc.Error](err)
					if !ok || rpc.Code != -32602 {
						t.Fatalf("a stranger gets %v", err)
					}
					refused[strings.ReplaceAll(rpc.Message, id, "ID")] = true
				}
			}
			if len(refused) != 1 {
				t.Errorf("strangers see which tasks exist: %v", refused)
			}
			if state, err := again.Task(task.ID(), "").Status(t.Context()); err != nil || state.Status != mcp.TaskWorking {
				t.Errorf("its principal gets %+v, %v", state, err)
			}
			if revision == mcp.Revision20251125 {
				for c, want := range map[*client.Client][]string{again: {task.ID()}, bob: nil} {
					var got []string
					for listed, err := range c.Tasks(t.Context()) {
						if err != nil {
							t.Fatal(err)
						}
						got = append(got, listed.ID)
					}
					if !slices.Equal(got, want) {
						t.Errorf("listed %v, want %v", got, want)
					}
				}
				if _, err := bob.Do(t.Context(), mcp.MethodTaskResult, mcp.TaskParams{ID: task.ID()}); err == nil {
					t.Error("a stranger gets the result")
				}
			}
			if err := task.Cancel(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}
