package server

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/parley-mcp/parley/internal/related"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// Spec: 2025-11-25 basic/utilities/tasks#tool-level-negotiation.
// Spec: ext-tasks/draft tasks#capability-negotiation.
func TestWhoDecidesOnTasks(t *testing.T) {
	demanded, offered := &mcp.TaskOffer{Demanded: true}, &mcp.TaskOffer{}
	for _, tt := range []struct {
		support mcp.TaskSupport
		offer   *mcp.TaskOffer
		want    string
	}{
		{"", nil, "done"},
		{"", offered, "done"},
		{"", demanded, `tool "t" cannot be called as a task`},
		{mcp.TaskForbidden, demanded, `tool "t" cannot be called as a task`},
		{mcp.TaskOptional, nil, "done"},
		{mcp.TaskOptional, offered, "task"},
		{mcp.TaskOptional, demanded, "task"},
		{mcp.TaskRequired, nil, `tool "t" can only be called as a task`},
		{mcp.TaskRequired, offered, "task"},
		{mcp.TaskRequired, demanded, "task"},
	} {
		s, _ := taskServer(t, TaskOptions{})
		AddTool(s, mcp.Tool{Name: "t", Execution: &mcp.ToolExecution{TaskSupport: tt.support}}, func(context.Context, *Call, struct{}) (string, error) { return "done", nil })
		x := asks("ann", mcp.MethodCallTool, `{"name":"t"}`)
		x.Task = tt.offer
		result, err := s.Serve(t.Context(), x)
		got := "task"
		if r, ok := result.(*mcp.CallToolResult); ok {
			got = r.Content[0].(*mcp.TextContent).Text
		}
		if err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("tool that is %q, offer %+v: got %q, want %q", tt.support, tt.offer, got, tt.want)
		}
	}
}

// Spec: ext-tasks/draft tasks#task-creation.
// Spec: ext-tasks/draft tasks#task-polling.
// Spec: 2025-11-25 basic/utilities/tasks#task-status-lifecycle (1).
func TestTaskIsThereBeforeItsAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, log := taskServer(t, TaskOptions{})
		release := make(chan struct{})
		AddTool(s, canTask("t"), func(context.Context, *Call, struct{}) (string, error) { <-release; return "done", nil })
		u := taskUser{t, s, "ann"}
		begin := time.Now()
		id := u.call("t", "{}")
		state := u.status(id, mcp.TaskWorking)
		at := related.Time(begin)
		if state.CreatedAt != at || state.LastUpdatedAt != at || *state.TTLMs != 3_600_000 || *state.PollIntervalMs != 1000 {
			t.Errorf("the state is %s", toJSON(t, state))
		}
		wait(time.Minute)
		close(release)
		if got := u.text(id); got != "done" {
			t.Errorf("the task says %q", got)
		}
		if state := u.get(id); state.LastUpdatedAt != related.Time(begin.Add(time.Minute)) || state.CreatedAt != at {
			t.Errorf("the state is %s", toJSON(t, state))
		}
		for _, want := range []string{"task created", "task found", "task ended", "owner=ann"} {
			if !strings.Contains(log.String(), want) {
				t.Errorf("the log does not say %q", want)
			}
		}
		if strings.Contains(log.String(), id) {
			t.Error("the log holds the whole ID of a task")
		}
	})
}

// outcomes are handlers by what becomes of their tasks.
func outcomes(s *Server) {
	add := func(name string, h func() (*mcp.CallToolResult, error)) {
		AddTool(s, canTask(name), func(context.Context, *Call, struct{}) (*mcp.CallToolResult, error) { return h() })
	}
	add("fine", func() (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: mcp.Contents{mcp.Text("fine")}}, nil
	})
	add("failing", func() (*mcp.CallToolResult, error) { return nil, errors.New("out of paper") })
	add("wrong", func() (*mcp.CallToolResult, error) { return nil, jsonrpc.Errorf(7, "no such printer") })
	add("panicking", func() (*mcp.CallToolResult, error) { panic("all is lost") })
	add("empty", func() (*mcp.CallToolResult, error) { return nil, nil })
}

// Spec: 2025-11-25 basic/utilities/tasks#task-execution-errors.
// Spec: 2025-11-25 basic/utilities/tasks#result-retrieval.
// Spec: ext-tasks/draft tasks#task-execution-errors.
func TestHowTasksEnd(t *testing.T) {
	for _, tt := range []struct {
		tool   string
		status mcp.TaskStatus
		text   string // of the result, or of the error
		code   int64
		said   string
	}{
		{"fine", mcp.TaskCompleted, "fine", 0, ""},
		{"failing", mcp.TaskCompleted, "out of paper", 0, "out of paper"},
		{"wrong", mcp.TaskFailed, "no such printer", 7, "no such printer"},
		{"panicking", mcp.TaskFailed, "internal error", -32603, "internal error"},
		{"empty", mcp.TaskFailed, "internal error", -32603, "internal error"},
	} {
		t.Run(tt.tool, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, _ := taskServer(t, TaskOptions{})
				outcomes(s)
				u := taskUser{t, s, "ann"}
				id := u.call(tt.tool, "{}")
				settle()
				state := u.status(id, tt.status)
				if state.StatusMessage != tt.said || state.ToolFailed != (tt.tool == "failing") {
					t.Errorf("the state is %s, failed %t", toJSON(t, state), state.ToolFailed)
				}
				result, err := u.about(mcp.MethodTaskResult, id)
				if tt.status == mcp.TaskFailed {
					if state.Result != nil || state.Error.Code != tt.code || state.Error.Message != tt.text {
						t.Errorf("the state is %s", toJSON(t, state))
					}
					if coded := taskError(err); coded.Code != tt.code || coded.Message != tt.text {
						t.Errorf("tasks/result fails with %v", err)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				if state.Error != nil || textOf(t, state.Result) != tt.text {
					t.Errorf("the state is %s", toJSON(t, state))
				}
				same(t, toJSON(t, result), string(state.Result))
			})
		})
	}
}

type numbered struct {
	N int `json:"n"`
}

// Arguments that are not valid end a task that was asked for, and answer a call that
// was not.
func TestInvalidArgumentsOfTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := taskServer(t, TaskOptions{})
		AddTool(s, canTask("t"), func(context.Context, *Call, numbered) (string, error) { return "done", nil })
		x := asks("ann", mcp.MethodCallTool, `{"name":"t","arguments":{}}`)
		if got := serveExchange(t, s, x); !strings.Contains(got, "invalid arguments") || !strings.Contains(got, `"isError":true`) {
			t.Errorf("the call is answered with %s", got)
		}
		x.Task = &mcp.TaskOffer{Demanded: true}
		result, err := s.Serve(t.Context(), x)
		if err != nil {
			t.Fatal(err)
		}
		settle()
		u := taskUser{t, s, "ann"}
		if state := u.status(result.(*mcp.CreateTaskResult).ID, mcp.TaskCompleted); !state.ToolFailed {
			t.Errorf("the state is %s", toJSON(t, state))
		}
	})
}

// Spec: 2025-11-25 basic/utilities/tasks#task-isolation-and-access-control.
// Spec: ext-tasks/draft tasks#security-considerations.
// Somebody else's task, one that has expired, and one that never was look the same.
func TestTasksOfOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := taskServer(t, TaskOptions{})
		outcomes(s)
		ann, bob, nobody := taskUser{t, s, "ann"}, taskUser{t, s, "bob"}, taskUser{t, s, ""}
		expired := ann.call("fine", "{}")
		wait(time.Hour)
		anns, nobodys := ann.call("fine", "{}"), nobody.call("fine", "{}")
		if len(anns) < 22 {
			t.Errorf("the ID %q can be guessed", anns)
		}
		settle()
		ann.status(anns, mcp.TaskCompleted)
		nobody.status(nobodys, mcp.TaskCompleted)
		for _, method := range []string{mcp.MethodGetTask, mcp.MethodTaskResult, mcp.MethodCancelTask, mcp.MethodUpdateTask} {
			want := ""
			for _, tt := range []struct {
				u  taskUser
				id string
			}{{ann, "neverwas"}, {bob, anns}, {nobody, anns}, {ann, nobodys}, {ann, expired}, {ann, ""}, {ann, strings.Repeat("x", 65)}} {
				_, err := tt.u.about(method, tt.id)
				got := strings.ReplaceAll(wrongly(t, err, jsonrpc.CodeInvalidParams), tt.id, "ID")
				if tt.id == "" {
					continue
				}
				if want == "" {
					want = got
				}
				if got != want {
					t.Errorf("%s of %q by %q: %q, want %q", method, tt.id, tt.u.who, got, want)
				}
			}
		}
	})
}

// Spec: 2025-11-25 basic/utilities/tasks#task-cancellation.
// Spec: ext-tasks/draft tasks#task-cancellation.
func TestCancelTask(t *testing.T) {
	for _, ignores := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s, log := taskServer(t, TaskOptions{})
			release := make(chan struct{})
			var cause error
			AddTool(s, canTask("t"), func(ctx context.Context, _ *Call, _ struct{}) (string, error) {
				<-ctx.Done()
				if cause = context.Cause(ctx); ignores {
					<-release
					return "late", nil
				}
				return "", ctx.Err()
			})
			u := taskUser{t, s, "ann"}
			id := u.call("t", "{}")
			settle()
			state, err := u.about(mcp.MethodCancelTask, id)
			if err != nil || state.(*mcp.TaskState).Status != mcp.TaskCancelled || state.(*mcp.TaskState).StatusMessage == "" {
				t.Fatalf("cancelled: %s, %v", toJSON(t, state), err)
			}
			u.status(id, mcp.TaskCancelled)
			settle()
			if cause == nil || cause.Error() != "the task was cancelled" || !errors.Is(cause, context.Canceled) {
				t.Errorf("the handler was told %v", cause)
			}
			close(release)
			settle()
			u.status(id, mcp.TaskCancelled)
			_, err = u.about(mcp.MethodCancelTask, id)
			var ended *mcp.TaskEndedError
			if !errors.As(err, &ended) || ended.Status != mcp.TaskCancelled {
				t.Errorf("cancelled again: %v", err)
			}
			if _, err := u.about(mcp.MethodTaskResult, id); err == nil || !strings.Contains(err.Error(), "was cancelled") {
				t.Errorf("tasks/result: %v", err)
			}
			if ignores && !strings.Contains(log.String(), "is dropped") {
				t.Error("the log does not say that the late result was dropped")
			}
		})
	}
}

// Spec: 2025-11-25 basic/utilities/tasks#ttl-and-resource-management (5).
// Spec: 2025-11-25 basic/utilities/tasks#resource-management.
func TestTasksExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := taskServer(t, TaskOptions{TTL: time.Minute, Total: 2})
		var cause error
		AddTool(s, canTask("t"), func(ctx context.Context, _ *Call, _ struct{}) (string, error) {
			<-ctx.Done()
			cause = context.Cause(ctx)
			return "", cause
		})
		outcomes(s)
		u := taskUser{t, s, "ann"}
		runs, ended := u.call("t", "{}"), u.call("fine", "{}")
		waiting := make(chan error, 1)
		go func() { // ends when the task expires
			_, err := u.about(mcp.MethodTaskResult, runs)
			waiting <- err
		}()
		wait(time.Minute - time.Millisecond)
		u.status(runs, mcp.TaskWorking)
		u.status(ended, mcp.TaskCompleted)
		wait(time.Millisecond)
		for _, id := range []string{runs, ended} {
			_, err := u.about(mcp.MethodGetTask, id)
			wrongly(t, err, jsonrpc.CodeInvalidParams)
		}
		settle()
		if !errors.Is(cause, errTaskExpired) {
			t.Errorf("the handler was told %v", cause)
		}
		wait(time.Second) // in which tasks/result looks, without having been told
		wrongly(t, <-waiting, jsonrpc.CodeInvalidParams)
		u.call("fine", "{}") // there is room again
	})
}

// Spec: 2025-11-25 basic/utilities/tasks#ttl-and-resource-management (3).
func TestTTLThatClientsAskFor(t *testing.T) {
	s, _ := taskServer(t, TaskOptions{TTL: time.Minute, MaxTTL: 2 * time.Minute})
	outcomes(s)
	for asked, want := range map[int64]int64{-1: 60_000, 0: 60_000, 1: 1000, 90_000: 90_000, 120_001: 120_000, 1 << 62: 120_000} {
		x := asks("ann", mcp.MethodCallTool, `{"name":"fine"}`)
		x.Task = &mcp.TaskOffer{Demanded: true, TTLMs: &asked}
		result, err := s.Serve(t.Context(), x)
		if err != nil {
			t.Fatal(err)
		}
		if got := *result.(*mcp.CreateTaskResult).TTLMs; got != want {
			t.Errorf("asked for %d ms, got %d, want %d", asked, got, want)
		}
	}
}

// Spec: 2025-11-25 basic/utilities/tasks#resource-management.
func TestTaskQuotas(t *testing.T) {
	s, _ := taskServer(t, TaskOptions{PerPrincipal: 2, Total: 4})
	outcomes(s)
	for _, tt := range []struct {
		who  string
		fits int
	}{{"ann", 2}, {"bob", 1}, {"", 1}, {"eve", 0}} {
		for n := range tt.fits + 1 {
			if tt.who == "bob" && n == 1 {
				continue // there is room for another
			}
			_, err := s.Serve(t.Context(), asks(tt.who, mcp.MethodCallTool, `{"name":"fine"}`))
			if (err == nil) != (n < tt.fits) {
				t.Errorf("task %d of %q: %v", n+1, tt.who, err)
			}
			if err != nil && !strings.Contains(err.Error(), "too many tasks") {
				t.Errorf("task %d of %q: %v", n+1, tt.who, err)
			}
		}
	}
}

// Spec: 2025-11-25 basic/utilities/tasks#task-listing.
// Spec: 2025-11-25 basic/utilities/tasks#listing-tasks.
func TestListTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(mcp.Implementation{Name: "test", Version: "1"}, &Options{Logger: quiet(), PageSize: 2})
		outcomes(s)
		ann := taskUser{t, s, "ann"}
		var want []string
		for range 5 {
			want = append([]string{ann.call("fine", "{}")}, want...)
			wait(time.Millisecond)
		}
		taskUser{t, s, "bob"}.call("fine", "{}")
		var got []string
		params := "{}"
		for {
			result, err := s.Serve(t.Context(), asks("ann", mcp.MethodListTasks, params))
			if err != nil {
				t.Fatal(err)
			}
			page := result.(*mcp.ListTasksResult)
			if len(page.Tasks) > 2 {
				t.Errorf("a page has %d tasks", len(page.Tasks))
			}
			for _, task := range page.Tasks {
				got = append(got, task.ID)
			}
			if page.NextCursor == nil {
				break
			}
			params = `{"cursor":"` + *page.NextCursor + `"}`
		}
		same(t, strings.Join(got, " "), strings.Join(want, " "))
		for _, cursor := range []string{"", "nonsense", strings.Repeat("x", maxCursor+1)} {
			_, err := s.Serve(t.Context(), asks("ann", mcp.MethodListTasks, `{"cursor":"`+cursor+`"}`))
			wrongly(t, err, jsonrpc.CodeInvalidParams)
		}
		_, err := s.Serve(t.Context(), asks("", mcp.MethodListTasks, "{}"))
		wrongly(t, err, jsonrpc.CodeMethodNotFound)
	})
}

// Spec: 2025-11-25 basic/utilities/tasks#server-capabilities.
// Spec: 2025-11-25 basic/utilities/tasks#task-isolation-and-access-control.
// Spec: ext-tasks/draft tasks#capability-negotiation.
func TestTasksAreDeclared(t *testing.T) {
	somebody, nobody := &mcp.Peer{Principal: "ann"}, &mcp.Peer{}
	const call = `"tasks":{%"cancel":{},"requests":{"tools":{"call":{}}}},"extensions":{"io.modelcontextprotocol/tasks":{}}`
	for _, single := range []bool{false, true} {
		s, _ := taskServer(t, TaskOptions{ListUnowned: single})
		AddTool(s, mcp.Tool{Name: "plain"}, func(context.Context, *Call, struct{}) (string, error) { return "", nil })
		if got := toJSON(t, s.Describe(t.Context(), somebody).Capabilities); strings.Contains(got, "tasks") {
			t.Errorf("without a tool that can run as a task, the server declares %s", got)
		}
		outcomes(s)
		for _, peer := range []*mcp.Peer{somebody, nobody, nil} {
			list := ""
			if single || peer == somebody {
				list = `"list":{},`
			}
			if got := toJSON(t, s.Describe(t.Context(), peer).Capabilities); !strings.Contains(got, strings.ReplaceAll(call, "%", list)) {
				t.Errorf("ListUnowned %t, peer %+v: the server declares %s", single, peer, got)
			}
		}
		ctx := t.Context()
		if n := testing.AllocsPerRun(100, func() { s.Describe(ctx, somebody) }); n > 0 {
			t.Errorf("Describe allocates %g times", n)
		}
	}
}

// Spec: 2025-11-25 basic/utilities/tasks#task-isolation-and-access-control.
func TestRateOfRequestsAboutTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := taskServer(t, TaskOptions{Rate: mcp.Rate{PerSecond: 1, Burst: 2}})
		outcomes(s)
		u := taskUser{t, s, "ann"}
		id := u.call("fine", "{}")
		u.get(id)
		u.get(id)
		_, err := u.about(mcp.MethodGetTask, id)
		if said := wrongly(t, err, jsonrpc.CodeInternalError); !strings.Contains(said, "too many requests about tasks") {
			t.Errorf("the error is %q", said)
		}
		taskUser{t, s, "bob"}.call("fine", "{}")
		wait(time.Second)
		u.get(id)
	})
}

// Spec: ext-tasks/draft tasks#task-status-notifications.
func TestWatchTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := taskServer(t, TaskOptions{})
		release := make(chan struct{})
		AddTool(s, canTask("t"), func(ctx context.Context, call *Call, _ struct{}) (string, error) {
			call.Progress(ctx, 1, 2, "half")
			<-release
			return "", nil
		})
		ann, bob := taskUser{t, s, "ann"}, taskUser{t, s, "bob"}
		own, others := ann.call("t", "{}"), bob.call("t", "{}")
		settle()
		x := asks("ann", mcp.MethodListen, "{}")
		var told []mcp.Change
		x.Watch = &mcp.Watch{Filter: mcp.SubscriptionFilter{TaskIDs: []string{others, own, "neverwas", own}}, Deliver: func(c mcp.Change) { told = append(told, c) }}
		result, err := s.Serve(t.Context(), x)
		if err != nil {
			t.Fatal(err)
		}
		w := result.(*mcp.Watching)
		same(t, strings.Join(w.Filter.TaskIDs, " "), own)
		close(release)
		settle()
		w.Stop()
		if len(told) != 1 || told[0] != (mcp.Change{Kind: mcp.TaskChanged, URI: own}) {
			t.Errorf("told %v, want the end of the own task", told)
		}
	})
}

// Spec: ext-tasks/draft tasks#task-status.
// What Call.Progress says is the message of the task, although the client wants no
// progress, and is stored as often as clients poll.
func TestProgressOfTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &frail{Store: newTasks(New(mcp.Implementation{}, nil)).opts.Store}
		s, _ := taskServer(t, TaskOptions{Store: store})
		AddTool(s, canTask("t"), func(ctx context.Context, call *Call, _ struct{}) (string, error) {
			for i := range 100 { // in ten seconds
				if i == 50 {
					call.Progress(ctx, float64(i), 100, "half of it")
				} else {
					call.Progress(ctx, float64(i), 100, "")
				}
				wait(100 * time.Millisecond)
			}
			return "", nil
		})
		u := taskUser{t, s, "ann"}
		id := u.call("t", "{}")
		wait(1050 * time.Millisecond)
		same(t, u.get(id).StatusMessage, "10 of 100")
		wait(4 * time.Second)
		same(t, u.get(id).StatusMessage, "half of it")
		wait(5 * time.Second)
		same(t, u.status(id, mcp.TaskCompleted).StatusMessage, "")
		if n := store.count(); n < 10 || n > 15 {
			t.Errorf("the store was written %d times", n)
		}
	})
}

// A server that is not used any more is not kept in memory by its tasks, even if nobody
// closed it.
func TestServersWithTasksAreForgotten(t *testing.T) {
	made := func() weak.Pointer[Server] {
		s := New(mcp.Implementation{Name: "x", Version: "1"}, &Options{Logger: quiet()})
		hosts(s)
		taskUser{t, s, "ann"}.call("hosts", "{}")
		s.tasks.going.Wait()
		return weak.Make(s)
	}()
	for range 100 {
		runtime.GC()
		if made.Value() == nil {
			return
		}
	}
	t.Error("the server is still there")
}

// crashingTask is set in a process that should end with a panic.
const crashingTask = "PARLEY_TEST_CRASHING_TASK"

func TestCrashOnPanicInATask(t *testing.T) {
	if os.Getenv(crashingTask) != "" {
		s := New(mcp.Implementation{Name: "c", Version: "1"}, &Options{Logger: quiet(), Panic: CrashOnPanic})
		outcomes(s)
		taskUser{t, s, ""}.call("panicking", "{}")
		<-t.Context().Done()
		return
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestCrashOnPanicInATask$")
	cmd.Env = append(os.Environ(), crashingTask+"=1")
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "panic: all is lost") {
		t.Errorf("ended with %v, and says\n%s", err, out)
	}
}

func TestMistakesInTaskOptions(t *testing.T) {
	for want, o := range map[string]TaskOptions{
		"Options.Tasks.TTL is -1s":                          {TTL: -time.Second},
		"Options.Tasks.MaxTTL is -1s":                       {MaxTTL: -time.Second},
		"Options.Tasks.TTL is 2h0m0s, and MaxTTL 1h0m0s":    {TTL: 2 * time.Hour, MaxTTL: time.Hour},
		"Options.Tasks.PollInterval is -1s":                 {PollInterval: -time.Second},
		"Options.Tasks.Lease is 1ms, and the minimum is 1s": {Lease: time.Millisecond},
	} {
		got := mustPanic(t, func() { New(mcp.Implementation{Name: "x", Version: "1"}, &Options{Tasks: o}) })
		same(t, got, "server: "+want)
	}
	s, _ := taskServer(t, TaskOptions{})
	h := func(context.Context, *Call, struct{}) (string, error) { return "", nil }
	for _, err := range []error{
		TryAddTool(s, mcp.Tool{Name: "t"}, h, Resumable()),
		TryAddTool(s, mcp.Tool{Name: "t"}, h, TaskAfter(time.Second)),
		TryAddTool(s, mcp.Tool{Name: "t", Execution: &mcp.ToolExecution{TaskSupport: "maybe"}}, h),
	} {
		if err == nil || !strings.Contains(err.Error(), "TaskOptional") && !strings.Contains(err.Error(), "optional") {
			t.Errorf("the error is %v", err)
		}
	}
}
