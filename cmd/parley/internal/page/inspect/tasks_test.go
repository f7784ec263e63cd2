package inspect

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/cmd/parley/internal/page/web"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
)

// saidTask is a task as the API shows it.
type saidTask struct {
	Key, Tool string
	Task      struct {
		ID     string `json:"taskId"`
		Status string
	}
	Error  *web.Error
	Call   string
	Asking bool
}

// A call that becomes a task is followed to its end. The task is remembered, and its result
// can be fetched again.
func TestTasks(t *testing.T) {
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(revision, func(t *testing.T) {
			s, base, _ := withCalls(t, revision)
			body := tool("report", `{}`)
			body["task"] = true
			k := s.made(base, body)
			if k.State != "done" || !strings.Contains(string(k.Result), "done") || k.TaskNow == nil {
				t.Fatalf("the call is %+v: %s", k, k.Result)
			}
			known := must[struct{ Tasks []saidTask }](s, "GET", base+"/tasks?fresh=1", nil).Tasks
			if len(known) != 1 || known[0].Tool != "report" || known[0].Task.ID != k.TaskNow.ID {
				t.Fatalf("the tasks are %+v", known)
			}
			if known[0].Task.Status != "completed" || known[0].Call != "" || k.TaskKey != known[0].Key {
				t.Errorf("when the call has ended, its task is %+v, which the call calls %q", known[0], k.TaskKey)
			}
			at := base + "/tasks/" + known[0].Key
			if now := must[saidTask](s, "GET", at, nil); now.Task.Status != "completed" || now.Error != nil {
				t.Errorf("the task is %+v", now)
			}
			again := s.ended(base, must[struct{ ID string }](s, "POST", at+"/follow", nil).ID)
			if again.State != "done" || !strings.Contains(string(again.Result), "done") {
				t.Errorf("following the task gives %+v: %s", again, again.Result)
			}
			must[struct{}](s, "POST", at+"/cancel", nil)
			must[struct{}](s, "DELETE", at, nil)
			if e := s.refused("GET", at, nil); e.Code != "no_task" {
				t.Errorf("a task that was forgotten: %+v", e)
			}
		})
	}
}

// newAsker returns a server with a tool that runs as a task, and asks once ready is closed.
func newAsker(t *testing.T, ready <-chan struct{}) *server.Server {
	s := server.New(mcp.Implementation{Name: "asker", Version: "1"}, &server.Options{Logger: mcptest.Quiet()})
	t.Cleanup(func() { _ = s.Close(context.Background()) })
	server.AddTool(s, mcp.Tool{Name: "send", Execution: &mcp.ToolExecution{TaskSupport: mcp.TaskOptional}},
		func(ctx context.Context, call *server.Call, _ noInput) (string, error) {
			select {
			case <-ready:
			case <-ctx.Done():
				return "", ctx.Err()
			}
			d, err := server.Elicit[delivery](ctx, call, "delivery", "Where to?")
			return "sent to " + d.Name, err
		}, server.TaskAfter(0))
	return s
}

// sent makes a call that becomes a task, and returns its ID and where the task is.
func (v visited) sent() (call, at string) {
	v.Helper()
	body := tool("send", `{}`)
	body["task"] = true
	call = must[struct{ ID string }](v.stage, "POST", v.path+"/calls", body).ID
	list := untilGet(v, "/tasks", func(list struct{ Tasks []saidTask }) bool { return len(list.Tasks) == 1 })
	return call, "/tasks/" + list.Tasks[0].Key
}

func inTaskRevisions(t *testing.T, test func(t *testing.T, r mcp.Revision)) {
	for _, r := range []mcp.Revision{mcp.Revision20251125, mcp.Revision20260728} {
		t.Run(r.String(), func(t *testing.T) { test(t, r) })
	}
}

// accepts answers a question.
func (v visited) accepts(q askedQuestion) {
	v.Helper()
	must[askedQuestion](v.stage, "POST", v.path+"/questions/"+q.ID+"/answer", given{Action: "accept", Content: json.RawMessage(`{"name":"Ada"}`)})
}

// What a task asks is asked by the call that follows it, and by nobody else.
func TestTaskOfCallAsks(t *testing.T) {
	inTaskRevisions(t, func(t *testing.T, r mcp.Revision) {
		ready := make(chan struct{})
		close(ready)
		v := visitServer(t, r, newAsker(t, ready))
		call, at := v.sent()
		q := v.waiting()
		if want := (asker{ID: call, Method: mcp.MethodCallTool, Subject: "send"}); q.Call == nil || *q.Call != want {
			t.Errorf("the question is asked by %+v, want %+v", q.Call, want)
		}
		if now := must[saidTask](v.stage, "GET", v.path+at, nil); now.Call != call || now.Task.Status != "input_required" {
			t.Errorf("while its call waits, the task is %+v", now)
		}
		if again := must[struct{ ID string }](v.stage, "POST", v.path+at+"/follow", nil).ID; again != call {
			t.Errorf("the task is followed by call %s, too", again)
		}
		if e := v.refused("POST", v.path+at+"/answer", nil); e.Status != http.StatusConflict {
			t.Errorf("asking what a call asks already: %+v", e)
		}
		v.accepts(q)
		if k := v.ended(v.path, call); !strings.Contains(string(k.Result), "sent to Ada") {
			t.Errorf("the call is %+v: %s", k, k.Result)
		}
	})
}

// What a task asks that no call follows is asked when somebody wants it, and once.
func TestTaskThatWasLeftAsks(t *testing.T) {
	inTaskRevisions(t, func(t *testing.T, r mcp.Revision) {
		ready := make(chan struct{})
		v := visitServer(t, r, newAsker(t, ready))
		call, at := v.sent()
		must[struct{}](v.stage, "DELETE", v.path+"/calls/"+call+"?leave=1", nil)
		if k := v.ended(v.path, call); k.State != "left" {
			t.Errorf("the call is %+v", k)
		}
		close(ready)
		untilGet(v, at, func(now saidTask) bool { return now.Task.Status == "input_required" && now.Call == "" })
		must[struct{}](v.stage, "POST", v.path+at+"/answer", nil)
		if e := v.refused("POST", v.path+at+"/answer", nil); e.Code != "busy" {
			t.Errorf("asking twice: %+v", e)
		}
		q := v.waiting()
		if q.Call == nil || q.Call.ID != "" || q.Call.Subject != "send" {
			t.Errorf("the question of the task is asked by %+v", q.Call)
		}
		v.accepts(q)
		untilGet(v, at, func(now saidTask) bool { return now.Task.Status == "completed" && !now.Asking })
		done := v.ended(v.path, must[struct{ ID string }](v.stage, "POST", v.path+at+"/follow", nil).ID)
		if !strings.Contains(string(done.Result), "sent to Ada") {
			t.Errorf("the result is %s", done.Result)
		}
	})
}

// A task that was made elsewhere can be entered; the server says that it does not know it.
func TestUnknownTask(t *testing.T) {
	s, base, _ := withCalls(t, "2026-07-28")
	added := must[saidTask](s, "POST", base+"/tasks", map[string]string{"taskId": "../nobody's"})
	if now := must[saidTask](s, "GET", base+"/tasks/"+added.Key, nil); now.Error == nil {
		t.Errorf("the task of nobody is %+v", now)
	}
	if e := s.refused("POST", base+"/tasks", map[string]string{}); e.Field != "taskId" {
		t.Errorf("a task without an ID: %+v", e)
	}
}
