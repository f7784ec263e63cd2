package tasksuite

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/server/taskstore"
)

// world is one test in one mode.
type world struct {
	*testing.T
	mode  mcptest.Mode
	store taskstore.Store

	mu     sync.Mutex
	counts map[string]int // what handlers did, in all processes
}

func (w *world) note(what string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.counts[what]++
	return w.counts[what]
}

func (w *world) count(what string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.counts[what]
}

// process is a server as a process of its own would be: all that it shares with
// others is the store.
type process struct {
	w      *world
	server *server.Server
	store  *mortal
	gate   chan struct{} // what the handlers of build and fragile wait for
}

// process starts a server, which ends with the test.
func (w *world) process(o server.TaskOptions) *process {
	w.Helper()
	p := &process{w: w, store: &mortal{Store: w.store}, gate: make(chan struct{})}
	o.Store = p.store
	p.server = server.New(mcp.Implementation{Name: "suite", Version: "1"}, &server.Options{
		Logger: mcptest.Quiet(), Logging: true, Subscriptions: true, PageSize: 2, Tasks: o,
	})
	p.addTools()
	w.Cleanup(func() {
		if err := p.server.Close(context.Background()); err != nil { // the test's context has ended
			w.Error(err)
		}
	})
	return p
}

// die ends the process as a kill would: whatever its handlers go on to do has no
// effect.
func (p *process) die() { p.store.dead.Store(true) }

type sum struct {
	Sum int `json:"sum"`
}

type value struct {
	Value string `json:"value"`
}

func (p *process) addTools() {
	optional := func(name string) mcp.Tool {
		return mcp.Tool{Name: name, Execution: &mcp.ToolExecution{TaskSupport: mcp.TaskOptional}}
	}
	server.AddTool(p.server, optional("add"), func(_ context.Context, call *server.Call, in struct {
		A int `json:"a"`
		B int `json:"b"`
	},
	) (sum, error) {
		return sum{in.A + in.B}, call.SetResultMeta("com.example/asked-by", call.Principal())
	})
	add := func(name string, f func(context.Context, *server.Call) (string, error), opts ...server.ToolOption) {
		server.AddTool(p.server, optional(name), func(ctx context.Context, call *server.Call, _ struct{}) (string, error) { return f(ctx, call) }, opts...)
	}
	add("fails", func(context.Context, *server.Call) (string, error) { return "", errors.New("no paper") })
	add("breaks", func(context.Context, *server.Call) (string, error) {
		return "", jsonrpc.Errorf(-7, "out of order")
	})
	add("soon", func(ctx context.Context, _ *server.Call) (string, error) { return "done", rest(ctx, time.Second) }, server.TaskAfter(2*time.Second))
	add("late", func(ctx context.Context, _ *server.Call) (string, error) { return "done", rest(ctx, 3*time.Second) }, server.TaskAfter(2*time.Second))
	add("interview", p.interview)
	add("work", work)
	add("hang", p.hang)
	add("build", p.build, server.Resumable())
	add("fragile", p.build)
	add("risky", p.risky, server.Resumable())
}

// rest waits as long as a handler works.
func rest(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// interview asks one question, and then the user and the model at once.
func (p *process) interview(ctx context.Context, call *server.Call) (string, error) {
	n, err := server.Once(ctx, call, "number", func(context.Context) (int, error) { return p.w.note("number"), nil })
	if err != nil {
		return "", err
	}
	name, err := server.Elicit[value](ctx, call, "name", "Your name?")
	if err != nil {
		return "", err
	}
	greeting, err := server.Step(ctx, call, "greeting", func(context.Context) (string, error) {
		p.w.note("greeting")
		return "Dear " + name.Value, nil
	})
	if err != nil {
		return "", err
	}
	answers, err := call.Ask(ctx, server.Form[value]("colour", "Which colour?"), server.SampleQuestion("motto", &mcp.CreateMessageParams{
		Messages:  []*mcp.SamplingMessage{{Role: mcp.RoleUser, Content: mcp.OneOrMany{mcp.Text("A motto for " + name.Value)}}},
		MaxTokens: 10,
	}))
	if err != nil {
		return "", err
	}
	colour, err := server.Answer[value](answers, "colour")
	if err != nil {
		return "", err
	}
	motto, err := server.Answer[*mcp.CreateMessageResult](answers, "motto")
	if err != nil {
		return "", err
	}
	if n != 1 {
		return "", errors.New("the order has another number now")
	}
	return greeting + ", a " + colour.Value + " hat: " + motto.Text(), nil
}

// work tells how far it has come.
func work(ctx context.Context, call *server.Call) (string, error) {
	for i, what := range []string{"reading", "counting", "writing"} {
		call.Progress(ctx, float64(i), 3, what)
		if err := rest(ctx, 3*time.Second); err != nil {
			return "", err
		}
	}
	call.Log(ctx, mcp.LevelWarning, "out of ink")
	return "done", rest(ctx, time.Second)
}

// hang works until it is stopped.
func (p *process) hang(ctx context.Context, _ *server.Call) (string, error) {
	p.w.note("hang began")
	<-ctx.Done()
	p.w.note("hang ended")
	return "", context.Cause(ctx)
}

// build works until the gate is opened, after something that must not happen twice.
func (p *process) build(ctx context.Context, call *server.Call) (string, error) {
	p.w.note("build")
	order, err := server.Once(ctx, call, "order", func(context.Context) (string, error) {
		p.w.note("order")
		return "steel", nil
	})
	if err != nil {
		return "", err
	}
	if _, err = server.Step(ctx, call, "plan", func(context.Context) (int, error) { return p.w.note("plan"), nil }); err != nil {
		return "", err
	}
	select {
	case <-p.gate:
		return "built of " + order, nil
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// risky waits in the midst of what must not happen twice.
func (p *process) risky(ctx context.Context, call *server.Call) (string, error) {
	return server.Once(ctx, call, "pay", func(ctx context.Context) (string, error) {
		p.w.note("pay")
		<-ctx.Done()
		return "", context.Cause(ctx)
	})
}

// errDead is what a store says to a process that has died.
var errDead = errors.New("this process is dead")

// mortal is a store as seen by a process that may die.
type mortal struct {
	taskstore.Store
	dead atomic.Bool
}

func (m *mortal) alive() error {
	if m.dead.Load() {
		return errDead
	}
	return nil
}

// The following implement taskstore.Store.

func (m *mortal) Create(ctx context.Context, r taskstore.Record, q taskstore.Quota) (uint64, error) {
	if err := m.alive(); err != nil {
		return 0, err
	}
	return m.Store.Create(ctx, r, q)
}

func (m *mortal) Load(ctx context.Context, id string) (taskstore.Record, error) {
	if err := m.alive(); err != nil {
		return taskstore.Record{}, err
	}
	return m.Store.Load(ctx, id)
}

func (m *mortal) Save(ctx context.Context, r taskstore.Record) (uint64, error) {
	if err := m.alive(); err != nil {
		return 0, err
	}
	return m.Store.Save(ctx, r)
}

func (m *mortal) Delete(ctx context.Context, id string) error {
	if err := m.alive(); err != nil {
		return err
	}
	return m.Store.Delete(ctx, id)
}

func (m *mortal) List(ctx context.Context, owner, cursor string, limit int) ([]taskstore.Record, string, error) {
	if err := m.alive(); err != nil {
		return nil, "", err
	}
	return m.Store.List(ctx, owner, cursor, limit)
}

func (m *mortal) Append(ctx context.Context, id, key string, value []byte) error {
	if err := m.alive(); err != nil {
		return err
	}
	return m.Store.Append(ctx, id, key, value)
}

func (m *mortal) Journal(ctx context.Context, id string) (map[string][]byte, error) {
	if err := m.alive(); err != nil {
		return nil, err
	}
	return m.Store.Journal(ctx, id)
}

func (m *mortal) Abandoned(ctx context.Context, before time.Time, limit int) ([]string, error) {
	if err := m.alive(); err != nil {
		return nil, err
	}
	return m.Store.Abandoned(ctx, before, limit)
}

func (m *mortal) Sweep(ctx context.Context, now time.Time) error {
	if err := m.alive(); err != nil {
		return err
	}
	return m.Store.Sweep(ctx, now)
}
