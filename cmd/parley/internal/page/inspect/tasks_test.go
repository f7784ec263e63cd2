package inspect

import (
	"strings"
	"testing"

	"github.com/parley-mcp/parley/cmd/parley/internal/page/web"
)

// saidTask is a task as the API shows it.
type saidTask struct {
	Key, Tool string
	Task      struct {
		ID     string `json:"taskId"`
		Status string
	}
	Error *web.Error
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
