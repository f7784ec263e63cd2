package client_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
)

// Spec: ext-tasks/draft tasks#task-polling.
// The server says how often it is asked for the state, within bounds, and may change
// its mind.
func TestPollInterval(t *testing.T) {
	const ms = time.Millisecond
	for name, tt := range map[string]struct {
		says []int64
		want []time.Duration // between two requests
	}{
		"changing":   {[]int64{2000, 500, 30_000, 700}, []time.Duration{500 * ms, 30 * time.Second, 700 * ms}},
		"none":       {[]int64{0, 0}, []time.Duration{100 * ms}},
		"negative":   {[]int64{-1, math.MinInt64, 1000}, []time.Duration{time.Second, time.Second}},
		"huge":       {[]int64{math.MaxInt64, math.MaxInt64}, []time.Duration{5 * time.Minute}},
		"not stated": {[]int64{noInterval, noInterval}, []time.Duration{time.Second}},
	} {
		t.Run(name, func(t *testing.T) {
			fake := func() *fakeTasks {
				return &fakeTasks{get: func(_ *fakeTasks, n int, _ time.Duration) (any, error) {
					if n > len(tt.says) {
						return completed(`{}`), nil
					}
					s := stateOf(mcp.TaskWorking)
					if says := tt.says[n-1]; says != noInterval {
						s.PollIntervalMs = &says
					}
					return s, nil
				}}
			}
			withTasks(t, fake, client.Options{}, func(t *testing.T, c *client.Client, f *fakeTasks, m mcptest.Mode) {
				if _, err := c.CallTool(t.Context(), "work", nil); err != nil {
					t.Fatal(err)
				}
				for i, want := range tt.want {
					// The first interval is that of the task when it was made.
					if got := f.gets[i+1] - f.gets[i]; i > 0 && got != tt.want[i-1] && got != want {
						t.Errorf("request %d came after %v, want %v; all: %v", i+2, got, want, f.gets)
					}
				}
			})
		})
	}
}

const noInterval = 42

// A server that breaks the rules of tasks gets an error that says how, in bounded
// time, and its task is cancelled.
func TestTasksAgainstTheRules(t *testing.T) {
	for name, tt := range map[string]struct {
		create func(*mcp.Exchange) (any, error)
		get    func(f *fakeTasks, n int, age time.Duration) (any, error)
		want   string
		only   func(m mcptest.Mode) bool
	}{
		"another ID": {get: func(*fakeTasks, int, time.Duration) (any, error) {
			s := stateOf(mcp.TaskWorking)
			s.ID = "task-9"
			return s, nil
		}, want: "another task"},
		"no ID": {create: func(*mcp.Exchange) (any, error) { return &mcp.CreateTaskResult{Task: mcp.Task{Status: "working"}}, nil }, want: "no taskId"},
		"no status": {get: func(*fakeTasks, int, time.Duration) (any, error) {
			s := stateOf("")
			return s, nil
		}, want: "no status"},
		"no result": {get: func(*fakeTasks, int, time.Duration) (any, error) {
			return stateOf(mcp.TaskCompleted), nil
		}, want: "no result", only: noSession},
		"no error": {get: func(*fakeTasks, int, time.Duration) (any, error) {
			s := stateOf(mcp.TaskFailed)
			s.StatusMessage = "broken"
			return s, nil
		}, want: `"broken"`, only: noSession},
		"never after its time": {get: func(*fakeTasks, int, time.Duration) (any, error) {
			s := stateOf(mcp.TaskWorking)
			ttl := int64(90_500)
			s.TTLMs = &ttl
			return s, nil
		}, want: "no longer usable: its time of 1m30.5s is over"},
		"gone": {get: func(_ *fakeTasks, n int, _ time.Duration) (any, error) {
			if n > 2 {
				return nil, mcp.InvalidParams("task has expired")
			}
			return stateOf(mcp.TaskWorking), nil
		}, want: "expired"},
		"fails again and again": {get: func(*fakeTasks, int, time.Duration) (any, error) {
			return nil, jsonrpc.Errorf(jsonrpc.CodeInternalError, "out of memory")
		}, want: "out of memory"},
		"a key for two questions": {get: func(f *fakeTasks, n int, _ time.Duration) (any, error) {
			if f.knows("q") {
				return asking(map[string]string{"q": "And your password?"}), nil
			}
			return asking(map[string]string{"q": "Who?"}), nil
		}, want: `another question under the key "q"`, only: noSession},
		"questions without end": {get: func(f *fakeTasks, n int, _ time.Duration) (any, error) {
			return asking(map[string]string{strings.Repeat("q", n): "Who?"}), nil
		}, want: "more than 16 times", only: noSession},
		"questions by the thousand": {get: func(f *fakeTasks, n int, _ time.Duration) (any, error) {
			all := map[string]string{}
			for i := range 1000 {
				all[strings.Repeat("q", i+1)] = "Who?"
			}
			return asking(all), nil
		}, want: "1000 questions at once", only: noSession},
	} {
		t.Run(name, func(t *testing.T) {
			who := new(naming)
			fake := func() *fakeTasks { return &fakeTasks{create: tt.create, get: tt.get} }
			withTasks(t, fake, client.Options{Elicit: who.elicit}, func(t *testing.T, c *client.Client, f *fakeTasks, m mcptest.Mode) {
				if tt.only != nil && !tt.only(m) {
					t.Skip("this rule is one of the other era")
				}
				begin := time.Now()
				_, err := c.CallTool(t.Context(), "work", nil)
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("error = %v, want %q", err, tt.want)
				}
				if took := time.Since(begin); took > 5*time.Minute {
					t.Errorf("it took %v", took)
				}
				var given *client.TaskError
				if tt.create == nil && !errors.As(err, &given) {
					t.Errorf("error = %T", err)
				}
				if given != nil && !given.Task.Status.Final() && !errors.Is(err, client.ErrNotFound) && !f.isEnded() {
					t.Error("the task was left running")
				}
			})
		})
	}
}

func noSession(m mcptest.Mode) bool { return !sessionMode(m) }

// Spec: ext-tasks/draft tasks#task-update-requests.
// A server that takes no part of the answers gets all of them in the end; one that
// forgets them gets them again.
func TestServersThatAreSlowToUnderstand(t *testing.T) {
	both := map[string]string{"a": "First?", "b": "Second?"}
	for name, update := range map[string]func(f *fakeTasks, n int, answers map[string]json.RawMessage) error{
		"refuses a part": func(_ *fakeTasks, _ int, answers map[string]json.RawMessage) error {
			if len(answers) < 2 {
				return mcp.InvalidParams("all or nothing")
			}
			return nil
		},
		"forgets": func(f *fakeTasks, n int, answers map[string]json.RawMessage) error {
			if n < 3 {
				clear(answers)
			}
			return nil
		},
		"is ill": func(f *fakeTasks, n int, answers map[string]json.RawMessage) error {
			if n < 4 {
				return jsonrpc.Errorf(jsonrpc.CodeInternalError, "try again")
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				updates := 0
				f := &fakeTasks{get: func(f *fakeTasks, n int, _ time.Duration) (any, error) {
					if f.knows("a") && f.knows("b") {
						return completed(`{"sum":1}`), nil
					}
					return asking(both), nil
				}}
				f.update = func(f *fakeTasks, answers map[string]json.RawMessage) error {
					updates++
					return update(f, updates, answers)
				}
				who := new(naming)
				o := &client.Options{Elicit: func(ctx context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
					if p.Message == both["b"] {
						sleep(ctx, 7*time.Second)
					}
					return who.elicit(ctx, p)
				}}
				c := mcptest.Connect(t, f, mcptest.Mode{Revision: mcp.Revision20260728}, o)
				if _, err := c.CallTool(t.Context(), "work", nil); err != nil || len(who.asked) != 2 {
					t.Errorf("%v; asked %v", err, who.asked)
				}
			})
		})
	}
}

// A question that somebody else has answered is withdrawn.
func TestQuestionAnsweredElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeTasks{get: func(f *fakeTasks, n int, age time.Duration) (any, error) {
			if age > 5*time.Second {
				return completed(`{"sum":1}`), nil
			}
			return asking(map[string]string{"q": "Who?"}), nil
		}}
		withdrawn := false
		c := mcptest.Connect(t, f, mcptest.Mode{Revision: mcp.Revision20260728}, &client.Options{Elicit: func(ctx context.Context, _ *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			<-ctx.Done()
			withdrawn = true
			return nil, ctx.Err()
		}})
		if _, err := c.CallTool(t.Context(), "work", nil); err != nil || !withdrawn {
			t.Errorf("%v; withdrawn %t", err, withdrawn)
		}
	})
}

// A question that cannot be answered ends the call, as in a call without a task.
func TestQuestionWithoutAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeTasks{get: func(*fakeTasks, int, time.Duration) (any, error) {
			return asking(map[string]string{"q": "Who?"}), nil
		}}
		c := mcptest.Connect(t, f, mcptest.Mode{Revision: mcp.Revision20260728}, &client.Options{Elicit: func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			return nil, errLocal
		}})
		_, err := c.CallTool(t.Context(), "work", nil)
		if !errors.Is(err, errLocal) || !f.isEnded() {
			t.Errorf("error = %v; cancelled %t", err, f.isEnded())
		}
	})
}

// Spec: 2025-11-25 basic/utilities/tasks#input-required-status.
// A server that does not wait with the result of a task that has a question is asked
// again once the task has ended.
func TestServerThatDoesNotWaitWithTheResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		results := 0
		f := &fakeTasks{get: func(f *fakeTasks, _ int, age time.Duration) (any, error) {
			if age < 10*time.Second {
				return asking(nil), nil
			}
			return completed(`{"sum":1}`), nil
		}}
		f.result = func(context.Context, *fakeTasks, *mcp.Exchange) (any, error) {
			if results++; results == 1 {
				return nil, mcp.InvalidParams("the task has no result yet")
			}
			return resultOf(`{"sum":1}`), nil
		}
		c := mcptest.Connect(t, f, mcptest.Mode{Revision: mcp.Revision20251125}, nil)
		if _, err := client.Collect(c.Tools(t.Context())); err != nil {
			t.Fatal(err)
		}
		if _, err := c.CallTool(t.Context(), "work", nil); err != nil || results != 2 {
			t.Errorf("%v; asked for the result %d times", err, results)
		}
		f.get = func(*fakeTasks, int, time.Duration) (any, error) { return completed(`{}`), nil }
		f.result = func(ctx context.Context, _ *fakeTasks, _ *mcp.Exchange) (any, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		var given *client.TaskError
		if _, err := c.CallTool(t.Context(), "work", nil); !errors.As(err, &given) || !errors.Is(err, client.ErrTimeout) {
			t.Errorf("a result that never comes: %v", err)
		}
	})
}

// Spec: 2025-11-25 basic/utilities/tasks#input-required-status.
// A question that waits for the request for the result is asked in the end, though the
// server, or what stands before it, has failed to serve that request for a while.
func TestResultThatFailsBeforeTheQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		results, answered := 0, false
		f := &fakeTasks{get: func(*fakeTasks, int, time.Duration) (any, error) {
			if !answered {
				return asking(nil), nil
			}
			return completed(`{"sum":1}`), nil
		}}
		f.result = func(ctx context.Context, _ *fakeTasks, x *mcp.Exchange) (any, error) {
			if results++; results <= 3 {
				return nil, jsonrpc.Errorf(jsonrpc.CodeInternalError, "the connection was lost")
			}
			_, err := x.Back.Input(ctx, mcp.InputRequest{Key: "q", Method: mcp.MethodElicit, Params: nameForm("Who?")})
			answered = err == nil
			return resultOf(`{"sum":1}`), err
		}
		who := new(naming)
		c := mcptest.Connect(t, f, mcptest.Mode{Revision: mcp.Revision20251125}, &client.Options{Elicit: who.elicit})
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if _, err := c.CallTool(ctx, "work", nil); err != nil || len(who.asked) != 1 {
			t.Errorf("%v; asked %v, after %d requests for the result", err, who.asked, results)
		}
		results, answered = -1_000_000, false
		if err := c.Task(taskID, "work").Answer(ctx); err == nil || results > -1_000_000+50 {
			t.Errorf("a server that always fails: %v, after %d requests", err, results+1_000_000)
		}
	})
}

// Spec: 2025-11-25 basic/utilities/tasks#task-notifications.
// Spec: ext-tasks/draft tasks#task-status-notifications.
// A notification makes the client ask sooner. What it says is not believed, and a flood
// of them is not a flood of requests.
func TestNotificationsOfTasks(t *testing.T) {
	hour := int64(time.Hour / time.Millisecond)
	fake := func() *fakeTasks {
		return &fakeTasks{listen: true, get: func(_ *fakeTasks, _ int, age time.Duration) (any, error) {
			if age > 30*time.Second {
				return completed(`{"sum":3}`), nil
			}
			s := stateOf(mcp.TaskWorking)
			s.PollIntervalMs = &hour
			return s, nil
		}}
	}
	withTasks(t, fake, client.Options{}, func(t *testing.T, c *client.Client, f *fakeTasks, m mcptest.Mode) {
		f.lie = mcp.NoteTask
		if sessionMode(m) {
			f.lie = mcp.NoteTaskStatus
		}
		begin := time.Now()
		done := make(chan error, 1)
		go func() {
			_, err := c.CallTool(t.Context(), "work", nil)
			done <- err
		}()
		for range 2 {
			sleep(t.Context(), 20*time.Second)
			if _, err := c.Do(t.Context(), "com.example/lie", nil); err != nil {
				t.Error(err)
			}
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
		if took := time.Since(begin); took > time.Minute || len(f.gets) > 10 {
			t.Errorf("it took %v and %d requests", took, len(f.gets))
		}
		synctest.Wait()
		if f.watching > 0 && !sessionMode(m) { // a session watches until it ends
			t.Errorf("%d subscriptions are left", f.watching)
		}
	})
}

// A connection that is lost does not end the following of a task, where the era allows
// for another one.
func TestTaskSurvivesItsConnection(t *testing.T) {
	for _, transport := range []string{mcptest.Memory, mcptest.Lines, mcptest.HTTP} {
		t.Run(transport, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fakeTasks{get: func(f *fakeTasks, _ int, age time.Duration) (any, error) {
					if age > 20*time.Second {
						return completed(`{"sum":3}`), nil
					}
					return stateOf(mcp.TaskWorking), nil
				}}
				tr := &mcptest.Transport{Handler: f, Over: transport, Serve: &mcp.ServeOptions{Logger: mcptest.Quiet()}}
				c, err := client.Connect(t.Context(), tr, &client.Options{Revisions: []mcp.Revision{mcp.Revision20260728}, Logger: mcptest.Quiet()})
				if err != nil {
					t.Fatal(err)
				}
				go func() {
					sleep(t.Context(), 5*time.Second)
					tr.Break()
				}()
				if _, err := c.CallTool(t.Context(), "work", nil); err != nil {
					t.Error(err)
				}
				if err := c.Close(); err != nil {
					t.Error(err)
				}
				tr.Wait()
			})
		})
	}
}

// Where a session is lost with its connection, the error names the task, and another
// client goes on with it.
func TestTaskOfALostSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := new(fakeTasks)
		tr := &mcptest.Transport{Handler: f, Serve: &mcp.ServeOptions{Logger: mcptest.Quiet()}}
		o := &client.Options{Revisions: []mcp.Revision{mcp.Revision20251125}, Logger: mcptest.Quiet()}
		c, err := client.Connect(t.Context(), tr, o)
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			sleep(t.Context(), 1500*time.Millisecond)
			tr.Break()
		}()
		_, err = c.CallTool(t.Context(), "work", nil)
		var given *client.TaskError
		if !errors.As(err, &given) || !given.Left {
			t.Fatalf("error = %v", err)
		}
		_ = c.Close()
		if c, err = client.Connect(t.Context(), tr, o); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Task(given.Task.ID, "work").Wait(t.Context()); err != nil {
			t.Error(err)
		}
		_ = c.Close()
		tr.Wait()
	})
}

// Spec: 2025-11-25 basic/utilities/tasks#task-progress-notifications.
// Progress of a call that is a task is that which the server reports or, without that,
// the status messages of the task.
func TestProgressOfATask(t *testing.T) {
	messages := []string{"reading", "reading", "counting"}
	fake := func() *fakeTasks {
		return &fakeTasks{get: func(_ *fakeTasks, n int, _ time.Duration) (any, error) {
			if n > len(messages) {
				return completed(`{"sum":3}`), nil
			}
			s := stateOf(mcp.TaskWorking)
			s.StatusMessage = messages[n-1]
			return s, nil
		}}
	}
	withTasks(t, fake, client.Options{}, func(t *testing.T, c *client.Client, f *fakeTasks, m mcptest.Mode) {
		var said, states []string
		_, err := c.CallTool(t.Context(), "work", nil,
			client.WithProgress(func(p *mcp.ProgressParams) { said = append(said, p.Message) }),
			client.WithTaskStatus(func(task *mcp.Task) { states = append(states, string(task.Status)+" "+task.StatusMessage) }))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(said, ","); got != "begun,reading,counting" {
			t.Errorf("progress: %s", got)
		}
		if got := strings.Join(states, ","); got != "working begun,working reading,working counting,completed " {
			t.Errorf("states: %s", got)
		}
	})
	withTasks(t, func() *fakeTasks {
		f := fake()
		f.create = func(x *mcp.Exchange) (any, error) {
			_ = x.Back.Notify(t.Context(), mcp.NoteProgress, &mcp.ProgressParams{ProgressToken: x.ProgressToken, Progress: 1, Total: 2, Message: "half"})
			return &mcp.CreateTaskResult{Task: *working("begun")}, nil
		}
		return f
	}, client.Options{}, func(t *testing.T, c *client.Client, f *fakeTasks, m mcptest.Mode) {
		var said []string
		task, err := c.StartTask(t.Context(), "work", nil, client.WithProgress(func(p *mcp.ProgressParams) { said = append(said, p.Message) }))
		if err == nil {
			_, err = task.Wait(t.Context())
		}
		if got := strings.Join(said, ","); err != nil || got != "half" {
			t.Errorf("progress: %s, %v", got, err)
		}
	})
}

// Spec: ext-tasks/draft tasks#tasks.
// Times that a server writes with a decimal point are taken for what they mean.
func TestTimesWithADecimalPoint(t *testing.T) {
	fake := func() *fakeTasks { return &fakeTasks{get: punctual} }
	withTasks(t, fake, client.Options{}, func(t *testing.T, c *client.Client, f *fakeTasks, m mcptest.Mode) {
		c.Use(func(next client.CallFunc) client.CallFunc {
			return func(ctx context.Context, r *client.Request) (json.RawMessage, error) {
				result, err := next(ctx, r)
				result = bytes.ReplaceAll(result, []byte(`:2000`), []byte(`:1999.5`))
				return bytes.ReplaceAll(result, []byte(`:60000`), []byte(`:6e4`)), err
			}
		})
		if _, err := c.CallTool(t.Context(), "work", nil); err != nil {
			t.Fatal(err)
		}
		if len(f.gets) != 2 || f.gets[1]-f.gets[0] != 2*time.Second {
			t.Errorf("the state was asked for after %v, want two times 2s apart", f.gets)
		}
		state, err := c.Task(taskID, "work").Status(t.Context())
		if err != nil || *state.TTLMs != 60_000 {
			t.Errorf("state = %+v, %v", state, err)
		}
	})
}

// punctual is a task that ends with the second look at it, and says how long it is kept.
func punctual(_ *fakeTasks, n int, _ time.Duration) (any, error) {
	s := stateOf(mcp.TaskWorking)
	if n > 1 {
		s = completed(`{"sum":3}`)
	}
	s.TTLMs, s.PollIntervalMs = new(int64(60_000)), new(int64(2000))
	return s, nil
}

// A client that is closed while the state of a task arrives, which has a question, ends
// the call and asks nobody.
func TestQuestionForAClosedClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeTasks{get: func(*fakeTasks, int, time.Duration) (any, error) {
			return asking(map[string]string{"q": "Who?"}), nil
		}}
		c := mcptest.Connect(t, f, mcptest.Mode{Revision: mcp.Revision20260728}, &client.Options{Elicit: func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			t.Error("the user of a client that is closed is asked")
			return nil, errors.New("too late")
		}})
		closed := make(chan error, 1)
		c.Use(func(next client.CallFunc) client.CallFunc {
			return func(ctx context.Context, r *client.Request) (json.RawMessage, error) {
				result, err := next(ctx, r)
				if r.Method == mcp.MethodGetTask {
					go func() { closed <- c.Close() }() // ends with the call
					synctest.Wait()
				}
				return result, err
			}
		})
		if _, err := c.CallTool(t.Context(), "work", nil); !errors.Is(err, client.ErrClosed) {
			t.Errorf("the call ends with %v", err)
		}
		if err := <-closed; err != nil {
			t.Error(err)
		}
	})
}
