package bridge_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/cmd/parley/internal/bridge"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
)

// tasker asks a bridge as somebody who takes tasks, without a session.
type tasker struct {
	b         *bridge.Bridge
	principal string
	args      string // of the call; "" is those of params
}

func (k tasker) serve(ctx context.Context, x *mcp.Exchange) (string, error) {
	x.ID, x.Back = jsonrpc.IntID(1), askLater{}
	x.Peer = mcp.Peer{Revision: mcp.Revision20260728, Principal: k.principal, Capabilities: *everything()}
	result, err := k.b.Serve(ctx, x)
	raw, _ := result.(json.RawMessage)
	return string(raw), err
}

// start calls a tool, and returns the ID of the task that the call has become.
func (k tasker) start(t *testing.T) string {
	t.Helper()
	call := json.RawMessage(params + "}")
	if k.args != "" {
		call = json.RawMessage(`{"name":"work","arguments":` + k.args + `}`)
	}
	got, err := k.serve(t.Context(), &mcp.Exchange{Method: mcp.MethodCallTool, Params: call, Task: &mcp.TaskOffer{}})
	var task mcp.CreateTaskResult
	if err != nil || json.Unmarshal([]byte(got), &task) != nil || task.ResultType != mcp.ResultTask || task.ID == "" {
		t.Fatalf("%s, error %v: no task", got, err)
	}
	return task.ID
}

func (k tasker) about(t *testing.T, method, id, more string) (string, error) {
	t.Helper()
	return k.serve(t.Context(), &mcp.Exchange{Method: method, Params: json.RawMessage(fmt.Sprintf(`{"taskId":%q%s}`, id, more))})
}

func (k tasker) expect(t *testing.T, method, id, more, want string) {
	t.Helper()
	got, err := k.about(t, method, id, more)
	if err != nil {
		got = err.Error()
	}
	if !strings.Contains(got, want) {
		t.Errorf("%s of %.4s: %.1000s, want %s", method, id, got, want)
	}
}

const (
	accept  = `,"inputResponses":{"question-1":{"action":"accept","content":{}}}`
	unknown = "it does not exist, or has expired"
)

// A call that asks becomes a task for who takes it, which nobody else sees.
func TestHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var heard record
		b := sharedBy(t, asking(&heard), modes[0], bridge.SharePrincipal)
		ann, bob := tasker{b: b, principal: "Ann"}, tasker{b: b, principal: "Bob"}
		id := ann.start(t)
		ann.expect(t, mcp.MethodGetTask, id, "", `"status":"input_required"`)
		ann.expect(t, mcp.MethodGetTask, id, "", `"inputRequests":{"question-1":{"method":"elicitation/create","params":`+form+`}}`)
		for _, method := range []string{mcp.MethodGetTask, mcp.MethodUpdateTask, mcp.MethodCancelTask} {
			bob.expect(t, method, id, accept, unknown)
		}
		ann.expect(t, mcp.MethodUpdateTask, id, `,"inputResponses":{"question-2":{"action":"accept"},"question-1":"yes"}`, "")
		ann.expect(t, mcp.MethodGetTask, id, "", `"status":"input_required"`)
		ann.expect(t, mcp.MethodUpdateTask, id, accept, "")
		synctest.Wait()
		ann.expect(t, mcp.MethodGetTask, id, "", `"status":"completed"`)
		ann.expect(t, mcp.MethodGetTask, id, "", `"result":{"content":[]`)
		heard.expect(t, "the server", `answered: {"action":"accept","content":{}}`)
		ann.expect(t, mcp.MethodCancelTask, id, "", "it has already ended")

		id = ann.start(t)
		ann.expect(t, mcp.MethodCancelTask, id, "", `"status":"cancelled"`)
		synctest.Wait()
		heard.expect(t, "the server", "the task was cancelled by request")
		ann.expect(t, mcp.MethodGetTask, id, "", `"status":"cancelled"`)

		id = ann.start(t)
		<-time.NewTimer(2 * time.Hour).C
		ann.expect(t, mcp.MethodGetTask, id, "", unknown)
		if n := b.Parked(); n != 0 {
			t.Errorf("%d calls wait", n)
		}
		_ = b.Close()
	})
}

// There are only so many tasks of one client; one that has ended makes room, and without
// room a call waits as it does for those who take no tasks.
func TestHeldAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var heard record
		b := sharedBy(t, asking(&heard), modes[0], bridge.SharePrincipal)
		ann := tasker{b: b, principal: "Ann"}
		var ids []string
		for range 100 {
			ids = append(ids, ann.start(t))
		}
		_, err := ann.serve(t.Context(), &mcp.Exchange{Method: mcp.MethodCallTool, Params: json.RawMessage(params + "}"), Task: &mcp.TaskOffer{}})
		if ask, ok := errors.AsType[*mcp.InputRequired](err); !ok || len(ask.Requests) != 1 {
			t.Errorf("over the limit: %v", err)
		}
		tasker{b: b, principal: "Bob"}.start(t)
		ann.expect(t, mcp.MethodUpdateTask, ids[7], accept, "")
		synctest.Wait()
		ann.start(t)
		ann.expect(t, mcp.MethodGetTask, ids[7], "", unknown)
		ann.expect(t, mcp.MethodGetTask, ids[0], "", `"status":"input_required"`)
		_ = b.Close()
	})
}

// A call that takes long becomes a task, unless its client wants to see its progress.
func TestHeldAfterAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := sharedBy(t, serving(func(_ context.Context, x *mcp.Exchange) (any, error) {
			if !x.ID.IsZero() {
				<-time.NewTimer(time.Minute).C
			}
			return json.RawMessage(`{"content":[],"isError":true}`), nil
		}), modes[0], bridge.SharePrincipal)
		ann := tasker{b: b, principal: "Ann"}
		begun := time.Now()
		id := ann.start(t)
		if took := time.Since(begun); took != 20*time.Second {
			t.Errorf("it became a task after %s", took)
		}
		watched := make(chan mcp.Change, 10)
		result, err := b.Serve(t.Context(), &mcp.Exchange{
			ID: jsonrpc.IntID(1), Method: mcp.MethodListen, Back: askLater{}, Peer: mcp.Peer{Revision: mcp.Revision20260728, Principal: "Ann"},
			Watch: &mcp.Watch{Filter: mcp.SubscriptionFilter{TaskIDs: []string{id}}, Deliver: func(c mcp.Change) { watched <- c }},
		})
		watching, ok := result.(*mcp.Watching)
		if err != nil || !ok || len(watching.Filter.TaskIDs) != 1 {
			t.Fatalf("%+v, %v", result, err)
		}
		ann.expect(t, mcp.MethodGetTask, id, "", `"status":"working"`)
		if c := <-watched; c.Kind != mcp.TaskChanged || c.URI != id || time.Since(begun) != time.Minute {
			t.Errorf("%+v after %s", c, time.Since(begun))
		}
		ann.expect(t, mcp.MethodGetTask, id, "", `"status":"completed"`)
		watching.Stop()

		begun = time.Now()
		x := &mcp.Exchange{Method: mcp.MethodCallTool, Params: json.RawMessage(params + "}"), Task: &mcp.TaskOffer{}, ProgressToken: jsonrpc.IntID(7)}
		got, err := ann.serve(t.Context(), x)
		if err != nil || !strings.Contains(got, `"isError":true`) || time.Since(begun) != time.Minute {
			t.Errorf("%s, %v, after %s", got, err, time.Since(begun))
		}
		_ = b.Close()
	})
}

// A page that has to be visited first is a question of the task, after which the call is
// made again.
func TestHeldVisit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		connected := false
		s := newServer()
		server.AddTool(s, mcp.Tool{Name: "work"}, func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
			if _, err := server.Elicit[struct{}](ctx, call, "sure", "Are you sure?"); err != nil || connected {
				return "paid", err
			}
			visit, err := call.Visit(ctx, "account")
			if err != nil {
				return "", err
			}
			connected = true
			return "", visit.Require("Connect your account", bankPage)
		})
		b := sharedBy(t, s, modes[0], bridge.SharePrincipal)
		ann := tasker{b, "Ann", "{}"}
		id := ann.start(t)
		for i, question := range []string{"Are you sure?", bankPage, "Are you sure?"} {
			ann.expect(t, mcp.MethodGetTask, id, "", question)
			ann.expect(t, mcp.MethodUpdateTask, id, strings.Replace(accept, "question-1", fmt.Sprintf("question-%d", i+1), 1), "")
			<-time.NewTimer(time.Minute).C // nobody says that the visit is over
		}
		ann.expect(t, mcp.MethodGetTask, id, "", "paid")
		_ = b.Close()
	})
}

// finishing returns a server whose tool returns as many bytes as it is asked for.
func finishing(t *testing.T) *bridge.Bridge {
	t.Helper()
	s := server.New(mcp.Implementation{Name: "finishing", Version: "1"}, &server.Options{Logger: mcptest.Quiet(), ToolRate: mcp.Rate{PerSecond: 1e6, Burst: 1e6}})
	type wanted struct {
		Bytes int `json:"bytes"`
	}
	server.AddTool(s, mcp.Tool{Name: "work"}, func(ctx context.Context, call *server.Call, in wanted) (string, error) {
		_, err := server.Elicit[struct{}](ctx, call, "sure", "Are you sure?")
		return strings.Repeat("x", in.Bytes), err
	})
	return sharedBy(t, s, modes[0], bridge.SharePrincipal)
}

// finish makes a task that ends with as many bytes, and returns its ID.
func (k tasker) finish(t *testing.T, size int) string {
	t.Helper()
	k.args = fmt.Sprintf(`{"bytes":%d}`, size)
	id := k.start(t)
	k.expect(t, mcp.MethodUpdateTask, id, accept, "")
	synctest.Wait()
	return id
}

// Results that are too large together are forgotten of whoever has the most.
func TestResultsOfOthersStay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := finishing(t)
		ann, bob, eve := tasker{b: b, principal: "Ann"}, tasker{b: b, principal: "Bob"}, tasker{b: b, principal: "Eve"}
		own := ann.finish(t, 10)
		first, second := eve.finish(t, 33<<20), eve.finish(t, 33<<20)
		ann.expect(t, mcp.MethodGetTask, own, "", `"status":"completed"`)
		eve.expect(t, mcp.MethodGetTask, first, "", unknown)

		bob.expect(t, mcp.MethodGetTask, bob.finish(t, 34<<20), "", unknown)
		ann.expect(t, mcp.MethodGetTask, own, "", `"status":"completed"`)
		eve.expect(t, mcp.MethodGetTask, second, "", `"status":"completed"`)
		_ = b.Close()
	})
}

// crowd makes tasks of ten principals that wait for answers, 100 of each but 99 of the last,
// and answers those of as many.
func crowd(t *testing.T, b *bridge.Bridge, answered int) (of [10]tasker, first string) {
	t.Helper()
	for i := range of {
		of[i] = tasker{b: b, principal: fmt.Sprint("Eve", i), args: `{"bytes":1}`}
		for n := range 100 - i/9 {
			id := of[i].start(t)
			if i < answered {
				of[i].expect(t, mcp.MethodUpdateTask, id, accept, "")
			}
			if i+n == 0 {
				first = id
			}
		}
	}
	synctest.Wait()
	return of, first
}

// Tasks that have ended make room when there are too many: the oldest of whoever has the
// most.
func TestEndedTasksMakeRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := finishing(t)
		ann := tasker{b: b, principal: "Ann", args: `{"bytes":1}`}
		own := ann.finish(t, 1)
		of, first := crowd(t, b, 1)
		ann.start(t)
		ann.expect(t, mcp.MethodGetTask, own, "", `"status":"completed"`)
		of[0].expect(t, mcp.MethodGetTask, first, "", unknown)
		_ = b.Close()
	})
}

// Nobody's task makes room for those of somebody who has more.
func TestTasksOfFewStay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := finishing(t)
		ann := tasker{b: b, principal: "Ann", args: `{"bytes":1}`}
		own := ann.finish(t, 1)
		of, _ := crowd(t, b, 0)
		call := json.RawMessage(`{"name":"work","arguments":{"bytes":1}}`)
		_, err := of[9].serve(t.Context(), &mcp.Exchange{Method: mcp.MethodCallTool, Params: call, Task: &mcp.TaskOffer{}})
		if _, ok := errors.AsType[*mcp.InputRequired](err); !ok {
			t.Errorf("a task too many of somebody who has 99: %v", err)
		}
		ann.expect(t, mcp.MethodGetTask, own, "", `"status":"completed"`)
		ann.start(t)
		ann.expect(t, mcp.MethodGetTask, own, "", unknown)
		_ = b.Close()
	})
}

// Calls may become tasks at the same time, while others look for room.
func TestTasksAtOnce(t *testing.T) {
	s := newServer()
	server.AddTool(s, mcp.Tool{Name: "work"}, func(context.Context, *server.Call, struct{}) (string, error) { return "done", nil })
	b := sharedBy(t, s, modes[2], bridge.SharePrincipal)
	var group sync.WaitGroup
	for i := range 20 {
		group.Go(func() {
			result, err := b.Serve(t.Context(), &mcp.Exchange{
				ID: jsonrpc.IntID(1), Method: mcp.MethodCallTool, Params: json.RawMessage(`{"name":"work","task":{}}`), Task: &mcp.TaskOffer{Demanded: true},
				Back: askLater{}, Peer: mcp.Peer{Revision: mcp.Revision20251125, Principal: fmt.Sprint(i % 2), SessionID: fmt.Sprint(i)},
			})
			if raw, _ := result.(json.RawMessage); err != nil || !strings.Contains(string(raw), `"taskId"`) {
				t.Errorf("%s, error %v: no task", raw, err)
			}
		})
	}
	group.Wait()
}
