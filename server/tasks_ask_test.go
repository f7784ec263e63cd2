package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

type name struct {
	Name string `json:"name"`
}

// hosts adds a tool that asks for two names, and then for a third.
func hosts(s *Server) {
	AddTool(s, canTask("hosts"), func(ctx context.Context, call *Call, _ struct{}) (string, error) {
		answers, err := call.Ask(ctx, Form[name]("one", "Who?"), Form[name]("two", "And who?"))
		if err != nil {
			return "", err
		}
		one, err := Answer[name](answers, "one")
		if err != nil {
			return "", err
		}
		two, err := Answer[name](answers, "two")
		if err != nil {
			return "", err
		}
		three, err := Elicit[name](ctx, call, "three", "Anybody else?")
		return one.Name + two.Name + three.Name, err
	})
}

func keys(state *mcp.TaskState) string {
	var keys []string
	for key := range state.InputRequests {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return strings.Join(keys, " ")
}

// Spec: ext-tasks/draft tasks#task-update-requests.
// Spec: 2025-11-25 basic/utilities/tasks#input-required-status.
func TestTaskAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := taskServer(t, TaskOptions{})
		hosts(s)
		u := taskUser{t, s, "ann"}
		id := u.call("hosts", "{}")
		settle()
		state := u.status(id, mcp.TaskInputRequired)
		same(t, keys(state), "one two")
		if q := state.InputRequests["two"]; q.Method != mcp.MethodElicit || q.Task != id || !strings.Contains(toJSON(t, q.Params), "And who?") {
			t.Errorf("the question is %s", toJSON(t, q))
		}
		s.tasks.mu.Lock()
		if len(s.tasks.runs) > 0 {
			t.Error("a task that waits for an answer has a run")
		}
		s.tasks.mu.Unlock()

		_, err := s.Serve(t.Context(), asks("ann", mcp.MethodUpdateTask, `{"taskId":"`+id+`","inputResponses":{"one":{"action":"accept","content":{"name":"x"}},"two":7}}`))
		wrongly(t, err, jsonrpc.CodeInvalidParams)
		same(t, keys(u.status(id, mcp.TaskInputRequired)), "one two") // nothing of it counts

		for _, answers := range []map[string]string{{"two": `{"name":"B"}`}, {"two": `{"name":"late"}`, "three": `{"name":"early"}`, "other": `{}`}} {
			if err := u.update(id, answers); err != nil {
				t.Fatal(err)
			}
			settle()
			same(t, keys(u.status(id, mcp.TaskInputRequired)), "one")
		}
		if err := u.update(id, map[string]string{"one": `{"name":"A"}`}); err != nil {
			t.Fatal(err)
		}
		settle()
		same(t, keys(u.status(id, mcp.TaskInputRequired)), "three")
		if err := u.update(id, map[string]string{"three": `{"name":"C"}`}); err != nil {
			t.Fatal(err)
		}
		same(t, u.text(id), "ABC")
		if err := u.update(id, map[string]string{"three": `{"name":"D"}`}); err != nil {
			t.Fatal(err)
		}
		same(t, u.text(id), "ABC")
	})
}

// Spec: ext-tasks/draft tasks#task-update-requests.
// A key is not used again, even if the handler asks again under its own.
func TestKeysOfQuestionsAreUsedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := taskServer(t, TaskOptions{})
		ask := func(state string) error {
			return &mcp.InputRequired{State: json.RawMessage(state), Requests: []mcp.InputRequest{{Key: "k", Method: mcp.MethodElicit, Params: json.RawMessage(`{"message":"?"}`)}}}
		}
		AddTool(s, canTask("again"), func(_ context.Context, call *Call, _ struct{}) (string, error) {
			x := call.Exchange()
			if x.State == nil {
				return "", ask("1")
			}
			if string(x.Answers["k"]) != `{"action":"accept","content":{"ok":true}}` {
				return "", ask(string(x.State) + "1")
			}
			return string(x.State), nil
		})
		u := taskUser{t, s, "ann"}
		id := u.call("again", "{}")
		for _, key := range []string{"k", "k (2)", "k (3)"} {
			settle()
			same(t, keys(u.status(id, mcp.TaskInputRequired)), key)
			ok := fmt.Sprintf(`{"ok":%t}`, key == "k (3)")
			if err := u.update(id, map[string]string{key: ok, "k": ok}); err != nil {
				t.Fatal(err)
			}
		}
		same(t, u.text(id), "111")
	})
}

// A client that cannot be asked fails the task, with the code that says so.
func TestTaskAsksAClientThatCannotAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := taskServer(t, TaskOptions{})
		hosts(s)
		x := asks("ann", mcp.MethodCallTool, `{"name":"hosts"}`)
		x.Peer.Capabilities.Elicitation = nil
		result, err := s.Serve(t.Context(), x)
		if err != nil {
			t.Fatal(err)
		}
		settle()
		state := taskUser{t, s, "ann"}.status(result.(*mcp.CreateTaskResult).ID, mcp.TaskFailed)
		if state.Error.Code != mcp.CodeMissingCapability || !strings.Contains(string(state.Error.Data), `"requiredCapabilities":{"elicitation":{"form":{}}}`) {
			t.Errorf("the state is %s", toJSON(t, state))
		}
	})
}

// A question that the handler keeps to itself fails the task, as it fails a call.
func TestTaskDropsItsQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, log := taskServer(t, TaskOptions{})
		AddTool(s, canTask("t"), func(ctx context.Context, call *Call, _ struct{}) (string, error) {
			_, _ = Elicit[yes](ctx, call, "q", "?")
			return "who needs answers", nil
		})
		u := taskUser{t, s, "ann"}
		id := u.call("t", "{}")
		settle()
		if state := u.status(id, mcp.TaskFailed); state.Error.Message != "internal error" || !strings.Contains(log.String(), "dropped the *mcp.InputRequired") {
			t.Errorf("the state is %s", toJSON(t, state))
		}
	})
}

// Without a way back there is no exchange to wait in.
func TestTaskWithoutAWayBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := taskServer(t, TaskOptions{After: time.Hour})
		hosts(s)
		x := asks("ann", mcp.MethodCallTool, `{"name":"hosts"}`)
		x.Back = nil
		result, err := s.Serve(t.Context(), x)
		if err != nil {
			t.Fatal(err)
		}
		settle()
		taskUser{t, s, "ann"}.status(result.(*mcp.CreateTaskResult).ID, mcp.TaskInputRequired)
	})
}

// sessionBack is the way back of an exchange in a session: questions wait there.
type sessionBack struct {
	fakeBack
	asked   chan []mcp.InputRequest
	answers chan any // json.RawMessage or error
}

func (b *sessionBack) Input(ctx context.Context, questions ...mcp.InputRequest) ([]json.RawMessage, error) {
	b.asked <- questions
	var raws []json.RawMessage
	for range questions {
		select {
		case a := <-b.answers:
			if err, failed := a.(error); failed {
				return make([]json.RawMessage, len(questions)), err
			}
			raws = append(raws, a.(json.RawMessage))
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return raws, nil
}

// refusal is an error of the client.
type refusal struct{}

func (refusal) Error() string { return "the client answered with an error: not now" }
func (refusal) Refused()      {}

// result waits for the result of a task in a session, and sends its text or the error.
func (u taskUser) result(id string, back mcp.Backchannel) <-chan string {
	x := asks(u.who, mcp.MethodTaskResult, `{"taskId":"`+id+`"}`)
	x.Back = back
	got := make(chan string, 1)
	go func() { // ends when the task does
		result, err := u.s.Serve(u.t.Context(), x)
		if err != nil {
			got <- err.Error()
			return
		}
		got <- textOf(u.t, json.RawMessage(toJSON(u.t, result)))
	}()
	return got
}

func newSessionBack() *sessionBack {
	return &sessionBack{asked: make(chan []mcp.InputRequest, 9), answers: make(chan any, 9)}
}

// Spec: 2025-11-25 basic/utilities/tasks#result-retrieval.
// Spec: 2025-11-25 basic/utilities/tasks#input-required-status.
func TestTaskResultAsks(t *testing.T) {
	accept := json.RawMessage(`{"action":"accept","content":{"name":"x"}}`)
	t.Run("and waits", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s, _ := taskServer(t, TaskOptions{})
			hosts(s)
			u, back, other := taskUser{t, s, "ann"}, newSessionBack(), newSessionBack()
			id := u.call("hosts", "{}")
			settle()
			got := u.result(id, back)
			settle()
			also := u.result(id, other)
			if qs := <-back.asked; len(qs) != 2 || qs[0].Task != id {
				t.Errorf("asked %s", toJSON(t, qs))
			}
			wait(time.Minute)
			if len(other.asked) > 0 {
				t.Error("the questions were asked twice")
			}
			for range 3 {
				back.answers <- accept
				other.answers <- accept
			}
			same(t, <-got, "xxx")
			same(t, <-also, "xxx")
		})
	})
	t.Run("and is refused", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s, _ := taskServer(t, TaskOptions{})
			hosts(s)
			u, back := taskUser{t, s, "ann"}, newSessionBack()
			back.answers <- refusal{}
			same(t, <-u.result(u.call("hosts", "{}"), back), refusal{}.Error())
		})
	})
	t.Run("and loses the client", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s, _ := taskServer(t, TaskOptions{})
			hosts(s)
			u, back := taskUser{t, s, "ann"}, newSessionBack()
			id := u.call("hosts", "{}")
			back.answers <- errors.New("the wire was cut")
			<-u.result(id, back)
			same(t, keys(u.status(id, mcp.TaskInputRequired)), "one two") // the questions are still open
		})
	})
	t.Run("and withdraws the questions", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s, _ := taskServer(t, TaskOptions{})
			hosts(s)
			u, back := taskUser{t, s, "ann"}, newSessionBack()
			id := u.call("hosts", "{}")
			got := u.result(id, back)
			<-back.asked
			if _, err := u.about(mcp.MethodCancelTask, id); err != nil {
				t.Fatal(err)
			}
			if said := <-got; !strings.Contains(said, "was cancelled") {
				t.Errorf("tasks/result says %q", said)
			}
		})
	})
}

// Spec: 2025-11-25 basic/utilities/tasks#task-progress-notifications.
// Spec: ext-tasks/draft tasks#task-status-notifications.
// Progress and logs of a task go to the session that asked for it, and nowhere else.
func TestNotificationsOfTasks(t *testing.T) {
	for _, session := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := New(mcp.Implementation{Name: "test", Version: "1"}, &Options{Logger: quiet(), Logging: true})
			AddTool(s, canTask("t"), func(ctx context.Context, call *Call, _ struct{}) (string, error) {
				call.Progress(ctx, 1, 2, "")
				call.Log(ctx, mcp.LevelInfo, "hello")
				_, err := Elicit[name](ctx, call, "k", "?")
				return "", err
			})
			x := asks("ann", mcp.MethodCallTool, `{"name":"t"}`)
			x.Task = &mcp.TaskOffer{Demanded: session}
			x.ProgressToken, x.Peer.SessionID = jsonrpc.StringID("tok"), "s1"
			back := &fakeBack{level: mcp.LevelDebug}
			x.Back = back
			result, err := s.Serve(t.Context(), x)
			if err != nil {
				t.Fatal(err)
			}
			settle()
			waiting := newSessionBack()
			waiting.level = mcp.LevelDebug
			wx := asks("ann", mcp.MethodTaskResult, `{"taskId":"`+result.(*mcp.CreateTaskResult).ID+`"}`)
			wx.Back, wx.Peer.SessionID = waiting, "s1"
			waiting.answers <- json.RawMessage(`{"action":"accept","content":{"name":"x"}}`)
			if _, err := s.Serve(t.Context(), wx); err != nil {
				t.Fatal(err)
			}
			want := 0
			if session {
				want = 1
			}
			// The second run has the second way, and its progress is none: the client knows.
			for i, b := range []*fakeBack{back, &waiting.fakeBack} {
				if p, l := b.of(t, mcp.NoteProgress), b.of(t, mcp.NoteMessage); len(p) != want*(1-i) || len(l) != want {
					t.Errorf("session %t, run %d: notified of %v and %v", session, i+1, p, l)
				}
			}
		})
	}
}

// after returns a server with a tool that asks, does something once, works for a
// while, and does that again.
func after(t *testing.T, d time.Duration, w *world, steps func(ctx context.Context, call *Call) error) taskUser {
	s, _ := taskServer(t, TaskOptions{After: d})
	AddTool(s, canTask("t"), func(ctx context.Context, call *Call, _ struct{}) (string, error) {
		who, err := Elicit[name](ctx, call, "who", "Who?")
		if err != nil {
			return "", err
		}
		does := func(key string) error {
			_, err := Once(ctx, call, key, func(context.Context) (string, error) { return w.does(key) })
			return err
		}
		if err := does("before"); err != nil {
			return "", err
		}
		if err := steps(ctx, call); err != nil {
			return "", err
		}
		if err := does("after"); err != nil {
			return "", err
		}
		_, err = Elicit[yes](ctx, call, "sure", "Sure?")
		return who.Name, err
	}, Resumable())
	return taskUser{t, s, "ann"}
}

func works(d time.Duration) func(context.Context, *Call) error {
	return func(ctx context.Context, _ *Call) error {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Spec: ext-tasks/draft tasks#task-creation.
// A call that ends, or asks, soon is no task. One that takes long becomes one, and
// knows what it learnt before.
func TestCallsBecomeTasks(t *testing.T) {
	start := func(ctx context.Context, call *Call) error { return call.StartTask(ctx) }
	for _, tt := range []struct {
		name  string
		after time.Duration
		steps func(context.Context, *Call) error
		task  bool
	}{
		{"short", time.Second, works(time.Millisecond), false},
		{"long", time.Second, works(time.Minute), true},
		{"never", -1, works(time.Minute), false},
		{"by itself", -1, start, true},
		{"by itself, earlier", time.Minute, start, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &world{}
				u := after(t, tt.after, w, tt.steps)
				round := func(back *fakeBack) (any, string) {
					x := asks("ann", mcp.MethodCallTool, `{"name":"t"}`)
					x.Back = back
					result, err := u.s.Serve(t.Context(), x)
					ask, asks := errors.AsType[*mcp.InputRequired](err)
					if asks {
						return nil, ask.Requests[0].Key
					}
					if err != nil {
						t.Fatal(err)
					}
					return result, ""
				}
				back := &fakeBack{}
				if _, asked := round(back); asked != "who" {
					t.Fatalf("asked %q", asked)
				}
				back.answers = map[string]json.RawMessage{"who": json.RawMessage(`{"action":"accept","content":{"name":"Alice"}}`)}
				result, asked := round(back)
				if created, ok := result.(*mcp.CreateTaskResult); ok != tt.task {
					t.Fatalf("the answer is %v, asked %q", result, asked)
				} else if ok {
					wait(2 * time.Minute)
					u.status(created.ID, mcp.TaskInputRequired)
					if err := u.update(created.ID, map[string]string{"sure": `{"yes":true}`}); err != nil {
						t.Fatal(err)
					}
					wait(2 * time.Minute)
					same(t, u.text(created.ID), "Alice")
				} else {
					same(t, asked, "sure")
				}
				if w.effects["before"] != 1 || w.effects["after"] != 1 {
					t.Errorf("effects: %v", w.effects)
				}
			})
		})
	}
}

// A call ends with its exchange, unless it has become a task.
func TestCallsThatAreNoTasksEndWithTheirExchange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := taskServer(t, TaskOptions{After: time.Minute})
		AddTool(s, canTask("t"), func(ctx context.Context, call *Call, _ struct{}) (string, error) {
			<-ctx.Done()
			if err := call.StartTask(context.WithoutCancel(ctx)); err == nil {
				t.Error("the call became a task after its end")
			}
			return "", ctx.Err()
		})
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		if _, err := s.Serve(ctx, asks("ann", mcp.MethodCallTool, `{"name":"t"}`)); !errors.Is(err, context.Canceled) {
			t.Errorf("the error is %v", err)
		}
	})
}

// Once is running when the call becomes a task, and the process dies then: what ran is
// not repeated.
func TestOnceRunsWhileTheCallBecomesATask(t *testing.T) {
	for _, dies := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			w := &world{}
			add := func(s *Server) {
				AddTool(s, canTask("t"), func(ctx context.Context, call *Call, _ struct{}) (string, error) {
					return Once(ctx, call, "long", func(context.Context) (string, error) {
						wait(time.Minute)
						return w.does("long")
					})
				}, Resumable(), TaskAfter(time.Second))
			}
			first, _ := taskServer(t, TaskOptions{})
			store := &frail{Store: first.opts.Tasks.Store}
			begin := time.Now()
			store.reading = func() error {
				if dies && time.Since(begin) > 30*time.Second {
					return errDead
				}
				return nil
			}
			store.before = func(int) error { return store.reading() }
			second, _ := taskServer(t, TaskOptions{Store: store})
			add(first)
			add(second)
			id := taskUser{t, second, "ann"}.call("t", "{}")
			wait(5 * time.Minute)
			u := taskUser{t, first, "ann"}
			if w.effects["long"] != 1 {
				t.Errorf("it happened %d times", w.effects["long"])
			}
			if !dies {
				same(t, u.text(id), "long")
			} else if state := u.status(id, mcp.TaskFailed); !strings.Contains(state.StatusMessage, "was interrupted") {
				t.Errorf("the state is %s", toJSON(t, state))
			}
		})
	}
}

// Errors of what is given to Once are not kept, and it may be tried again, also in a
// later run.
func TestOnceFailsInATask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := taskServer(t, TaskOptions{})
		tries := 0
		AddTool(s, canTask("t"), func(ctx context.Context, call *Call, _ struct{}) (string, error) {
			try := func() (string, error) {
				return Once(ctx, call, "k", func(context.Context) (string, error) {
					if tries++; tries < 3 {
						return "", errors.New("not yet")
					}
					return fmt.Sprint(tries), nil
				})
			}
			_, _ = try()
			if _, err := Elicit[yes](ctx, call, "q", "?"); err != nil {
				return "", err
			}
			return try()
		})
		u := taskUser{t, s, "ann"}
		id := u.call("t", "{}")
		settle()
		if err := u.update(id, map[string]string{"q": `{"yes":true}`}); err != nil {
			t.Fatal(err)
		}
		same(t, u.text(id), "3")
	})
}

// The exchange that makes a task passes the middleware, and so do later runs.
func TestMiddlewareOfTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := taskServer(t, TaskOptions{})
		hosts(s)
		var calls atomic.Int32
		s.Use(func(next mcp.ServeFunc) mcp.ServeFunc {
			return func(ctx context.Context, x *mcp.Exchange) (any, error) {
				if x.Method == mcp.MethodCallTool {
					calls.Add(1)
					if x.Peer.Principal != "ann" || x.Peer.Revision != mcp.Revision20260728 || x.Peer.Capabilities.Elicitation == nil {
						t.Errorf("call by %+v", x.Peer)
					}
				}
				return next(ctx, x)
			}
		})
		u := taskUser{t, s, "ann"}
		id := u.call("hosts", "{}")
		settle()
		if err := u.update(id, map[string]string{"one": `{"name":"A"}`, "two": `{"name":"B"}`}); err != nil {
			t.Fatal(err)
		}
		settle()
		if n := calls.Load(); n != 2 {
			t.Errorf("the middleware saw %d calls, want 2", n)
		}
		s.RemoveTools("hosts")
		if err := u.update(id, map[string]string{"three": `{"name":"C"}`}); err != nil {
			t.Fatal(err)
		}
		settle()
		if state := u.status(id, mcp.TaskFailed); state.StatusMessage != `unknown tool: "hosts"` {
			t.Errorf("the state is %s", toJSON(t, state))
		}
	})
}

// A task that waits for an answer needs no goroutine.
func TestWaitingTasksHaveNoGoroutines(t *testing.T) {
	const many = 10_000
	s, _ := taskServer(t, TaskOptions{PerPrincipal: -1})
	hosts(s)
	u := taskUser{t, s, "ann"}
	before := runtime.NumGoroutine()
	var last string
	for range many {
		last = u.call("hosts", "{}")
	}
	s.tasks.going.Wait()
	u.status(last, mcp.TaskInputRequired)
	if extra := runtime.NumGoroutine() - before; extra > 5 {
		t.Errorf("%d waiting tasks have %d goroutines", many, extra)
	}
}

// BenchmarkWaitingTask reports what a task takes in memory that waits for an answer.
func BenchmarkWaitingTask(b *testing.B) {
	s := New(mcp.Implementation{Name: "bench", Version: "1"}, &Options{Logger: quiet(), ToolRate: mcp.Rate{PerSecond: -1}, Tasks: TaskOptions{PerPrincipal: -1, Total: -1}})
	hosts(s)
	heap := func() uint64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapInuse + m.StackInuse
	}
	before := heap()
	for b.Loop() {
		if _, err := s.Serve(b.Context(), asks("ann", mcp.MethodCallTool, `{"name":"hosts"}`)); err != nil {
			b.Fatal(err)
		}
	}
	s.tasks.going.Wait()
	b.ReportMetric(float64(heap()-before)/float64(b.N), "B/waiting-task")
	runtime.KeepAlive(s)
}
