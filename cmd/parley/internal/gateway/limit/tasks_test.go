package limit

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// executor is a server that makes a task of every call.
type executor struct {
	mu       sync.Mutex
	ttl      string
	made     int
	states   map[string]string // by IDs; a task without one is unknown
	result   string            // what comes of tasks; otherwise they fail
	stubborn bool              // it cannot cancel tasks
	asked    []string          // methods, of what is asked about tasks
	by       []string          // sessions of those
}

func (e *executor) serve(_ context.Context, op *guard.Operation) (any, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if op.Method.Name == mcp.MethodCallTool {
		e.made++
		id := fmt.Sprintf("t%d", e.made)
		e.states[id] = "working"
		return json.RawMessage(fmt.Sprintf(`{"resultType":"task","taskId":"shop:%s","status":"working","ttlMs":%s}`, id, e.ttl)), nil
	}
	e.asked, e.by = append(e.asked, op.Method.Name), append(e.by, op.Exchange.Peer.SessionID)
	var params mcp.TaskParams
	if err := json.Unmarshal(op.Params, &params); err != nil || params.ID != op.Subject || op.Shown != "shop:"+op.Subject || op.Exchange.Method != op.Method.Name {
		return nil, mcp.InvalidParams("%s of %q, %q, with the params %s", op.Exchange.Method, op.Subject, op.Shown, op.Params)
	}
	state := e.states[params.ID]
	switch {
	case state == "", state == "gone":
		return nil, mcp.InvalidParams("unknown")
	case op.Method.Name == mcp.MethodGetTask:
		if state == "completed" && e.result != "" {
			return json.RawMessage(`{"status":"completed","result":` + e.result + `}`), nil
		}
		return json.RawMessage(fmt.Sprintf(`{"status":%q}`, state)), nil
	case op.Method.Name == mcp.MethodCancelTask:
		if e.stubborn {
			return nil, &mcp.MethodNotFoundError{Method: op.Method.Name}
		}
		e.states[params.ID] = "cancelled"
		return json.RawMessage(`{}`), nil
	case e.result == "":
		return nil, jsonrpc.Errorf(-32000, "it failed")
	}
	return json.RawMessage(e.result), nil
}

// change has the server do something else.
func (e *executor) change(what func(e *executor)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	what(e)
}

// about makes an operation about a task of alice.
func about(method, id string) *guard.Operation {
	op := call("alice", "shop", id)
	op.Method, op.Shown = mcp.MethodNamed(method), "shop:"+id
	x := *op.Exchange
	x.Method = method
	op.Exchange, op.Params = &x, json.RawMessage(fmt.Sprintf(`{"taskId":%q}`, id))
	return op
}

// frame is a server, behind limits.
type frame struct {
	*executor

	l *Limits
}

func newFrame(rules ...Rule) *frame {
	return &frame{&executor{ttl: "null", states: map[string]string{}, result: `{"content":[]}`}, New(rules)}
}

func (f *frame) do(t *testing.T, op *guard.Operation) (string, error) {
	t.Helper()
	result, err := f.l.Serve(t.Context(), op, f.serve)
	raw, _ := result.(json.RawMessage)
	return string(raw), err
}

// mayStart reports whether there is room for a call of alice that becomes a task.
func (f *frame) mayStart(t *testing.T) bool {
	t.Helper()
	_, err := f.do(t, call("alice", "shop", "big"))
	if err != nil && !strings.Contains(err.Error(), "1 are served already") {
		t.Fatal(err)
	}
	return err == nil
}

// A call that goes on as a task is one of those that may be served at a time until the
// gateway sees that it has ended.
func TestTasksAtATime(t *testing.T) {
	for name, test := range map[string]struct {
		time   time.Duration // of the rule
		state  string        // that the task comes to
		other  func(e *executor)
		passes time.Duration
		asked  *guard.Operation // by the client
		want   bool
	}{
		"nothing":                     {},
		"it works on":                 {asked: about(mcp.MethodGetTask, "t1")},
		"another one has ended":       {asked: about(mcp.MethodGetTask, "t2"), other: func(e *executor) { e.states["t2"] = "completed" }},
		"params that are wrong":       {asked: misnaming(about(mcp.MethodGetTask, "t1"))},
		"its state":                   {state: "completed", asked: about(mcp.MethodGetTask, "t1"), want: true},
		"its result":                  {state: "completed", asked: about(mcp.MethodTaskResult, "t1"), want: true},
		"its error":                   {state: "failed", asked: about(mcp.MethodTaskResult, "t1"), other: func(e *executor) { e.result = "" }, want: true},
		"an error, and it works on":   {asked: about(mcp.MethodTaskResult, "t1"), other: func(e *executor) { e.result = "" }},
		"it is cancelled":             {asked: about(mcp.MethodCancelTask, "t1"), want: true},
		"it cannot be cancelled":      {asked: about(mcp.MethodCancelTask, "t1"), other: func(e *executor) { e.stubborn = true }},
		"it is not known any more":    {state: "gone", asked: about(mcp.MethodGetTask, "t1"), want: true},
		"its time is over":            {time: time.Minute, passes: time.Minute, want: true},
		"its time is not over":        {time: time.Minute, passes: time.Minute - 1},
		"nobody looks":                {passes: longest - 1},
		"nobody looks for a long one": {passes: longest, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFrame(Rule{Concurrent: 1, Time: test.time})
				if !f.mayStart(t) {
					t.Fatal("there is no room for the first task")
				}
				f.change(func(e *executor) {
					e.states["t1"] = cmp.Or(test.state, "working")
					if test.other != nil {
						test.other(e)
					}
				})
				if test.asked != nil {
					_, _ = f.do(t, test.asked)
				}
				pass(test.passes)
				synctest.Wait()
				if got := f.mayStart(t); got != test.want {
					t.Errorf("there is room for another task: %t, want %t", got, test.want)
				}
			})
		})
	}
}

// misnaming makes the params of an operation wrong.
func misnaming(op *guard.Operation) *guard.Operation {
	op.Params = json.RawMessage(`{}`)
	return op
}

// A task counts for no longer than its server keeps it, and is at work for no longer.
func TestTaskExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFrame(Rule{Concurrent: 1, Time: time.Hour})
		f.ttl = "60000"
		f.mayStart(t)
		pass(time.Minute - 1)
		if f.mayStart(t) {
			t.Error("there is room for another task while the server keeps the first")
		}
		pass(1)
		synctest.Wait()
		if !f.mayStart(t) {
			t.Error("there is no room when the server does not keep the first any more")
		}
		if want := []string{mcp.MethodGetTask, mcp.MethodCancelTask}; !slices.Equal(f.asked, want) {
			t.Errorf("the server is asked %q, want %q", f.asked, want)
		}
	})
}

// Where a task has the only place, its client still can ask about it: once at a time.
func TestTaskLendsItsPlace(t *testing.T) {
	f := newFrame(Rule{By: []Dimension{ByPrincipal}, Concurrent: 1})
	f.mayStart(t)
	for range 2 {
		_, err := f.l.Serve(t.Context(), about(mcp.MethodTaskResult, "t1"), func(context.Context, *guard.Operation) (any, error) {
			if _, err := f.do(t, about(mcp.MethodGetTask, "t1")); err == nil || !strings.Contains(err.Error(), "1 are served already") {
				t.Errorf("a second request at the same time: %v", err)
			}
			return nil, context.Canceled
		})
		if err != context.Canceled { //nolint:errorlint // it passes as it is
			t.Errorf("waiting for the result: %v", err)
		}
	}
	if _, err := f.do(t, about(mcp.MethodGetTask, "t1")); err != nil {
		t.Errorf("once nobody waits: %v", err)
	}
	if f.mayStart(t) {
		t.Error("there is room for another task")
	}
}

// When the time of a task is over, it is cancelled, and nothing comes of it, whatever its
// server does. What has ended by then can be fetched at any time.
func TestTaskTime(t *testing.T) {
	for name, test := range map[string]struct {
		state    string // at the end of the time
		stubborn bool
		fails    bool
		asked    []string
	}{
		"it works on":                          {"working", false, true, []string{mcp.MethodGetTask, mcp.MethodCancelTask}},
		"it works on, and cannot be stopped":   {"working", true, true, []string{mcp.MethodGetTask, mcp.MethodCancelTask}},
		"it waits for an answer of its client": {"input_required", false, true, []string{mcp.MethodGetTask, mcp.MethodCancelTask}},
		"it has ended":                         {"completed", false, false, []string{mcp.MethodGetTask}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFrame(Rule{Method: mcp.MethodCallTool, Time: time.Minute})
				f.stubborn = test.stubborn
				if _, err := f.do(t, call("alice", "shop", "big")); err != nil {
					t.Fatal(err)
				}
				f.change(func(e *executor) { e.states["t1"] = test.state })
				pass(time.Minute)
				synctest.Wait()
				if !slices.Equal(f.asked, test.asked) {
					t.Errorf("the server is asked %q, want %q", f.asked, test.asked)
				}
				f.change(func(e *executor) { e.states["t1"] = "completed" })
				for _, method := range []string{mcp.MethodTaskResult, mcp.MethodGetTask} {
					_, err := f.do(t, about(method, "t1"))
					if late := err != nil && strings.Contains(err.Error(), "longer than 1m0s"); late != test.fails || err != nil && !late {
						t.Errorf("%s later: %v", method, err)
					}
				}
			})
		})
	}
}

// Who waits for the result of a task learns when its time is over.
func TestTaskTimeEndsWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFrame(Rule{Subject: "big", Time: time.Minute})
		if _, err := f.do(t, call("alice", "shop", "big")); err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		pass(time.Second)
		_, err := f.l.Serve(t.Context(), about(mcp.MethodTaskResult, "t1"), func(ctx context.Context, _ *guard.Operation) (any, error) {
			<-ctx.Done()
			return nil, context.Cause(ctx)
		})
		if took := time.Since(begun); took != time.Minute || err == nil || !strings.Contains(err.Error(), "longer than 1m0s") {
			t.Errorf("after %s: %v", took, err)
		}
		synctest.Wait()
	})
}

// A task is cancelled in the session that has made it, or without one if that has ended.
func TestTaskWithoutItsSession(t *testing.T) {
	for left, want := range map[string]string{"mine": "", "another": "mine", "": "mine"} {
		synctest.Test(t, func(t *testing.T) {
			f := newFrame(Rule{Time: time.Minute})
			op := call("alice", "shop", "big")
			op.Exchange.Peer.SessionID = "mine"
			if _, err := f.do(t, op); err != nil {
				t.Fatal(err)
			}
			f.l.Left(&mcp.Peer{SessionID: left})
			pass(time.Minute)
			synctest.Wait()
			if !slices.Equal(f.by, []string{want, want}) {
				t.Errorf("when the session %q has ended, the session %q asks, want %q twice", left, f.by, want)
			}
			if op.Exchange.Peer.SessionID != "mine" {
				t.Error("the exchange of the call is changed")
			}
		})
	}
}

// What comes of a task is held to what its tool is held to, in the forms of both revisions.
func TestTaskResult(t *testing.T) {
	long := `{"content":[{"type":"text","text":"` + strings.Repeat("a", 1000) + `"}]}`
	for name, test := range map[string]struct {
		rule Rule
		want string // is in it; "" is an error
	}{
		"of the tool":             {Rule{Subject: "big"}, ""},
		"of calls":                {Rule{Method: mcp.MethodCallTool}, ""},
		"of all":                  {Rule{}, ""},
		"of the tool, and is cut": {Rule{Subject: "big", Cut: true}, `aaa…"},{"type":"text","text":"The gateway has cut this result`},
		"of another tool":         {Rule{Subject: "small"}, long},
	} {
		t.Run(name, func(t *testing.T) {
			test.rule.ResultBytes = 600
			f := newFrame(test.rule)
			f.result = long
			if _, err := f.do(t, call("alice", "shop", "big")); err != nil {
				t.Fatal(err)
			}
			f.change(func(e *executor) { e.states["t1"] = "completed" })
			for _, method := range []string{mcp.MethodTaskResult, mcp.MethodGetTask} {
				got, err := f.do(t, about(method, "t1"))
				switch {
				case test.want == "":
					if err == nil || !strings.Contains(err.Error(), "600 at most") {
						t.Errorf("%s: %s, error %v", method, got, err)
					}
				case err != nil || !json.Valid([]byte(got)) || test.rule.Cut && len(got) > 600:
					t.Errorf("%s: %d bytes, error %v", method, len(got), err)
				case !strings.Contains(got, test.want):
					t.Errorf("%s: %s, want %s in it", method, got, test.want)
				}
			}
		})
	}
}

// Asking for the state of a task again and again does not use up the calls of its tool.
func TestTaskPolls(t *testing.T) {
	f := newFrame(Rule{Subject: "big", Rate: 0.001, Burst: 2})
	for range 2 {
		if _, err := f.do(t, call("alice", "shop", "big")); err != nil {
			t.Fatal(err)
		}
		for range 10 {
			if _, err := f.do(t, about(mcp.MethodGetTask, "t1")); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := f.do(t, call("alice", "shop", "big")); err == nil {
		t.Error("a third call is served")
	}
}

// Tasks that count are not more than a bound.
func TestManyTasks(t *testing.T) {
	f := newFrame(Rule{Concurrent: maxTasks + 1})
	for range maxTasks + 1 {
		if _, err := f.do(t, call("alice", "shop", "big")); err != nil {
			t.Fatal(err)
		}
	}
	running := 0
	for _, a := range f.l.rules[0].accounts {
		running += a.running
	}
	if len(f.l.tasks.held) != maxTasks || running != maxTasks {
		t.Errorf("%d tasks are held, and %d count, want %d", len(f.l.tasks.held), running, maxTasks)
	}
	for _, held := range f.l.tasks.held {
		held.end()
	}
}

func pass(d time.Duration) { <-time.NewTimer(d).C }
