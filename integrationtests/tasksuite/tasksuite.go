// Package tasksuite tests what becomes of tasks between a client and a server of this
// module, in each mode that has tasks, with a store of the caller's. Stores have a
// test of their own in server/taskstore/storetest.
package tasksuite

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/internal/revision"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/server/taskstore"
)

// Run tests servers whose tasks are kept by a store. open returns a new, empty one,
// and may use t.Cleanup to close it. It is called in a bubble of testing/synctest, in
// which time is virtual, so the store must do without goroutines of other tests.
func Run(t *testing.T, open func(t *testing.T) taskstore.Store) {
	t.Helper()
	for name, test := range map[string]func(*world){
		"results are those of plain calls":   (*world).results,
		"calls that take long become tasks":  (*world).later,
		"questions are asked":                (*world).questions,
		"questions are answered in parts":    (*world).parts,
		"questions are answered elsewhere":   (*world).elsewhere,
		"questions are declined":             (*world).declined,
		"progress and log messages":          (*world).progress,
		"changes are told":                   (*world).told,
		"changes are told elsewhere":         (*world).watched,
		"cancelled while working":            (*world).cancelledWorking,
		"cancelled while waiting":            (*world).cancelledWaiting,
		"the caller gives up":                (*world).givenUp,
		"tools that fail":                    (*world).failures,
		"tasks expire":                       (*world).expiry,
		"clients ask for a time":             (*world).askedTime,
		"principals list their tasks":        (*world).lists,
		"strangers find nothing":             (*world).strangers,
		"too many tasks":                     (*world).quotas,
		"the server is closed":               (*world).closed,
		"the server dies":                    (*world).died,
		"servers share tasks":                (*world).shared,
		"nobody knows what became of a Once": (*world).interrupted,
	} {
		t.Run(name, func(t *testing.T) {
			for _, m := range modes() {
				t.Run(m.String(), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						test(&world{T: t, mode: m, store: open(t), counts: map[string]int{}})
					})
				})
			}
		})
	}
}

// modes are those that have tasks.
func modes() []mcptest.Mode {
	return slices.DeleteFunc(mcptest.AllModes(), func(m mcptest.Mode) bool { return !revision.Of(m.Revision).Has(mcp.MethodGetTask) })
}

// isSession reports whether the mode's tasks are those of 2025-11-25.
func (w *world) isSession() bool { return revision.Of(w.mode.Revision).Tasks }

// as is a server as a principal sees it.
type as struct {
	mcp.Handler
	principal string
}

// Serve implements mcp.Handler.
func (a as) Serve(ctx context.Context, x *mcp.Exchange) (any, error) {
	x.Peer.Principal = a.principal
	return a.Handler.Serve(ctx, x)
}

// Describe implements mcp.Handler.
func (a as) Describe(ctx context.Context, peer *mcp.Peer) *mcp.Description {
	if peer != nil {
		known := *peer
		known.Principal = a.principal
		peer = &known
	}
	return a.Handler.Describe(ctx, peer)
}

// client connects somebody to a process. Questions are answered by u.
func (w *world) client(p *process, principal string, u *user) *client.Client {
	w.Helper()
	return mcptest.Connect(w.T, as{p.server, principal}, w.mode, u.options())
}

// start calls a tool as a task.
func (w *world) start(c *client.Client, tool string, opts ...client.CallOption) *client.Task {
	w.Helper()
	task, err := c.StartTask(w.Context(), tool, nil, opts...)
	if err != nil || task.ID() == "" {
		w.Fatalf("%s was not begun as a task: %v", tool, err)
	}
	return task
}

// await waits until a task has a status, and returns its state.
func (w *world) await(task *client.Task, want mcp.TaskStatus) *mcp.TaskState {
	w.Helper()
	var s *mcp.TaskState
	for range 200 {
		var err error
		if s, err = task.Status(w.Context()); err != nil {
			w.Fatal(err)
		}
		if s.Status == want {
			return s
		}
		w.pass(time.Second)
	}
	w.Fatalf("the task is %s (%q), and never %s", s.Status, s.StatusMessage, want)
	return nil
}

// text waits for a task and returns what its tool said.
func (w *world) text(task *client.Task) string {
	w.Helper()
	r, err := task.Wait(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	return textOf(r)
}

func textOf(r *mcp.CallToolResult) string {
	if len(r.Content) == 1 {
		if text, ok := r.Content[0].(*mcp.TextContent); ok {
			return text.Text
		}
	}
	return ""
}

// pass lets time pass, and what is due happen.
func (*world) pass(d time.Duration) {
	<-time.NewTimer(d).C
	synctest.Wait()
}

// counted expects that something has happened n times.
func (w *world) counted(what string, n int) {
	w.Helper()
	synctest.Wait()
	if got := w.count(what); got != n {
		w.Errorf("%s: %d times, want %d", what, got, n)
	}
}

// taskOptions are those that most tests need.
var taskOptions = server.TaskOptions{PollInterval: time.Second, TTL: time.Hour, Lease: 30 * time.Second}
