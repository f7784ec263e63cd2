package server

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server/taskstore"
)

// canTask is the description of a tool that can run as a task.
func canTask(name string) mcp.Tool {
	return mcp.Tool{Name: name, Execution: &mcp.ToolExecution{TaskSupport: mcp.TaskOptional}}
}

// asker is what clients of 2026-07-28 declare that can take tasks and be asked.
var asker = mcp.ClientCapabilities{
	Elicitation: &mcp.ElicitationCapability{Form: &mcp.Empty{}, URL: &mcp.Empty{}},
	Extensions:  map[string]json.RawMessage{mcp.ExtensionTasks: json.RawMessage("{}")},
}

// asks returns an exchange of somebody who can take a task.
func asks(who, method, params string) *mcp.Exchange {
	x := request(method, params)
	x.Peer = mcp.Peer{Revision: mcp.Revision20260728, Principal: who, Capabilities: asker, Source: "here"}
	if method == mcp.MethodCallTool {
		x.Task = &mcp.TaskOffer{}
	}
	return x
}

// taskUser is a client of a server. Its questions about tasks fail the test if they do.
type taskUser struct {
	t   *testing.T
	s   *Server
	who string
}

// call calls a tool as a task, and returns the ID.
func (u taskUser) call(tool, args string) string {
	u.t.Helper()
	result, err := u.s.Serve(u.t.Context(), asks(u.who, mcp.MethodCallTool, `{"name":"`+tool+`","arguments":`+args+`}`))
	if err != nil {
		u.t.Fatalf("call of %s: %v", tool, err)
	}
	created, ok := result.(*mcp.CreateTaskResult)
	if !ok {
		u.t.Fatalf("call of %s: got %s, want a task", tool, toJSON(u.t, result))
	}
	if created.Status != mcp.TaskWorking || created.ID == "" {
		u.t.Fatalf("the new task is %s", toJSON(u.t, created))
	}
	return created.ID
}

func (u taskUser) about(method, id string) (any, error) {
	return u.s.Serve(u.t.Context(), asks(u.who, method, `{"taskId":"`+id+`"}`))
}

func (u taskUser) get(id string) *mcp.TaskState {
	u.t.Helper()
	result, err := u.about(mcp.MethodGetTask, id)
	if err != nil {
		u.t.Fatalf("tasks/get: %v", err)
	}
	return result.(*mcp.TaskState)
}

func (u taskUser) status(id string, want mcp.TaskStatus) *mcp.TaskState {
	u.t.Helper()
	state := u.get(id)
	if state.Status != want {
		u.t.Fatalf("the task is %s (%s), want %s: %s", state.Status, state.StatusMessage, want, toJSON(u.t, state))
	}
	return state
}

// text waits in a bubble until the task has completed, and returns what it says.
func (u taskUser) text(id string) string {
	u.t.Helper()
	settle()
	return textOf(u.t, u.status(id, mcp.TaskCompleted).Result)
}

func textOf(t *testing.T, result json.RawMessage) string {
	t.Helper()
	var r mcp.CallToolResult
	if err := wire.Unmarshal(result, &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Content) == 0 {
		return ""
	}
	return r.Content[0].(*mcp.TextContent).Text
}

// update answers questions; answers are the contents of forms by key.
func (u taskUser) update(id string, answers map[string]string) error {
	responses := map[string]json.RawMessage{}
	for key, content := range answers {
		responses[key] = json.RawMessage(`{"action":"accept","content":` + content + `}`)
	}
	raw, err := wire.Marshal(mcp.UpdateTaskParams{ID: id, InputResponses: responses})
	if err != nil {
		return err
	}
	_, err = u.s.Serve(u.t.Context(), asks(u.who, mcp.MethodUpdateTask, string(raw)))
	return err
}

// wrongly expects an error of the protocol with a code.
func wrongly(t *testing.T, err error, code int64) string {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	if got := taskError(err); got.Code != code {
		t.Errorf("the error is %v (%d), want %d", err, got.Code, code)
	}
	return err.Error()
}

// taskServer returns a server, which is closed when the test ends.
func taskServer(t *testing.T, o TaskOptions) (*Server, *logged) {
	t.Helper()
	l := &logged{}
	log := slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
	s := New(mcp.Implementation{Name: "test", Version: "1"}, &Options{Logger: log, Tasks: o})
	t.Cleanup(func() {
		if err := s.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return s, l
}

// errDead is what a store says whose process has died.
var errDead = errors.New("this process is dead")

// frail is a store of a process that has trouble with it.
type frail struct {
	taskstore.Store
	mu     sync.Mutex
	writes int

	// before and after are asked around the n-th write, beginning with 1.
	before, after func(n int) error
	// reading is asked before each other use.
	reading func() error
}

func (f *frail) write(do func() error) error {
	f.mu.Lock()
	f.writes++
	n := f.writes
	f.mu.Unlock()
	if f.before != nil {
		if err := f.before(n); err != nil {
			return err
		}
	}
	err := do()
	if f.after != nil && err == nil {
		err = f.after(n)
	}
	return err
}

func (f *frail) read() error {
	if f.reading == nil {
		return nil
	}
	return f.reading()
}

func (f *frail) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.writes
}

func (f *frail) Create(ctx context.Context, r taskstore.Record, q taskstore.Quota) (v uint64, err error) {
	err = f.write(func() (err error) { v, err = f.Store.Create(ctx, r, q); return err })
	return v, err
}

func (f *frail) Save(ctx context.Context, r taskstore.Record) (v uint64, err error) {
	err = f.write(func() (err error) { v, err = f.Store.Save(ctx, r); return err })
	return v, err
}

func (f *frail) Append(ctx context.Context, id, key string, value []byte) error {
	return f.write(func() error { return f.Store.Append(ctx, id, key, value) })
}

func (f *frail) Delete(ctx context.Context, id string) error {
	if err := f.read(); err != nil {
		return err
	}
	return f.Store.Delete(ctx, id)
}

func (f *frail) Load(ctx context.Context, id string) (taskstore.Record, error) {
	if err := f.read(); err != nil {
		return taskstore.Record{}, err
	}
	return f.Store.Load(ctx, id)
}

func (f *frail) Journal(ctx context.Context, id string) (map[string][]byte, error) {
	if err := f.read(); err != nil {
		return nil, err
	}
	return f.Store.Journal(ctx, id)
}

func (f *frail) List(ctx context.Context, owner, cursor string, limit int) ([]taskstore.Record, string, error) {
	if err := f.read(); err != nil {
		return nil, "", err
	}
	return f.Store.List(ctx, owner, cursor, limit)
}

func (f *frail) Abandoned(ctx context.Context, before time.Time, limit int) ([]string, error) {
	if err := f.read(); err != nil {
		return nil, err
	}
	return f.Store.Abandoned(ctx, before, limit)
}

func (f *frail) Sweep(ctx context.Context, now time.Time) error {
	if err := f.read(); err != nil {
		return err
	}
	return f.Store.Sweep(ctx, now)
}

// killable returns the store as a process sees it until it is killed.
func killable(shared taskstore.Store) (f *frail, kill func()) {
	var dead atomic.Bool
	gone := func() error {
		if dead.Load() {
			return errDead
		}
		return nil
	}
	return &frail{Store: shared, reading: gone, before: func(int) error { return gone() }}, func() { dead.Store(true) }
}

// mortal returns the store as a process sees it that dies right after its n-th
// write. If it limps, its goroutines go on, and find the store gone; otherwise the
// one that wrote ends there.
func mortal(shared taskstore.Store, n int, limps bool) (f *frail, dead func() bool) {
	f, kill := killable(shared)
	f.after = func(written int) error {
		if written == n {
			kill()
			if !limps {
				runtime.Goexit()
			}
		}
		return nil
	}
	return f, func() bool { return f.reading() != nil }
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }
