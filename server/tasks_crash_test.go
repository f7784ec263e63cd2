package server

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server/taskstore"
)

func settle() { synctest.Wait() }

// world counts what handlers do that must not happen twice.
type world struct {
	mu      sync.Mutex
	effects map[string]int
	running int
	overlap bool
}

func (w *world) does(what string) (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.effects == nil {
		w.effects = map[string]int{}
	}
	w.effects[what]++
	return what, nil
}

func (w *world) begins() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running++
	w.overlap = w.overlap || w.running > 1
}

func (w *world) ends() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running--
}

type yes struct {
	Yes bool `json:"yes"`
}

// journey is a tool that does a bit of everything. Its result says in what order.
func (w *world) journey(ctx context.Context, call *Call, _ struct{}) (string, error) {
	w.begins()
	defer w.ends()
	var said []string
	for i, step := range []string{"once:a", "ask:1", "step:b", "once:c", "ask:2", "once:d"} {
		call.Progress(ctx, float64(i+1), 6, step)
		kind, key, _ := strings.Cut(step, ":")
		var did string
		var err error
		switch kind {
		case "once":
			did, err = Once(ctx, call, key, func(context.Context) (string, error) { return w.does(key) })
		case "step":
			did, err = Step(ctx, call, key, func(context.Context) (string, error) { return "s" + key, nil })
		default:
			var answer yes
			answer, err = Elicit[yes](ctx, call, key, "really?")
			did = fmt.Sprint(answer.Yes)
		}
		if err != nil {
			return "", err
		}
		said = append(said, did)
	}
	return strings.Join(said, " "), nil
}

const arrived = "a true sb c true d"

// node starts a process with the tool.
func (w *world) node(t *testing.T, store taskstore.Store) taskUser {
	s, _ := taskServer(t, TaskOptions{Store: store, PollInterval: time.Millisecond})
	AddTool(s, canTask("journey"), w.journey, Resumable())
	return taskUser{t, s, "ann"}
}

// doomed is a process that dies after its n-th write.
func (w *world) doomed(t *testing.T, store taskstore.Store, n int, limps bool) (u taskUser, dead func() bool) {
	frail, dead := mortal(store, n, limps)
	s := New(mcp.Implementation{Name: "test", Version: "1"}, &Options{Logger: quiet(), Tasks: TaskOptions{Store: frail, PollInterval: time.Millisecond}})
	AddTool(s, canTask("journey"), w.journey, Resumable())
	t.Cleanup(func() {
		gone, leave := context.WithCancel(context.Background())
		leave()
		_ = s.Close(gone)
	})
	return taskUser{t, s, "ann"}, dead
}

// tries runs f on a goroutine of its own, with which a process may die.
func tries(f func()) {
	over := make(chan struct{})
	go func() { // ends with f, or earlier
		defer close(over)
		f()
	}()
	<-over
}

// goOn does what a client does until the task ends or the process is dead.
func (u taskUser) goOn(dead func() bool) (last *mcp.TaskState) {
	tries(func() {
		if page, err := u.s.Serve(u.t.Context(), asks(u.who, mcp.MethodListTasks, "")); err != nil || len(page.(*mcp.ListTasksResult).Tasks) == 0 {
			_, _ = u.s.Serve(u.t.Context(), asks(u.who, mcp.MethodCallTool, `{"name":"journey"}`))
		}
	})
	for range 200 {
		settle()
		if dead() {
			return nil
		}
		tries(func() {
			page, err := u.s.Serve(u.t.Context(), asks(u.who, mcp.MethodListTasks, ""))
			if err != nil {
				return
			}
			id := page.(*mcp.ListTasksResult).Tasks[0].ID
			state, err := u.about(mcp.MethodGetTask, id)
			if err != nil {
				return
			}
			last = state.(*mcp.TaskState)
			for key := range last.InputRequests {
				_ = u.update(id, map[string]string{key: `{"yes":true}`})
			}
		})
		if last != nil && last.Status.Final() && !dead() {
			return last
		}
		wait(time.Second)
	}
	u.t.Fatalf("the task does not end: %s", toJSON(u.t, last))
	return nil
}

// TestKilledBetweenAnyTwoWrites kills the process after each of its writes, and the
// one that takes over after each of its own. Nothing is lost, nothing in Once happens
// twice, and the task ends with the right result, or says what was interrupted.
func TestKilledBetweenAnyTwoWrites(t *testing.T) {
	for _, limps := range []bool{false, true} {
		t.Run(fmt.Sprintf("limps=%t", limps), func(t *testing.T) {
			right, interrupted := 0, 0
			for first := 1; ; first++ {
				firstDied := false
				for second := 1; ; second++ {
					secondDied := false
					synctest.Test(t, func(t *testing.T) {
						w, store := &world{}, taskstore.NewMemory()
						u, dead := w.doomed(t, store, first, limps)
						state := u.goOn(dead)
						if firstDied = state == nil; firstDied {
							u, dead = w.doomed(t, store, second, limps)
							if state = u.goOn(dead); state == nil {
								secondDied = true
								state = w.node(t, store).goOn(func() bool { return false })
							}
						}
						if w.verdict(t, state, fmt.Sprintf("killed after writes %d and %d", first, second)) {
							right++
						} else {
							interrupted++
						}
					})
					if !secondDied || t.Failed() {
						break
					}
				}
				if !firstDied || t.Failed() {
					break
				}
			}
			t.Logf("%d came to the right result, %d say that they were interrupted", right, interrupted)
			if right < 50 || interrupted < 20 {
				t.Error("the loop does not cover what it should")
			}
		})
	}
}

// verdict checks how a journey ended, and reports whether it arrived.
func (w *world) verdict(t *testing.T, state *mcp.TaskState, what string) bool {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for key, n := range w.effects {
		if n > 1 {
			t.Errorf("%s: %q happened %d times", what, key, n)
		}
	}
	switch {
	case state.Status == mcp.TaskCompleted && textOf(t, state.Result) == arrived && len(w.effects) == 3:
		return true
	case state.Status == mcp.TaskFailed && strings.Contains(state.Error.Message, "was interrupted: the process ended while it ran"):
		return false
	}
	t.Errorf("%s: the task ended as %s, effects %v", what, toJSON(t, state), w.effects)
	return false
}
