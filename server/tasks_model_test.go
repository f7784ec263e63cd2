package server

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server/taskstore"
)

// deed is one thing that happens to the tasks of two nodes.
type deed struct {
	Do   string
	Node int
	N    int
}

func (d deed) String() string { return fmt.Sprintf("%s node=%d n=%d", d.Do, d.Node, d.N) }

var deeds = []string{"settle", "call", "call", "get", "get", "answer", "answer", "answer", "nonsense", "cancel", "wait", "wait", "long wait", "kill", "spy", "close"}

// tagged are the arguments of the model's tool.
type tagged struct {
	Tag string `json:"tag"`
}

// modelNode is a process, which may die.
type modelNode struct {
	s    *Server
	dead atomic.Bool
	kill func()
}

// model is what the test knows of the tasks.
type model struct {
	t     *testing.T
	store taskstore.Store
	hub   Hub
	nodes [2]*modelNode

	ids       []string
	tags      map[string]string // by ID
	cancelled map[string]bool
	last      map[string]*mcp.TaskState

	mu      sync.Mutex // guards the fields below
	effects map[string]int
	runs    map[string]*modelNode // handlers that run, by tag
	broken  []string              // what should not have happened
}

func (m *model) errorf(format string, args ...any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.broken = append(m.broken, fmt.Sprintf(format, args...))
}

// begins notes that a handler begins, and returns what notes its end.
func (m *model) begins(n *modelNode, tag string) (ends func()) {
	m.mu.Lock()
	other := m.runs[tag]
	m.runs[tag] = n
	m.mu.Unlock()
	if other != nil && !other.dead.Load() {
		m.errorf("%s: two handlers run at once", tag)
	}
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.runs[tag] == n {
			delete(m.runs, tag)
		}
	}
}

// start starts a node in the place of another.
func (m *model) start(i int) {
	n := &modelNode{}
	store, kill := killable(m.store)
	n.kill = func() { n.dead.Store(true); kill() }
	n.s = New(mcp.Implementation{Name: "node", Version: "1"}, &Options{Logger: quiet(), Hub: m.hub, Tasks: TaskOptions{Store: store, TTL: 5 * time.Minute}})
	AddTool(n.s, canTask("t"), func(ctx context.Context, call *Call, in tagged) (string, error) {
		return m.handle(ctx, call, n, in.Tag)
	}, Resumable())
	m.nodes[i] = n
}

// handle is the tool: it works, asks, and does things once.
func (m *model) handle(ctx context.Context, call *Call, n *modelNode, tag string) (string, error) {
	defer m.begins(n, tag)()
	for _, key := range []string{"a", "b"} {
		if err := works(7*time.Second)(ctx, call); err != nil {
			return "", err
		}
		if n.dead.Load() {
			return "", errDead
		}
		_, err := Once(ctx, call, key, func(context.Context) (string, error) {
			m.mu.Lock()
			m.effects[tag+key]++
			m.mu.Unlock()
			return key, works(5*time.Second)(context.WithoutCancel(ctx), call)
		})
		if err != nil {
			return "", err
		}
		call.Progress(ctx, float64(len(key)), 0, "did "+key)
		answers, err := call.Ask(ctx, Form[yes](key+"1", "?"), Form[yes](key+"2", "?"))
		if err != nil {
			return "", err
		}
		if sure, err := Answer[yes](answers, key+"1"); err != nil || !sure.Yes {
			return "", errors.Join(errors.New("a wrong answer"), err)
		}
	}
	return "arrived " + tag, nil
}

func (m *model) task(n int) string {
	if len(m.ids) == 0 {
		return ""
	}
	return m.ids[n%len(m.ids)]
}

func (m *model) do(d deed) {
	u := taskUser{m.t, m.nodes[d.Node].s, "ann"}
	id := m.task(d.N)
	switch {
	case d.Do == "wait":
		wait(time.Duration(d.N+1) * time.Second)
	case d.Do == "long wait":
		wait(time.Duration(d.N+1) * 10 * time.Second)
	case d.Do == "call":
		m.call(u)
	case d.Do == "kill" || d.Do == "close":
		m.end(d)
	case d.Do == "settle" || id == "":
		synctest.Wait()
	case d.Do == "get":
		m.get(u, id)
	case d.Do == "spy":
		if _, err := (taskUser{m.t, u.s, "eve"}).about(mcp.MethodGetTask, id); err == nil {
			m.errorf("a stranger sees a task")
		}
	case d.Do == "cancel":
		before := m.get(u, id)
		_, err := u.about(mcp.MethodCancelTask, id)
		if before != nil && !before.Status.Final() && err != nil {
			m.errorf("a task that is %s cannot be cancelled: %v", before.Status, err)
		}
		m.cancelled[id] = m.cancelled[id] || err == nil
	case d.Do == "nonsense":
		_ = u.update(id, map[string]string{"a": `{}`, "zz": `{"yes":true}`})
	case d.Do == "answer":
		m.answer(u, id, d.N%3 == 0)
	}
}

func (m *model) call(u taskUser) {
	tag := fmt.Sprintf("t%d", len(m.ids))
	id := u.call("t", `{"tag":"`+tag+`"}`)
	m.ids, m.tags[id] = append(m.ids, id), tag
}

// end ends a process, at once or in order, and starts another.
func (m *model) end(d deed) {
	ctx, cancel := context.WithCancel(m.t.Context())
	n := m.nodes[d.Node]
	if d.Do == "kill" {
		n.kill()
		cancel()
	}
	_ = n.s.Close(ctx)
	cancel()
	synctest.Wait()
	m.start(d.Node)
}

// answer answers one of the open questions, or all.
func (m *model) answer(u taskUser, id string, one bool) {
	state := m.get(u, id)
	if state == nil {
		return
	}
	answers := map[string]string{}
	for key := range state.InputRequests {
		if !one || len(answers) == 0 {
			answers[key] = `{"yes":true}`
		}
	}
	if err := u.update(id, answers); err != nil {
		m.errorf("the answers %v are refused: %v", answers, err)
	}
}

// get asks for the state, and checks it against what was seen before.
func (m *model) get(u taskUser, id string) *mcp.TaskState {
	result, err := u.about(mcp.MethodGetTask, id)
	before := m.last[id]
	if err != nil {
		created := ""
		if before != nil {
			created = before.CreatedAt
		}
		at, _ := time.Parse(time.RFC3339, created)
		if before != nil && time.Since(at) < 5*time.Minute {
			m.errorf("%s cannot be found before its time is over: %v", m.tags[id], err)
		}
		return nil
	}
	state := result.(*mcp.TaskState)
	m.last[id] = state
	if before != nil && before.Status.Final() && toJSON(m.t, before) != toJSON(m.t, state) {
		m.errorf("%s has ended as %s, and became %s", m.tags[id], toJSON(m.t, before), toJSON(m.t, state))
	}
	if (state.Status == mcp.TaskInputRequired) != (len(state.InputRequests) > 0) {
		m.errorf("%s has status %s and %d questions", m.tags[id], state.Status, len(state.InputRequests))
	}
	switch state.Status {
	case mcp.TaskCompleted:
		if got := textOf(m.t, state.Result); got != "arrived "+m.tags[id] {
			m.errorf("%s says %q", m.tags[id], got)
		}
	case mcp.TaskFailed:
		if !strings.Contains(state.Error.Message, "was interrupted") && !strings.Contains(state.Error.Message, "too often") {
			m.errorf("%s failed: %s", m.tags[id], state.Error.Message)
		}
	case mcp.TaskCancelled:
		if !m.cancelled[id] {
			m.errorf("%s was cancelled by nobody", m.tags[id])
		}
	default:
	}
	return state
}

// Whatever happens to tasks and their processes, in whatever order: nothing happens
// twice, an end stays, one handler runs at a time, and each task comes to an end.
func TestModelOfTasks(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		steps := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) deed {
			return deed{rapid.SampledFrom(deeds).Draw(t, "Do"), rapid.IntRange(0, 1).Draw(t, "Node"), rapid.IntRange(0, 9).Draw(t, "N")}
		}), 5, 60).Draw(rt, "Steps")
		shared := rapid.Bool().Draw(rt, "Hub")
		var broken []string
		synctest.Test(t, func(t *testing.T) { broken = playTasks(t, steps, shared) })
		if len(broken) > 0 {
			rt.Fatalf("%s\n\nsteps %v", strings.Join(broken, "\n"), steps)
		}
	})
}

func playTasks(t *testing.T, steps []deed, shared bool) (broken []string) {
	m := &model{
		t: t, store: taskstore.NewMemory(), tags: map[string]string{}, cancelled: map[string]bool{},
		last: map[string]*mcp.TaskState{}, effects: map[string]int{}, runs: map[string]*modelNode{},
	}
	if shared {
		m.hub = NewHub()
	}
	m.start(0)
	m.start(1)
	for _, d := range steps {
		m.do(d)
	}
	for range 12 { // in less than a task's time
		wait(20 * time.Second)
		for _, id := range m.ids {
			m.answer(taskUser{t, m.nodes[0].s, "ann"}, id, false)
		}
	}
	for _, id := range m.ids {
		if state := m.last[id]; state != nil && !state.Status.Final() && m.get(taskUser{t, m.nodes[1].s, "ann"}, id) != nil {
			m.errorf("%s does not end: %s", m.tags[id], toJSON(t, state))
		}
	}
	for _, n := range m.nodes {
		_ = n.s.Close(t.Context())
	}
	for what, n := range m.effects {
		if n > 1 {
			m.errorf("%s happened %d times", what, n)
		}
	}
	return m.broken
}
