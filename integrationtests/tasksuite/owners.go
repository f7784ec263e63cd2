package tasksuite

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// Everybody lists their own tasks, in pages, over all their connections. 2026-07-28
// has no lists.
func (w *world) lists() {
	p := w.process(taskOptions)
	ann, bob := w.client(p, "ann", new(user)), w.client(p, "bob", new(user))
	want := map[string][]string{}
	for range 5 { // pages have two
		want["ann"] = append([]string{w.start(ann, "hang").ID()}, want["ann"]...)
		w.pass(time.Second)
	}
	want["bob"] = []string{w.start(bob, "hang").ID()}
	for who, ids := range want {
		var got []string
		for task, err := range w.client(p, who, new(user)).Tasks(w.Context()) {
			if !w.isSession() {
				if !errors.Is(err, errors.ErrUnsupported) {
					w.Errorf("listing tasks: %v", err)
				}
				return
			}
			if err != nil {
				w.Fatal(err)
			}
			if task.Status != mcp.TaskWorking {
				w.Errorf("listed as %s", task.Status)
			}
			got = append(got, task.ID)
		}
		if !slices.Equal(got, ids) {
			w.Errorf("%s gets %q, want %q", who, got, ids)
		}
	}
}

// For strangers, a task looks like one that never was, whatever they try, and none of
// it has an effect.
func (w *world) strangers() {
	p := w.process(taskOptions)
	ann, bob, nobody := w.client(p, "ann", new(user)), w.client(p, "bob", new(user)), w.client(p, "", new(user))
	task := w.start(ann, "interview")
	w.await(task, mcp.TaskInputRequired)
	methods := []string{mcp.MethodGetTask, mcp.MethodCancelTask, mcp.MethodUpdateTask}
	if w.isSession() {
		methods[2] = mcp.MethodTaskResult
	}
	for _, method := range methods {
		answers := map[string]bool{}
		for _, stranger := range []*client.Client{bob, nobody} {
			for _, id := range []string{task.ID(), strings.Repeat("A", len(task.ID())), "?"} {
				var params any = mcp.TaskParams{ID: id}
				if method == mcp.MethodUpdateTask {
					params = mcp.UpdateTaskParams{ID: id}
				}
				_, err := stranger.Do(w.Context(), method, params)
				rpc, ok := errors.AsType[*jsonrpc.Error](err)
				if !ok || rpc.Code != jsonrpc.CodeInvalidParams {
					w.Fatalf("%s: %v", method, err)
				}
				answers[strings.ReplaceAll(rpc.Message, id, "ID")+string(rpc.Data)] = true
			}
		}
		if len(answers) != 1 {
			w.Errorf("%s tells strangers which tasks there are: %v", method, answers)
		}
	}
	if _, err := bob.Task(task.ID(), "").Wait(w.Context()); !errors.Is(err, client.ErrNotFound) {
		w.Errorf("a stranger who waits: %v", err)
	}
	w.listening(task.ID(), ann, bob)
	w.await(task, mcp.TaskInputRequired)
}

// listening expects that the owner of a task can watch it, and a stranger cannot.
func (w *world) listening(id string, owner, stranger *client.Client) {
	w.Helper()
	if w.isSession() {
		return // 2025-11-25 tells the session that has the task
	}
	watched := func(c *client.Client, ids ...string) []string {
		w.Helper()
		s, err := c.Listen(w.Context(), mcp.SubscriptionFilter{TaskIDs: ids}, func(context.Context, client.Event) {})
		if err != nil {
			w.Fatal(err)
		}
		defer s.Close()
		return s.Honoured().TaskIDs
	}
	if got := watched(owner, id); !slices.Equal(got, []string{id}) {
		w.Errorf("its owner watches %q", got)
	}
	if got := watched(stranger, id, "made-up"); len(got) > 0 {
		w.Errorf("a stranger watches %q", got)
	}
}

// There are only so many tasks for one principal, and in all, until some expire.
func (w *world) quotas() {
	o := taskOptions
	o.PerPrincipal, o.Total, o.TTL = 2, 3, 10*time.Second
	p := w.process(o)
	ann, bob := w.client(p, "ann", new(user)), w.client(p, "bob", new(user))
	refused := func(c *client.Client) {
		w.Helper()
		task, err := c.StartTask(w.Context(), "hang", nil)
		rpc, ok := errors.AsType[*jsonrpc.Error](err)
		if !ok || !strings.Contains(rpc.Message, "too many tasks") {
			w.Fatalf("one more: %v, %v", task, err)
		}
	}
	w.start(ann, "hang")
	w.start(ann, "hang")
	refused(ann)
	w.start(bob, "hang")
	refused(bob)
	w.counted("hang began", 3)
	w.pass(10 * time.Second)
	w.start(ann, "hang")
}
