package tasksuite

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
)

// A call that is a task has the result of one that is not.
func (w *world) results() {
	p := w.process(taskOptions)
	plain, c := w.client(p, "ann", &user{noTasks: true}), w.client(p, "ann", new(user))
	for tool, args := range map[string]any{"add": map[string]int{"a": 2, "b": 3}, "fails": nil} {
		want, err := plain.CallTool(w.Context(), tool, args)
		if err != nil {
			w.Fatal(err)
		}
		var states []mcp.TaskStatus
		got, err := c.CallTool(w.Context(), tool, args, client.WithTask(0), client.WithTaskStatus(func(t *mcp.Task) { states = append(states, t.Status) }))
		if err != nil {
			w.Fatal(err)
		}
		if len(states) == 0 {
			w.Errorf("%s was not called as a task", tool)
		}
		if got, want := w.members(got), w.members(want); !reflect.DeepEqual(got, want) {
			w.Errorf("%s returned %v, want %v", tool, got, want)
		}
	}
}

// members returns a result without the name of its task.
func (w *world) members(r *mcp.CallToolResult) map[string]any {
	w.Helper()
	raw, err := json.Marshal(r)
	if err != nil {
		w.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(raw, &m); err != nil {
		w.Fatal(err)
	}
	if meta, ok := m["_meta"].(map[string]any); ok {
		delete(meta, mcp.MetaRelatedTask)
		if len(meta) == 0 {
			delete(m, "_meta")
		}
	}
	return m
}

// Where the server decides, a call becomes a task only when it takes long.
func (w *world) later() {
	c := w.client(w.process(taskOptions), "ann", new(user))
	for tool, late := range map[string]bool{"soon": false, "late": !w.isSession()} {
		told := 0
		r, err := c.CallTool(w.Context(), tool, nil, client.WithTaskStatus(func(*mcp.Task) { told++ }))
		if err != nil || textOf(r) != "done" || (told > 0) != late {
			w.Errorf("%s: %v, %v; %d states of a task", tool, r, err, told)
		}
	}
}

// Progress becomes the messages of the task, which the caller gets to know in both
// ways. Log messages reach the client of a session.
func (w *world) progress() {
	u := new(user)
	c := w.client(w.process(taskOptions), "ann", u)
	var said, messages []string
	task := w.start(c, "work",
		client.WithProgress(func(p *mcp.ProgressParams) { said = append(said, p.Message) }),
		client.WithTaskStatus(func(t *mcp.Task) { messages = append(messages, t.StatusMessage) }))
	if got := w.text(task); got != "done" {
		w.Errorf("got %q", got)
	}
	want := []string{"reading", "counting", "writing"}
	if got := slices.Compact(said); !slices.Equal(got, want) {
		w.Errorf("progress was %q", got)
	}
	messages = slices.DeleteFunc(slices.Compact(messages), func(m string) bool { return m == "" })
	if !slices.Equal(messages, want) {
		w.Errorf("the messages were %q", messages)
	}
	logged := 0
	if w.isSession() {
		logged = 1
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.said) != logged {
		w.Errorf("log messages: %q", u.said)
	}
}

// A client that is told of changes does not need to ask.
func (w *world) told() {
	o := taskOptions
	o.PollInterval = 10 * time.Minute
	p, u, r := w.process(o), new(user), new(mcptest.Recorder)
	c := r.Connect(w.T, as{p.server, "ann"}, w.mode, u.options())
	begun := time.Now()
	got, err := client.Call[string](w.Context(), c, "interview", nil, client.WithTask(0))
	if err != nil || got != interviewed {
		w.Errorf("%q, %v", got, err)
	}
	if _, err = client.Call[string](w.Context(), c, "work", nil, client.WithTask(0)); err != nil {
		w.Error(err)
	}
	if took := time.Since(begun); took > time.Minute {
		w.Errorf("it took %v", took)
	}
	w.pass(time.Second)
	note := mcp.NoteTask
	if w.isSession() {
		note = mcp.NoteTaskStatus
	}
	if !slices.ContainsFunc(r.FromServer(), func(m *jsonrpc.Message) bool { return m.Method == note }) {
		w.Errorf("the server never sent %s", note)
	}
}

// Whoever may see a task is told of its changes on any connection, where the era has
// subscriptions for that.
func (w *world) watched() {
	if w.isSession() {
		w.Skip("2025-11-25 tells the session that has the task")
	}
	p := w.process(taskOptions)
	task := w.start(w.client(p, "ann", new(user)), "interview")
	w.await(task, mcp.TaskInputRequired)
	changes := make(chan mcp.Change, 10)
	watch := mcp.SubscriptionFilter{TaskIDs: []string{task.ID()}}
	s, err := w.client(p, "ann", new(user)).Listen(w.Context(), watch, func(_ context.Context, e client.Event) { changes <- e.Change })
	if err != nil {
		w.Fatal(err)
	}
	defer s.Close()
	if got := w.text(task); got != interviewed {
		w.Errorf("got %q", got)
	}
	w.pass(time.Second)
	if len(changes) == 0 || <-changes != (mcp.Change{Kind: mcp.TaskChanged, URI: task.ID()}) {
		w.Error("nothing was told")
	}
}

// A tool that fails is a result, which 2025-11-25 calls failed. An error of the
// request is the error of the task.
func (w *world) failures() {
	p := w.process(taskOptions)
	plain, c := w.client(p, "ann", &user{noTasks: true}), w.client(p, "ann", new(user))
	task, want := w.start(c, "fails"), mcp.TaskCompleted
	if w.isSession() {
		want = mcp.TaskFailed
	}
	r, err := task.Wait(w.Context())
	if err != nil || !r.IsError || textOf(r) != "no paper" {
		w.Errorf("a tool that fails: %+v, %v", r, err)
	}
	if s := w.await(task, want); s.StatusMessage != "no paper" {
		w.Errorf("the message is %q", s.StatusMessage)
	}

	_, err = plain.CallTool(w.Context(), "breaks", nil)
	task = w.start(c, "breaks")
	_, failure := task.Wait(w.Context())
	first, ok1 := errors.AsType[*jsonrpc.Error](err)
	second, ok2 := errors.AsType[*jsonrpc.Error](failure)
	if !ok1 || !ok2 || first.Code != -7 || second.Code != first.Code || second.Message != first.Message {
		w.Errorf("a request that fails: %v; as a task: %v", err, failure)
	}
	w.await(task, mcp.TaskFailed)
}
