package serverprobe

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
)

// shortWork is how long a tool has to take, so that something can be done in the
// meantime.
const shortWork = 300 * time.Millisecond

var statuses = []string{"working", "input_required", "completed", "failed", "cancelled"}

var taskState = []Probe{
	{
		Info: probe.Info{
			ID: "tasks/begin-working", Rows: taskRows("029"),
			Does:    "Looks at the status of new tasks.",
			Accepts: "working.",
		},
		Needs: needsTasks,
		Run: seen(ofRuns(func(_ *X, w *probe.Watch, run *taskRun) {
			w.Saw(run.create.Response)
			if s := run.create.Response.Text("result/task/status"); s != "working" {
				w.Fault(run.create.Response, "/result/task/status", "the new task is %q", s)
			}
		})),
	},
	{
		Info: probe.Info{
			ID: "tasks/known-status", Rows: taskRows("030", "031"),
			Does:    "Follows tasks from their beginning to their end.",
			Accepts: "The five statuses of the page.",
		},
		Needs: needsTasks,
		Run: ofTaskObjects(func(w *probe.Watch, t taskObject) {
			w.Saw(t.m)
			if s := t.text("status"); !slices.Contains(statuses, s) {
				w.Fault(t.m, t.at+"/status", "%q is no status", s)
			}
		}),
	},
	{
		Info: probe.Info{
			ID: "tasks/end-is-final", Rows: taskRows("032", "065"),
			Does:    "Asks for tasks that have ended, again and after they were cancelled.",
			Accepts: "The status that they ended with.",
			After:   []string{"tasks/known-status", "tasks/failed", "tasks/input-required"},
		},
		Needs: needsTasks,
		Run: func(x *X) probe.Finding {
			w := &probe.Watch{}
			w.Nothing(probe.Unverified("no task was seen to end"))
			x.tasks()
			last := map[string]taskObject{}
			for _, t := range x.taskObjects() {
				before, known := last[t.text("taskId")]
				if known && t.at != "/result/task" {
					w.Saw(t.m)
					if before.text("status") != t.text("status") {
						w.FaultOf([]probe.Blame{{Message: before.m}, {Message: t.m, Pointer: t.at + "/status"}}, "the task was %s, and is %s now", before.text("status"), t.text("status"))
					}
				}
				if slices.Contains(ended, t.text("status")) && t.at == "/result" && !known {
					last[t.text("taskId")] = t
				}
			}
			return w.Finding()
		},
	},
	{
		Info: probe.Info{
			ID: "tasks/created-at", Rows: taskRows("039"),
			Does:    "Looks at when tasks were made.",
			Accepts: "A time of ISO 8601 in createdAt.",
		},
		Needs: needsTasks,
		Run:   ofTaskObjects(isTime("createdAt")),
	},
	{
		Info: probe.Info{
			ID: "tasks/updated-at", Rows: taskRows("040"),
			Does:    "Looks at when tasks were changed.",
			Accepts: "A time of ISO 8601 in lastUpdatedAt.",
		},
		Needs: needsTasks,
		Run:   ofTaskObjects(isTime("lastUpdatedAt")),
	},
	{
		Info: probe.Info{
			ID: "tasks/ttl-told", Rows: taskRows("042"),
			Does:    "Asks for tasks.",
			Accepts: "A ttl that is a number, or null for none.",
		},
		Needs: needsTasks,
		Run: seen(ofRuns(func(_ *X, w *probe.Watch, run *taskRun) {
			m := run.early.Response
			if m == nil || !m.IsResult() {
				return
			}
			w.Saw(m)
			if ttl, ok := m.Get("result/ttl"); !ok || ttl != nil && !isTTL(ttl) {
				w.Fault(m, "/result/ttl", "the answer does not say how long the task is kept")
			}
		})),
	},
	{
		Info: probe.Info{
			ID: "tasks/ttl-bounded", Rows: taskRows("086"),
			Does:    "Asks for a task that is kept for ten years.",
			Accepts: "A shorter time.",
		},
		Needs: needsTasks,
		Run: func(x *X) probe.Finding {
			tools := x.taskTools()
			if len(tools) == 0 {
				return probe.Unverified(noTaskTool)
			}
			const years = 10 * 365 * 24 * 3600 * 1000
			r := x.Call("tools/call", asTask(tools[0], years, "task-ttl"))
			if r.Response == nil || r.Response.Object("result/task") == nil {
				return probe.Unverified("no task was made")
			}
			ttl, _ := r.Response.Get("result/task/ttl")
			if ttl == nil || string(peer.Encode(ttl)) == string(peer.Encode(years)) {
				return probe.Fail(probe.OfReply(r), "the server keeps a task for ten years because a client wants it")
			}
			return probe.Pass(probe.OfReply(r)...)
		},
	},
	{
		Info: probe.Info{
			ID: "tasks/failed", Rows: taskRows("074"),
			Does:    "Runs a tool that fails as a task.",
			Accepts: "The status failed.",
		},
		Needs: needsTasks,
		Run: seen(func(x *X, w *probe.Watch) {
			w.Nothing(probe.Unverified("no tool that can run as a task failed"))
			for _, run := range x.tasks().runs {
				if run.failed() {
					w.Saw(run.late.Response)
					if s := statusOf(run.late); slices.Contains(ended, s) && s != "failed" {
						w.FaultOf(append(probe.Of(run.result.Response), probe.Blame{Message: run.late.Response, Pointer: "/result/status"}), "the tool failed, and the task is %s", s)
					}
				}
			}
		}),
	},
	{
		Info: probe.Info{
			ID: "tasks/failure-explained", Rows: taskRows("075"),
			Does:    "Asks for a task that has failed.",
			Accepts: "A statusMessage.",
			After:   []string{"tasks/failed"},
		},
		Needs: needsTasks,
		Run: seen(func(x *X, w *probe.Watch) {
			w.Nothing(probe.Unverified("no tool that can run as a task failed"))
			for _, run := range x.tasks().runs {
				if statusOf(run.late) == "failed" {
					w.Saw(run.late.Response)
					if run.late.Response.Text("result/statusMessage") == "" {
						w.Fault(run.late.Response, "/result", "the task has failed, and has no statusMessage")
					}
				}
			}
		}),
	},
}

// failed reports whether the call itself failed: with an error, or a result that
// says so.
func (r *taskRun) failed() bool {
	if r.result == nil || r.result.Response == nil || r.late == nil || r.late.Response == nil {
		return false
	}
	failed, _ := r.result.Response.Get("result/isError")
	return failed == true
}

func isTime(name string) func(*probe.Watch, taskObject) {
	return func(w *probe.Watch, t taskObject) {
		w.Saw(t.m)
		if _, err := time.Parse(time.RFC3339, t.text(name)); err != nil {
			w.Fault(t.m, t.at+"/"+name, "%s is %s", name, peer.Encode(t.task[name]))
		}
	}
}

func isTTL(v any) bool {
	_, ok := v.(json.Number)
	return ok
}
