package server

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server/taskstore"
)

// TestStoreFailsAtAnyWrite has each write of a task fail: that one only, or it and all
// that follow. The call fails, or the task does and says so, and nothing happens twice.
func TestStoreFailsAtAnyWrite(t *testing.T) {
	for _, lasting := range []bool{false, true} {
		ends := map[string]int{}
		for n := 1; ; n++ {
			over := false
			synctest.Test(t, func(t *testing.T) {
				w := &world{}
				store := &frail{Store: taskstore.NewMemory()}
				store.before = func(write int) error {
					if write == n || lasting && write > n {
						return errors.New("no space left on device")
					}
					return nil
				}
				s, log := taskServer(t, TaskOptions{Store: store, PollInterval: time.Millisecond})
				AddTool(s, canTask("journey"), w.journey, Resumable())
				u := taskUser{t, s, "ann"}
				state, err := u.travel()
				switch {
				case err != nil:
					wrongly(t, err, jsonrpc.CodeInternalError)
					ends["no task"]++
				case state.Status == mcp.TaskCompleted && textOf(t, state.Result) == arrived:
					ends["arrived"]++
				case state.Status == mcp.TaskFailed && strings.Contains(state.Error.Message, "stor"):
					ends["failed"]++
				case lasting && state.Status == mcp.TaskInputRequired:
					ends["waits"]++ // its answers are refused
				default:
					t.Errorf("write %d fails: the task ended as %s", n, toJSON(t, state))
				}
				for key, times := range w.effects {
					if times > 1 {
						t.Errorf("write %d fails: %q happened %d times", n, key, times)
					}
				}
				wait(2 * time.Minute) // nobody goes on with what has ended
				if err == nil {
					u.status(state.ID, state.Status)
				}
				if strings.Contains(toJSON(t, state), "no space") || w.running > 0 {
					t.Error("the client is told what the store said, or a handler still runs")
				}
				if over = store.count() < n; over && strings.Contains(log.String(), "no space left") {
					t.Error("a write failed that was not to")
				}
			})
			if over || t.Failed() {
				break
			}
		}
		t.Logf("lasting=%t: %v", lasting, ends)
		if ends["no task"] == 0 || ends["failed"] < 5 {
			t.Error("the loop does not cover what it should")
		}
	}
}

// travel goes through a journey, as far as it gets. The error is that of the call.
func (u taskUser) travel() (state *mcp.TaskState, err error) {
	result, err := u.s.Serve(u.t.Context(), asks(u.who, mcp.MethodCallTool, `{"name":"journey"}`))
	if err != nil {
		return nil, err
	}
	id := result.(*mcp.CreateTaskResult).ID
	for range 200 {
		settle()
		if state = u.get(id); state.Status.Final() {
			return state, nil
		}
		for key := range state.InputRequests {
			_ = u.update(id, map[string]string{key: `{"yes":true}`}) // again if it was not stored
		}
		wait(time.Second)
	}
	return state, nil
}

// cluster starts nodes that share a store and, if there is one, a hub.
func cluster(t *testing.T, n int, hub Hub, add func(*Server)) []taskUser {
	store := taskstore.NewMemory()
	users := make([]taskUser, n)
	for i := range users {
		s := New(mcp.Implementation{Name: "node", Version: "1"}, &Options{Logger: quiet(), Hub: hub, Tasks: TaskOptions{Store: store}})
		t.Cleanup(func() { _ = s.Close(context.WithoutCancel(t.Context())) })
		add(s)
		users[i] = taskUser{t, s, "ann"}
	}
	return users
}

// Any node answers, lists, resumes and cancels, with and without a hub that all share.
func TestNodesShareTasks(t *testing.T) {
	for _, shared := range []bool{true, false} {
		t.Run(fmt.Sprintf("hub=%t", shared), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var hub Hub
				if shared {
					hub = NewHub()
				}
				var cause error
				nodes := cluster(t, 2, hub, func(s *Server) {
					hosts(s)
					AddTool(s, canTask("long"), func(ctx context.Context, _ *Call, _ struct{}) (string, error) {
						<-ctx.Done()
						cause = context.Cause(ctx)
						return "", cause
					})
				})
				id := nodes[0].call("hosts", "{}")
				waiting := nodes[1].result(id, newSessionBack())
				settle()
				for i, answers := range []map[string]string{{"one": `{"name":"A"}`, "two": `{"name":"B"}`}, {"three": `{"name":"C"}`}} {
					if err := nodes[1-i].update(id, answers); err != nil {
						t.Fatal(err)
					}
					settle()
				}
				same(t, nodes[0].text(id), "ABC")
				same(t, nodes[1].text(id), "ABC")
				same(t, <-waiting, "ABC")

				id = nodes[0].call("long", "{}")
				if _, err := nodes[1].about(mcp.MethodCancelTask, id); err != nil {
					t.Fatal(err)
				}
				if !shared {
					wait(defaultLease) // it finds out when it renews the lease
				}
				settle()
				if !errors.Is(cause, errTaskCancelled) {
					t.Errorf("the handler was told %v", cause)
				}
				nodes[0].status(id, mcp.TaskCancelled)
			})
		})
	}
}

// A run that is renewed is not taken over, however long it takes; exactly one node
// runs a task.
func TestOneNodeRunsATask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{}
		nodes := cluster(t, 3, nil, func(s *Server) {
			AddTool(s, canTask("long"), func(ctx context.Context, _ *Call, _ struct{}) (string, error) {
				w.begins()
				defer w.ends()
				_, _ = w.does("run")
				return "done", works(30*time.Minute)(ctx, nil)
			}, Resumable())
		})
		id := nodes[0].call("long", "{}")
		for range 29 {
			wait(time.Minute)
			for _, u := range nodes {
				u.status(id, mcp.TaskWorking)
			}
		}
		wait(2 * time.Minute)
		same(t, nodes[1].text(id), "done")
		if w.effects["run"] != 1 {
			t.Errorf("the handler ran %d times", w.effects["run"])
		}
	})
}

// halting adds a tool that runs until it is stopped, and then returns its context's
// error.
func halting(resumes bool) func(*Server) {
	return func(s *Server) {
		var opts []ToolOption
		if resumes {
			opts = append(opts, Resumable())
		}
		AddTool(s, canTask("halting"), func(ctx context.Context, call *Call, _ struct{}) (string, error) {
			n, err := Step(ctx, call, "begin", func(context.Context) (int, error) { return 1, nil })
			if err != nil {
				return "", err
			}
			<-ctx.Done()
			return fmt.Sprint(n), ctx.Err()
		}, opts...)
	}
}

// A task whose process has ended goes on elsewhere, if its tool says that it may; if
// not, it fails with the reason. One that waits for an answer goes on in any case.
func TestTakeOver(t *testing.T) {
	for _, resumes := range []bool{false, true} {
		for _, asked := range []bool{false, true} { // by a client, or found in a round
			synctest.Test(t, func(t *testing.T) {
				store, kill := killable(taskstore.NewMemory())
				first, _ := taskServer(t, TaskOptions{Store: store})
				halting(resumes)(first)
				hosts(first)
				u := taskUser{t, first, "ann"}
				id, waiting := u.call("halting", "{}"), u.call("hosts", "{}")
				settle()
				kill()
				wait(defaultLease + time.Second)

				second, log := taskServer(t, TaskOptions{Store: store.Store})
				halting(resumes)(second)
				hosts(second)
				u.s = second
				if asked {
					u.get(id)
				} else {
					wait(time.Second)
				}
				settle()
				if resumes {
					u.status(id, mcp.TaskWorking)
					if !second.tasks.runsHere(id) || !strings.Contains(log.String(), "task taken over") {
						t.Error("the task does not run")
					}
				} else if state := u.status(id, mcp.TaskFailed); !strings.Contains(state.Error.Message, "not declared resumable") || state.Error.Code != jsonrpc.CodeInternalError {
					t.Errorf("the state is %s", toJSON(t, state))
				}
				same(t, keys(u.status(waiting, mcp.TaskInputRequired)), "one two")
				if err := u.update(waiting, map[string]string{"one": `{"name":"A"}`, "two": `{"name":"B"}`}); err != nil {
					t.Fatal(err)
				}
				settle()
				same(t, keys(u.status(waiting, mcp.TaskInputRequired)), "three")
			})
		}
	}
}

// A task that ends its process each time does not do so for ever.
func TestTaskThatEndsItsProcesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shared, id := taskstore.NewMemory(), ""
		for n := range maxCrashes + 2 {
			store, kill := killable(shared)
			s, _ := taskServer(t, TaskOptions{Store: store})
			halting(true)(s)
			u := taskUser{t, s, "ann"}
			if n == 0 {
				id = u.call("halting", "{}")
			}
			if n <= maxCrashes {
				u.status(id, mcp.TaskWorking)
			} else if state := u.status(id, mcp.TaskFailed); !strings.Contains(state.Error.Message, "too often") {
				t.Errorf("the state is %s", toJSON(t, state))
			}
			settle()
			kill()
			wait(defaultLease + time.Second)
		}
	})
}

// Close stops what runs, and leaves it to others at once. A task that ends by itself
// meanwhile keeps its result.
func TestCloseLeavesTasksToOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		quick := func(s *Server) {
			AddTool(s, canTask("stubborn"), func(ctx context.Context, _ *Call, _ struct{}) (string, error) {
				<-ctx.Done()
				return "done all the same", nil
			})
		}
		nodes := cluster(t, 2, nil, func(s *Server) { halting(true)(s); quick(s); hosts(s) })
		u := nodes[0]
		id, stubborn, waiting := u.call("halting", "{}"), u.call("stubborn", "{}"), u.call("hosts", "{}")
		settle()
		if err := u.s.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := u.s.Close(t.Context()); err != nil {
			t.Errorf("closed again: %v", err)
		}
		if _, err := u.s.Serve(t.Context(), asks("ann", mcp.MethodCallTool, `{"name":"halting"}`)); err == nil || !strings.Contains(err.Error(), "shutting down") {
			t.Errorf("a new task: %v", err)
		}
		u.status(id, mcp.TaskWorking) // it still answers
		same(t, u.text(stubborn), "done all the same")
		if err := u.update(waiting, map[string]string{"one": `{"name":"A"}`, "two": `{"name":"B"}`}); err != nil {
			t.Fatal(err)
		}
		u.status(waiting, mcp.TaskWorking)

		other := nodes[1]
		wait(defaultLease / 3) // one round
		settle()
		if !other.s.tasks.runsHere(id) {
			t.Error("the other node does not run the task")
		}
		same(t, keys(other.status(waiting, mcp.TaskInputRequired)), "three")

		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := other.s.Close(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("Close that must not wait: %v", err)
		}
	})
}

// What a store does not take fails the task, and says why.
func TestResultsThatAreTooLarge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &small{taskstore.NewMemory()}
		s, _ := taskServer(t, TaskOptions{Store: store})
		large := strings.Repeat("x", 3000)
		AddTool(s, canTask("result"), func(context.Context, *Call, struct{}) (string, error) { return large, nil })
		AddTool(s, canTask("once"), func(ctx context.Context, call *Call, _ struct{}) (string, error) {
			return Once(ctx, call, "k", func(context.Context) (string, error) { return large, nil })
		})
		u := taskUser{t, s, "ann"}
		for tool, want := range map[string]string{"result": "the result of the task is too large to be stored", "once": "a result of Once or Step is too large for the store of tasks"} {
			id := u.call(tool, "{}")
			settle()
			same(t, u.status(id, mcp.TaskFailed).StatusMessage, want)
		}
		_, err := s.Serve(t.Context(), asks("ann", mcp.MethodCallTool, `{"name":"result","arguments":{},"_meta":{"x":"`+large+`"}}`))
		wrongly(t, err, jsonrpc.CodeInvalidParams)
	})
}

// small is a store that does not take much.
type small struct{ taskstore.Store }

func (s *small) Create(ctx context.Context, r taskstore.Record, q taskstore.Quota) (uint64, error) {
	if len(r.Data) > 2000 {
		return 0, taskstore.ErrTooLarge
	}
	return s.Store.Create(ctx, r, q)
}

func (s *small) Save(ctx context.Context, r taskstore.Record) (uint64, error) {
	if len(r.Data) > 2000 {
		return 0, taskstore.ErrTooLarge
	}
	return s.Store.Save(ctx, r)
}

func (s *small) Append(ctx context.Context, id, key string, value []byte) error {
	if len(value) > 2000 {
		return taskstore.ErrTooLarge
	}
	return s.Store.Append(ctx, id, key, value)
}

// A cancellation that comes while a run is about to begin stops it, too.
func TestCancelWhileARunBegins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stopped := make(chan error, 1)
		add := func(s *Server) {
			AddTool(s, canTask("t"), func(ctx context.Context, call *Call, _ struct{}) (string, error) {
				if _, err := Elicit[yes](ctx, call, "q", "?"); err != nil {
					return "", err
				}
				<-ctx.Done()
				stopped <- context.Cause(ctx)
				return "", ctx.Err()
			})
		}
		store := &frail{Store: taskstore.NewMemory()}
		here, _ := taskServer(t, TaskOptions{Store: store})
		there, _ := taskServer(t, TaskOptions{Store: store.Store})
		add(here)
		add(there)
		u, other := taskUser{t, here, "ann"}, taskUser{t, there, "ann"}
		id := u.call("t", "{}")
		settle()
		store.after = func(int) error {
			store.after = nil
			_, err := other.about(mcp.MethodCancelTask, id)
			return err
		}
		if err := u.update(id, map[string]string{"q": `{"yes":true}`}); err != nil {
			t.Fatal(err)
		}
		settle()
		select {
		case cause := <-stopped:
			if !errors.Is(cause, errTaskCancelled) {
				t.Errorf("the handler was told %v", cause)
			}
		default:
			t.Error("the handler still runs")
		}
	})
}
