package server

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server/taskstore"
)

// A record that makes no sense, from a damaged store or a program that is not this one,
// ends no process: its task cannot be asked about, and others are not affected.
func TestRecordsThatMakeNoSense(t *testing.T) {
	for _, data := range []string{
		`{"status":"working"}`, `{"status":"working","method":"tools/call","params":{"name":"t"}}`, `{"status":"working","method":"x","peer":{}}`,
		`{"status":"input_required"}`, `{"status":"failed"}`, `{"status":"completed"}`, `{"status":"completed","result":5}`, `{"status":"odd"}`, `{}`, `[]`, ``,
	} {
		t.Run(data, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, l := taskServer(t, TaskOptions{})
				AddTool(s, canTask("t"), func(context.Context, *Call, struct{}) (string, error) { return "done", nil }, Resumable())
				u := taskUser{t, s, "ann"}
				now := time.Now()
				bad := taskstore.Record{ID: "bad", Owner: "ann", Created: now, Expires: now.Add(time.Hour), Lease: now.Add(-time.Hour), Data: []byte(data)}
				if _, err := s.tasks.opts.Store.Create(t.Context(), bad, taskstore.Quota{}); err != nil {
					t.Fatal(err)
				}
				good := u.call("t", "{}")
				wait(time.Minute) // in which rounds find it
				for _, method := range []string{mcp.MethodGetTask, mcp.MethodTaskResult, mcp.MethodCancelTask, mcp.MethodUpdateTask} {
					if _, err := u.about(method, "bad"); err == nil {
						t.Errorf("%s says nothing is wrong", method)
					}
				}
				listed, err := s.Serve(t.Context(), asks("ann", mcp.MethodListTasks, "{}"))
				if err != nil || len(listed.(*mcp.ListTasksResult).Tasks) != 1 {
					t.Errorf("listed %s, %v", toJSON(t, listed), err)
				}
				if u.text(good) != "done" || !strings.Contains(l.String(), "cannot be read") {
					t.Errorf("the log says %s", l)
				}
			})
		})
	}
}

// FuzzRecord reads records as a damaged store might hold them: whatever is accepted can
// be gone on with, shown and stored again.
func FuzzRecord(f *testing.F) {
	for _, data := range []string{
		`{"status":"working","method":"tools/call","params":{"name":"t"},"peer":{"revision":"2026-07-28","info":{},"capabilities":{}},"run":"r"}`,
		`{"status":"input_required","method":"tools/call","params":{"name":"t"},"peer":{},"asked":[{"key":"k","sent":"k","method":"elicitation/create"}],"answers":{"a":{"failed":"x"}}}`,
		`{"status":"completed","result":{"content":[]}}`, `{"status":"failed","error":{"code":1,"message":"x"}}`, `{"status":"cancelled"}`,
		`{"status":"working"}`, `{"status":"failed"}`, `{"status":"completed"}`, `{"status":"?"}`, `{}`, `[]`, ``,
	} {
		f.Add([]byte(data))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		now := time.Now()
		task, err := decodeTask(taskstore.Record{ID: "t1", Created: now, Expires: now.Add(time.Hour), Lease: now.Add(-time.Hour), Data: data})
		if err != nil {
			return
		}
		s, _ := newServer(Options{})
		if _, err := wire.Marshal(s.tasks.state(task)); err != nil {
			t.Errorf("%s cannot be shown: %v", data, err)
		}
		if task.Status.Final() {
			result, err := task.outcome()
			if _, failed := wire.Marshal(result); failed != nil || err != nil && err.Error() == "" {
				t.Errorf("%s has the outcome %v, %v", data, failed, err)
			}
			return
		}
		run := s.tasks.laterRun(task)
		defer run.stop(nil)
		if run.x.Method == "" || task.tool() == "" {
			t.Errorf("%s is the call of nothing", data)
		}
		if task.accept(map[string]inputAnswer{"k": {}}); len(task.Asked) == 0 {
			task.set(mcp.TaskWorking, "")
		}
		record, err := task.encode()
		if err != nil {
			t.Fatalf("%s cannot be stored again: %v", data, err)
		}
		if _, err := decodeTask(record); err != nil {
			t.Errorf("%s became %s, which cannot be read: %v", data, record.Data, err)
		}
	})
}
