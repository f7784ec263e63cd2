package serverprobe

import (
	"slices"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
)

// declaresMethod makes the body of a probe that compares a capability with what
// its method is answered.
func declaresMethod(capability, method string, params map[string]any) func(*X) probe.Finding {
	return func(x *X) probe.Finding {
		r := x.Call(method, params)
		if r.Response == nil {
			return unanswered(r)
		}
		code, _ := r.Response.Code()
		missing := r.Response.IsError() && code == -32601
		if declared := x.Offer.Has(capability); declared == missing {
			if declared {
				return probe.Fail(probe.OfReply(r), "the server declares %s, and does not know %s", capability, method)
			}
			return probe.Fail(probe.OfReply(r), "the server serves %s, and does not declare %s", method, capability)
		}
		return probe.Pass(probe.OfReply(r)...)
	}
}

const noTask = "parley-check-no-such-task"

var taskRequests = []Probe{
	{
		Info: probe.Info{
			ID: "tasks/list-declared", Rows: taskRows("005"),
			Does:    "Sends tasks/list.",
			Accepts: "An answer if tasks.list is declared, and the error -32601 otherwise.",
		},
		Needs: []string{needsSession, "tasks"},
		Run:   declaresMethod("tasks/list", "tasks/list", nil),
	},
	{
		Info: probe.Info{
			ID: "tasks/cancel-declared", Rows: taskRows("006"),
			Does:    "Sends tasks/cancel for a task that does not exist.",
			Accepts: "Another error than -32601 if tasks.cancel is declared, and that one otherwise.",
		},
		Needs: []string{needsSession, "tasks"},
		Run:   declaresMethod("tasks/cancel", "tasks/cancel", map[string]any{"taskId": noTask}),
	},
	{
		Info: probe.Info{
			ID: "tasks/unknown-id", Rows: taskRows("069"),
			Does:    "Asks for a task that does not exist, and for its result.",
			Accepts: "The error -32602.",
			After:   []string{"tasks/cancel-declared"},
		},
		Needs: []string{needsSession, "tasks"},
		Run: func(x *X) probe.Finding {
			methods := []string{"tasks/get", "tasks/result"}
			if x.Offer.Has("tasks/cancel") {
				methods = append(methods, "tasks/cancel")
			}
			var f probe.Finding
			for _, method := range methods {
				if f = wantError(x.Call(method, map[string]any{"taskId": noTask}), -32602); f.Outcome != "pass" {
					return f
				}
			}
			return f
		},
	},
	{
		Info: probe.Info{
			ID: "tasks/unknown-cursor", Rows: taskRows("070"),
			Does:    "Asks for tasks with a cursor that the server has not given.",
			Accepts: "The error -32602.",
			After:   []string{"tasks/list-declared"},
		},
		Needs: []string{needsSession, "tasks/list"},
		Run: func(x *X) probe.Finding {
			return wantError(x.Call("tasks/list", map[string]any{"cursor": "parley-check-no-such-cursor"}), -32602)
		},
	},
	{
		Info: probe.Info{
			ID: "tasks/listed", Rows: taskRows("061", "059", "058"),
			Does:    "Makes tasks, and looks for them on all pages of the list.",
			Accepts: "Each task that tasks/get finds.",
			After:   []string{"tasks/list-declared"},
		},
		Needs: append([]string{"tasks/list"}, needsTasks...),
		Run: func(x *X) probe.Finding {
			runs := x.tasks().runs
			ids, pages := x.taskPages()
			if len(pages) == 0 {
				return probe.Unverified("the tasks could not be listed")
			}
			found := 0
			for _, run := range runs {
				if run.id == "" {
					continue
				}
				r := x.Call("tasks/get", map[string]any{"taskId": run.id})
				if r.Response == nil || !r.Response.IsResult() {
					continue
				}
				found++
				if !slices.Contains(ids, run.id) {
					return probe.Fail(append(probe.OfReply(r), probe.Of(pages...)...), "tasks/get finds the task, and tasks/list has it on no page")
				}
			}
			if found == 0 {
				return probe.Unverified("no task was kept")
			}
			return probe.Pass(probe.Of(pages...)...)
		},
	},
	{
		Info: probe.Info{
			ID: "tasks/parameter-counts", Rows: taskRows("053", "055"),
			Does:    "Asks for a task, with metadata that names another one.",
			Accepts: "The task of the parameter.",
		},
		Needs: needsTasks,
		Run: seen(ofRuns(func(x *X, w *probe.Watch, run *taskRun) {
			r := x.Call("tasks/get", map[string]any{
				"taskId": run.id, "_meta": map[string]any{relatedTask: map[string]any{"taskId": noTask}},
			})
			if r.Response == nil || run.early.Response == nil || !run.early.Response.IsResult() {
				return
			}
			w.Saw(r.Response)
			if r.Response.Text("result/taskId") != run.id {
				w.FaultOf(probe.OfReply(r), "the answer is not about the task of the parameter")
			}
		})),
	},
	{
		Info: probe.Info{
			ID: "tasks/ended-is-not-cancelled", Rows: taskRows("062"),
			Does:    "Cancels a task that has ended.",
			Accepts: "The error -32602.",
			After:   []string{"tasks/cancel-declared"},
		},
		Needs: append([]string{"tasks/cancel"}, needsTasks...),
		Run: func(x *X) probe.Finding {
			for _, run := range x.tasks().runs {
				if run.refused != nil {
					return wantError(run.refused, -32602)
				}
			}
			return probe.Unverified("no task was seen to end")
		},
	},
	{
		Info: probe.Info{
			ID: "tasks/cancelled-at-once", Rows: taskRows("064"),
			Does:    "Cancels a task that works.",
			Accepts: "The status cancelled in the answer.",
			After:   []string{"tasks/cancel-declared"},
		},
		Needs: append([]string{"tasks/cancel"}, needsTasks...),
		Run: func(x *X) probe.Finding {
			c := x.tasks().cancelled
			if c == nil || c.cancel == nil || c.cancel.Response == nil || !c.cancel.Response.IsResult() {
				return probe.Unverified("no task could be cancelled while it works")
			}
			if s := statusOf(c.cancel); s != "cancelled" {
				return probe.Fail(probe.OfReply(c.cancel), "the task is %s in the answer to its cancellation", s)
			}
			return probe.Pass(probe.OfReply(c.cancel)...)
		},
	},
	{
		Info: probe.Info{
			ID: "tasks/cancelled-stops", Rows: append(taskRows("063"), "2511.basic.utilities.progress-012"),
			Does:    "Cancels a task that reports progress.",
			Accepts: "No progress after the answer.",
			After:   []string{"tasks/cancel-declared", "tasks/cancelled-at-once"},
		},
		Needs: append([]string{"tasks/cancel"}, needsTasks...),
		Run: func(x *X) probe.Finding {
			c := x.tasks().cancelled
			if c == nil || c.cancel == nil || c.cancel.Response == nil || statusOf(c.cancel) != "cancelled" {
				return probe.Unverified("no task could be cancelled while it works")
			}
			for _, m := range x.Received(func(m *peer.Message) bool { return m.Number > c.cancel.Response.Number+slack }) {
				if m.Method == "notifications/progress" && m.Text("params/progressToken") == c.token {
					return probe.Fail(probe.Of(c.cancel.Response, m), "the cancelled task goes on to report progress")
				}
			}
			return probe.Pass(probe.OfReply(c.cancel)...)
		},
	},
}
