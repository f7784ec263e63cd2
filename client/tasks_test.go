package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
)

// Spec: ext-tasks/draft tasks#backwards-compatibility.
// Spec: 2025-11-25 basic/utilities/tasks#tool-level-negotiation.
// A call that becomes a task takes until the task has ended.
func TestCallFollowsItsTask(t *testing.T) {
	withTasks(t, func() *fakeTasks { return new(fakeTasks) }, client.Options{}, func(t *testing.T, c *client.Client, f *fakeTasks, _ mcptest.Mode) {
		type out struct {
			Sum int `json:"sum"`
		}
		got, err := client.Call[out](t.Context(), c, "work", nil)
		if err != nil || got.Sum != 3 {
			t.Fatalf("got %+v, %v", got, err)
		}
		if want := []time.Duration{time.Second, 2 * time.Second, 3 * time.Second}; len(f.gets) != len(want) {
			t.Errorf("the state was asked for at %v, want %v", f.gets, want)
		}
		if f.count(mcp.MethodCancelTask) != 0 {
			t.Error("a task that has completed was cancelled")
		}
	})
}

// Spec: 2025-11-25 basic/utilities/tasks#tool-level-negotiation.
// Of a tool that was not listed, the client learns from the refusal that it needs a task.
func TestUnlistedToolIsCalledAsATask(t *testing.T) {
	for _, m := range taskModes() {
		if !sessionMode(m) {
			continue
		}
		for name, f := range map[string]*fakeTasks{"listed later": {}, "not listed": {noList: true}} {
			t.Run(m.String()+" "+name, func(t *testing.T) {
				c := mcptest.Connect(t, quick(f), m, nil)
				_, err := c.CallTool(t.Context(), "work", nil)
				var rpc *jsonrpc.Error
				if refused := errors.As(err, &rpc) && rpc.Code == jsonrpc.CodeMethodNotFound; refused != f.noList || !refused && err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// Spec: 2025-11-25 basic/utilities/tasks#tool-level-negotiation.
// Servers of the official SDKs in TypeScript and Python refuse such a call by a failed
// result. One of a tool that can be called plainly is what it seems to be.
func TestUnlistedToolFailsToBeATask(t *testing.T) {
	for _, m := range taskModes() {
		if !sessionMode(m) {
			continue
		}
		for support, calls := range map[mcp.TaskSupport]int{mcp.TaskRequired: 2, mcp.TaskOptional: 1} {
			t.Run(m.String()+" "+string(support), func(t *testing.T) {
				f := quick(&fakeTasks{support: support, plain: func(*mcp.Exchange) (any, error) {
					return &mcp.CallToolResult{IsError: true, Content: mcp.Contents{mcp.Text("MCP error -32601")}}, nil
				}})
				c := mcptest.Connect(t, f, m, nil)
				result, err := c.CallTool(t.Context(), "work", nil)
				if err != nil || result.IsError != (support == mcp.TaskOptional) || f.count(mcp.MethodCallTool) != calls {
					t.Errorf("after %d calls: %+v, %v", f.count(mcp.MethodCallTool), result, err)
				}
			})
		}
	}
}

// quick makes the tasks end at once.
func quick(f *fakeTasks) *fakeTasks {
	f.create = func(*mcp.Exchange) (any, error) {
		task := *working("")
		zero := int64(0)
		task.PollIntervalMs = &zero
		return &mcp.CreateTaskResult{Task: task}, nil
	}
	f.get = func(*fakeTasks, int, time.Duration) (any, error) { return completed(`{"sum":1}`), nil }
	return f
}

// Spec: 2025-11-25 basic/utilities/tasks#tool-level-negotiation.
// A tool that can be called either way becomes a task if that is asked for, and one that
// cannot be a task never does.
func TestWhoAsksForATask(t *testing.T) {
	for _, tt := range []struct {
		support mcp.TaskSupport
		opts    []client.CallOption
		task    bool
		params  string
	}{
		{mcp.TaskOptional, nil, false, ""},
		{mcp.TaskOptional, []client.CallOption{client.WithTask(0)}, true, `"task":{}`},
		{mcp.TaskOptional, []client.CallOption{client.WithTask(time.Minute)}, true, `"task":{"ttl":60000}`},
		{mcp.TaskRequired, nil, true, `"task":{}`},
		{mcp.TaskForbidden, []client.CallOption{client.WithTask(0)}, false, ""},
	} {
		t.Run(string(tt.support)+tt.params, func(t *testing.T) {
			f := quick(&fakeTasks{support: tt.support, plain: func(*mcp.Exchange) (any, error) {
				return &mcp.CallToolResult{StructuredContent: raw(`{"sum":2}`)}, nil
			}})
			var params string
			create := f.create
			f.create = func(x *mcp.Exchange) (any, error) {
				params = string(x.Params)
				return create(x)
			}
			c := mcptest.Connect(t, f, mcptest.Mode{Revision: mcp.Revision20251125}, nil)
			if _, err := client.Collect(c.Tools(t.Context())); err != nil {
				t.Fatal(err)
			}
			if _, err := c.CallTool(t.Context(), "work", nil, tt.opts...); err != nil {
				t.Fatal(err)
			}
			if (params != "") != tt.task || !strings.Contains(params, tt.params) {
				t.Errorf("params of the task: %q", params)
			}
		})
	}
}

// Spec: ext-tasks/draft tasks#capability-negotiation.
// Who does without tasks declares none, and takes none.
func TestDoingWithoutTasks(t *testing.T) {
	withTasks(t, func() *fakeTasks { return new(fakeTasks) }, client.Options{NoTasks: true}, func(t *testing.T, c *client.Client, f *fakeTasks, m mcptest.Mode) {
		_, err := c.CallTool(t.Context(), "work", nil)
		if want := sessionMode(m); err == nil || errors.Is(err, client.ErrTaskRequired) != want {
			t.Errorf("error = %v; ErrTaskRequired: %t", err, want)
		}
		if f.count(mcp.MethodGetTask) != 0 {
			t.Error("a task was followed")
		}
	})
}

// Spec: ext-tasks/draft tasks#capability-negotiation.
// A task where there must be none is an error.
func TestTaskWhereThereMustBeNone(t *testing.T) {
	s := serving(func(context.Context, *mcp.Exchange) (any, error) {
		return raw(`{"resultType":"task","taskId":"t","status":"working"}`), nil
	})
	c := connect(t, s, hop{mcp.Revision20260728, false}, &client.Options{Extensions: map[string]any{"com.example/other": nil}})
	for method, call := range map[string]func() error{
		mcp.MethodGetPrompt:    func() error { _, err := c.GetPrompt(t.Context(), "p", nil); return err },
		mcp.MethodReadResource: func() error { _, err := c.ReadResource(t.Context(), "x:a"); return err },
		mcp.MethodListTools:    func() error { _, err := c.ListTools(t.Context(), nil); return err },
	} {
		if err := call(); err == nil || !strings.Contains(err.Error(), "task") {
			t.Errorf("%s: %v", method, err)
		}
	}
}

// Spec: ext-tasks/draft tasks#task-update-requests.
// Spec: 2025-11-25 basic/utilities/tasks#input-required-status.
// Questions of a task are answered like those of a call, each once, and belong to it.
func TestQuestionsOfATask(t *testing.T) {
	who := &naming{wait: 10 * time.Second}
	var origin client.Origin
	o := client.Options{Elicit: func(ctx context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
		origin = client.OriginOf(ctx)
		return who.elicit(ctx, p)
	}}
	fake := func() *fakeTasks {
		who.asked, origin = nil, client.Origin{}
		return &fakeTasks{get: func(f *fakeTasks, n int, age time.Duration) (any, error) {
			switch {
			case age < 2*time.Second:
				return stateOf(mcp.TaskWorking), nil
			case !f.knows("who"):
				return asking(map[string]string{"who": "Who?"}), nil
			}
			return completed(`{"sum":3}`), nil
		}}
	}
	withTasks(t, fake, o, func(t *testing.T, c *client.Client, f *fakeTasks, m mcptest.Mode) {
		if _, err := c.CallTool(t.Context(), "work", nil); err != nil {
			t.Fatal(err)
		}
		if len(who.asked) != 1 || !strings.Contains(string(f.answers["who"]), "Ada") {
			t.Errorf("asked %v, answered %s", who.asked, f.answers)
		}
		if r := origin.Request; r == nil || r.Method != mcp.MethodCallTool || !strings.Contains(string(r.Params), "work") || origin.Inferred {
			t.Errorf("the question belongs to %+v, inferred %t", r, origin.Inferred)
		}
		if len(f.gets) < 8 {
			t.Errorf("while the user thought, the state was asked for %d times", len(f.gets))
		}
	})
}

// A handle by ID goes on with a task of another client: it answers its questions and
// gets its result.
func TestGoOnWithATask(t *testing.T) {
	who := new(naming)
	fake := func() *fakeTasks {
		who.asked = nil
		return &fakeTasks{get: func(f *fakeTasks, n int, age time.Duration) (any, error) {
			switch {
			case !f.knows("who"):
				return asking(map[string]string{"who": "Who?"}), nil
			case age < 20*time.Second:
				return stateOf(mcp.TaskWorking), nil
			}
			return completed(`{"sum":3}`), nil
		}}
	}
	withTasks(t, fake, client.Options{Elicit: who.elicit}, func(t *testing.T, c *client.Client, f *fakeTasks, m mcptest.Mode) {
		begun, err := c.StartTask(t.Context(), "work", nil)
		if err != nil || begun.ID() != taskID {
			t.Fatalf("started %v, %v", begun, err)
		}
		other := mcptest.Connect(t, f, m, &client.Options{Elicit: who.elicit})
		task := other.Task(begun.ID(), "work")
		s, err := task.Status(t.Context())
		if err != nil || s.Status != mcp.TaskInputRequired || (s.InputRequests["who"] != nil) == sessionMode(m) {
			t.Errorf("status %+v, %v", s, err)
		}
		if err := task.Answer(t.Context()); err != nil {
			t.Fatal(err)
		}
		if s, err := task.Status(t.Context()); err != nil || s.Status != mcp.TaskWorking {
			t.Errorf("after the answer: %+v, %v", s, err)
		}
		r, err := task.Wait(t.Context())
		if err != nil || string(r.StructuredContent) != `{"sum":3}` || len(who.asked) != 1 {
			t.Errorf("result %+v, %v; asked %v", r, err, who.asked)
		}
		if err := task.Cancel(t.Context()); err != nil {
			t.Errorf("cancelling a task that has ended: %v", err)
		}
	})
}

// A server that answers at once makes no task, but the handle is one all the same.
func TestStartOfWhatIsNoTask(t *testing.T) {
	f := &fakeTasks{support: mcp.TaskForbidden}
	f.plain = func(*mcp.Exchange) (any, error) {
		return &mcp.CallToolResult{StructuredContent: raw(`{"sum":"two"}`)}, nil
	}
	f.create = f.plain
	for _, m := range taskModes() {
		t.Run(m.String(), func(t *testing.T) {
			c := mcptest.Connect(t, f, m, nil)
			task, err := c.StartTask(t.Context(), "work", nil)
			if err != nil || task.ID() != "" {
				t.Fatalf("%+v, %v", task, err)
			}
			if s, err := task.Status(t.Context()); err != nil || s.Status != mcp.TaskCompleted || s.Result == nil {
				t.Errorf("status %+v, %v", s, err)
			}
			if err := errors.Join(task.Answer(t.Context()), task.Cancel(t.Context())); err != nil {
				t.Error(err)
			}
			if _, err := client.Collect(c.Tools(t.Context())); err != nil {
				t.Fatal(err)
			}
			var unfit *client.OutputError
			if _, err := task.Wait(t.Context()); !errors.As(err, &unfit) {
				t.Errorf("a result that does not fit the output schema: %v", err)
			}
		})
	}
}

// Spec: ext-tasks/draft tasks#task-execution-errors.
// Spec: 2025-11-25 basic/utilities/tasks#result-retrieval.
// A task that failed gives the error that the call would have given, one that was
// cancelled a TaskError, and a result that does not fit an OutputError.
func TestHowTasksEnd(t *testing.T) {
	for name, tt := range map[string]struct {
		end   func() *mcp.TaskState
		check func(err error) bool
	}{
		"failed": {func() *mcp.TaskState {
			s := stateOf(mcp.TaskFailed)
			s.Error = jsonrpc.Errorf(-31999, "out of paper")
			return s
		}, func(err error) bool {
			var rpc *jsonrpc.Error
			var given *client.TaskError
			return errors.As(err, &rpc) && rpc.Code == -31999 && !errors.As(err, &given) && err.Error() == "tools/call: out of paper (-31999)"
		}},
		"cancelled": {func() *mcp.TaskState { return stateOf(mcp.TaskCancelled) }, func(err error) bool {
			var given *client.TaskError
			return errors.As(err, &given) && given.Task.ID == taskID && !given.Left && errors.Is(err, client.ErrTaskCancelled)
		}},
		"unfit": {func() *mcp.TaskState { return completed(`{"sum":"three"}`) }, func(err error) bool {
			var unfit *client.OutputError
			return errors.As(err, &unfit) && unfit.Tool == "work"
		}},
		"tool failed": {func() *mcp.TaskState {
			s := completed(`{"sum":1}`)
			s.Result, s.ToolFailed = raw(`{"content":[{"type":"text","text":"no"}],"isError":true}`), true
			return s
		}, func(err error) bool {
			var failed *client.ToolError
			return errors.As(err, &failed)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			fake := func() *fakeTasks {
				return &fakeTasks{get: func(*fakeTasks, int, time.Duration) (any, error) { return tt.end(), nil }}
			}
			withTasks(t, fake, client.Options{}, func(t *testing.T, c *client.Client, f *fakeTasks, m mcptest.Mode) {
				_, err := client.Call[json.RawMessage](t.Context(), c, "work", nil)
				if !tt.check(err) {
					t.Errorf("error = %T %v", err, err)
				}
				if f.count(mcp.MethodCancelTask) != 0 {
					t.Error("a task that has ended was cancelled")
				}
			})
		})
	}
}

// Spec: 2025-11-25 basic/utilities/tasks#result-retrieval (4).
// A server that owes the error of a failed task must not make its caller believe that
// the tool has returned nothing.
func TestFailureWithoutItsError(t *testing.T) {
	fake := func() *fakeTasks {
		return &fakeTasks{
			get: func(*fakeTasks, int, time.Duration) (any, error) {
				s := stateOf(mcp.TaskFailed)
				s.StatusMessage = "out of paper"
				return s, nil
			},
			result: func(context.Context, *fakeTasks, *mcp.Exchange) (any, error) { return &mcp.CallToolResult{}, nil },
		}
	}
	withTasks(t, fake, client.Options{}, func(t *testing.T, c *client.Client, f *fakeTasks, m mcptest.Mode) {
		result, err := c.CallTool(t.Context(), "work", nil)
		var given *client.TaskError
		if !errors.As(err, &given) || given.Left || given.Task.Status != mcp.TaskFailed || !strings.Contains(err.Error(), "out of paper") {
			t.Errorf("result = %+v, error = %T %v", result, err, err)
		}
	})
}

// When the caller gives up, the task is cancelled, or left if that is wanted; the
// error names it in both cases.
func TestGivingUp(t *testing.T) {
	forever := func() *fakeTasks {
		return &fakeTasks{get: func(*fakeTasks, int, time.Duration) (any, error) { return stateOf(mcp.TaskWorking), nil }}
	}
	withTasks(t, forever, client.Options{}, func(t *testing.T, c *client.Client, f *fakeTasks, m mcptest.Mode) {
		for _, left := range []bool{true, false} {
			for name, opts := range map[string][]client.CallOption{"context": nil, "limit": {client.WithMaxTimeout(time.Minute)}} {
				f.end(false)
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
				want := client.ErrTimeout
				if name == "context" {
					want = context.DeadlineExceeded
				}
				if left {
					opts = append(opts, client.WithTaskLeft())
				}
				begin := time.Now()
				_, err := c.CallTool(ctx, "work", nil, opts...)
				cancel()
				var given *client.TaskError
				if !errors.As(err, &given) || given.Task.ID != taskID || given.Left != left || f.isEnded() == left || !errors.Is(err, want) {
					t.Errorf("left %t by %s: error = %v; cancelled %t", left, name, err, f.isEnded())
				}
				if took := time.Since(begin); name == "limit" && took != time.Minute || took > 6*time.Minute {
					t.Errorf("left %t by %s: it took %v", left, name, took)
				}
			}
		}
	})
}

// A server that does not answer the request to cancel does not hold up the caller.
func TestGivingUpOnADeafServer(t *testing.T) {
	deaf := func() *fakeTasks {
		return &fakeTasks{
			get:    func(*fakeTasks, int, time.Duration) (any, error) { return stateOf(mcp.TaskWorking), nil },
			cancel: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
		}
	}
	withTasks(t, deaf, client.Options{}, func(t *testing.T, c *client.Client, f *fakeTasks, m mcptest.Mode) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		begin := time.Now()
		_, err := c.CallTool(ctx, "work", nil)
		var given *client.TaskError
		if took := time.Since(begin); !errors.As(err, &given) || !given.Left || took != time.Minute+5*time.Second {
			t.Errorf("after %v: %v", took, err)
		}
	})
}

// Spec: 2025-11-25 basic/utilities/tasks#listing-tasks.
// A list of tasks exists in sessions only, and elsewhere the error says so.
func TestListOfTasks(t *testing.T) {
	withTasks(t, func() *fakeTasks { return new(fakeTasks) }, client.Options{}, func(t *testing.T, c *client.Client, f *fakeTasks, m mcptest.Mode) {
		tasks, err := client.Collect(c.Tasks(t.Context()))
		if sessionMode(m) {
			if err != nil || len(tasks) != 1 || tasks[0].ID != taskID {
				t.Errorf("%+v, %v", tasks, err)
			}
			return
		}
		if !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), "remember") {
			t.Errorf("error = %v", err)
		}
	})
}

// A list that ends with an empty cursor has ended.
func TestListOfTasksThatEndsWithAnEmptyCursor(t *testing.T) {
	f := new(fakeTasks)
	c := mcptest.Connect(t, f, mcptest.Mode{Revision: mcp.Revision20251125}, nil)
	f.list = raw(`{"tasks":[{"taskId":"a","status":"working"}],"nextCursor":""}`)
	if tasks, err := client.Collect(c.Tasks(t.Context())); err != nil || len(tasks) != 1 || f.count(mcp.MethodListTasks) != 1 {
		t.Errorf("%+v, %v after %d requests", tasks, err, f.count(mcp.MethodListTasks))
	}
}

// Spec: ext-tasks/draft tasks#protocol-errors.
// A task that the server does not know is not found, however it is asked for.
func TestUnknownTask(t *testing.T) {
	withTasks(t, func() *fakeTasks { return new(fakeTasks) }, client.Options{}, func(t *testing.T, c *client.Client, f *fakeTasks, m mcptest.Mode) {
		task := c.Task("task-2", "")
		_, status := task.Status(t.Context())
		_, wait := task.Wait(t.Context())
		for what, err := range map[string]error{"status": status, "wait": wait, "answer": task.Answer(t.Context()), "cancel": task.Cancel(t.Context())} {
			if !errors.Is(err, client.ErrNotFound) {
				t.Errorf("%s: %v", what, err)
			}
		}
		var given *client.TaskError
		if !errors.As(wait, &given) || given.Task.ID != "task-2" || given.Left {
			t.Errorf("wait: %+v", wait)
		}
	})
}
