package gateway_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/bridge"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/audit"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	limits "github.com/parley-mcp/parley/cmd/parley/internal/gateway/limit"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/policy"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/scan"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
)

// working is a server whose tasks have a status with a secret, and work until they are
// cancelled.
func working(t *testing.T, name string) (s *server.Server, said <-chan struct{}) {
	t.Helper()
	told := make(chan struct{}, 1)
	s = server.New(mcp.Implementation{Name: name, Version: "1"}, &server.Options{Logger: mcptest.Quiet(), ProgressInterval: -1, Tasks: server.TaskOptions{PollInterval: time.Millisecond}})
	server.AddTool(s, mcp.Tool{Name: "work", Execution: &mcp.ToolExecution{TaskSupport: mcp.TaskOptional}}, func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
		call.Progress(ctx, 1, 2, name+" has the key "+leaked)
		told <- struct{}{}
		<-ctx.Done()
		return "", ctx.Err()
	})
	t.Cleanup(func() { _ = s.Close(context.Background()) }) // it has nothing to say
	return s, told
}

// withTasks returns a client of a gateway with these guards, with one task at each of the
// servers "one" and "two".
func withTasks(t *testing.T, back mcptest.Mode, guards ...guard.Guard) *client.Client {
	t.Helper()
	g := gateway.New(gateway.Options{Info: mcp.Implementation{Name: "gateway", Version: "1"}, Logger: mcptest.Quiet()})
	setup := gateway.Setup{Guards: guards}
	said := map[string]<-chan struct{}{}
	for _, name := range []string{"one", "two"} {
		var s *server.Server
		s, said[name] = working(t, name)
		setup.Servers = append(setup.Servers, behind(t, name, s, back, bridge.SharePrincipal))
	}
	t.Cleanup(func() { _ = g.Close() }) // before the servers are waited for
	if err := g.Load(setup); err != nil {
		t.Fatal(err)
	}
	g.Look(t.Context())
	c := mcptest.Connect(t, namedAs{g.View(""), "ann"}, modes[0], nil)
	for _, name := range []string{"one", "two"} {
		task, err := c.StartTask(t.Context(), name+"__work", nil, client.WithProgress(func(*mcp.ProgressParams) {}))
		if err != nil {
			t.Fatal(err)
		}
		within(t, "the status of the task", said[name])
		t.Cleanup(func() { _ = task.Cancel(context.Background()) })
	}
	return c
}

// listing returns the raw list of tasks.
func listing(t *testing.T, c *client.Client) string {
	t.Helper()
	raw, err := c.Do(t.Context(), mcp.MethodListTasks, nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// What is done about the result of a task is done about the list, too.
func TestListedTasksAreScanned(t *testing.T) {
	for _, test := range []struct {
		action      scan.Action
		tasks, keys int
	}{{scan.Log, 2, 2}, {scan.Redact, 2, 0}, {scan.Block, 0, 0}} {
		t.Run(string(test.action), func(t *testing.T) {
			c := withTasks(t, modes[0], scan.New(scan.Options{Results: scan.Actions{scan.Secrets: test.action}, Logger: mcptest.Quiet()}))
			list := listing(t, c)
			if tasks, keys := strings.Count(list, `"taskId"`), strings.Count(list, leaked); tasks != test.tasks || keys != test.keys {
				t.Errorf("%d tasks with %d keys, want %d with %d: %s", tasks, keys, test.tasks, test.keys, list)
			}
		})
	}
}

// A server that a policy forbids is left out of the list, and not asked.
func TestListedTasksAreAllowed(t *testing.T) {
	for rules, want := range map[string]int{
		`permit(principal, action, resource);`: 2,
		`permit(principal, action, resource); forbid(principal, action == Action::"tasks/list", resource == Backend::"two");`:           1,
		`permit(principal, action, resource); forbid(principal, action == Action::"tasks/list", resource);`:                             0,
		`permit(principal, action in Action::"tools", resource);`:                                                                       0,
		`permit(principal, action, resource); forbid(principal, action == Action::"tasks/list", resource) when { context.view == "" };`: 0,
	} {
		p, err := policy.New([]policy.Source{{Name: "rules.cedar", Text: rules}}, policy.Options{Logger: mcptest.Quiet()})
		if err != nil {
			t.Fatal(err)
		}
		for _, back := range []mcptest.Mode{modes[0], modes[2]} {
			list := listing(t, withTasks(t, back, p))
			if n := strings.Count(list, `"taskId"`); n != want {
				t.Errorf("%s: %s\n%d tasks, want %d: %s", back, rules, n, want, list)
			}
		}
	}
}

// A list of tasks is one exchange, of however many servers it is: the log has one line, and
// it counts once.
func TestListedTasksCountOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	log, err := audit.New(audit.Options{Path: path, Logger: mcptest.Quiet()})
	if err != nil {
		t.Fatal(err)
	}
	c := withTasks(t, modes[0], log, limits.New([]limits.Rule{{Method: mcp.MethodListTasks, Rate: 1. / 3600, Burst: 2}, {Backend: "o*", Method: "tasks/*", Rate: 1. / 3600, Burst: 1}}))
	for range 2 {
		if list := listing(t, c); strings.Count(list, `"taskId"`) != 2 {
			t.Errorf("not all tasks are there: %s", list)
		}
	}
	if raw, err := c.Do(t.Context(), mcp.MethodListTasks, json.RawMessage(`{}`)); err == nil {
		t.Errorf("the third list is within a limit of two: %s", raw)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := matching(string(text), `"method":"tasks/list"`); n != 3 {
		t.Errorf("%d lines for three lists, in\n%s", n, text)
	}
}
