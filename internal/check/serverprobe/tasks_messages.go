package serverprobe

import (
	"reflect"
	"slices"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
)

// related is the ID in the metadata that ties a message to a task.
func related(m *peer.Message, where string) (string, bool) {
	v, ok := m.Get(where + "/_meta/" + pointer(relatedTask) + "/taskId")
	id, _ := v.(string)
	return id, ok
}

var taskMessages = []Probe{
	{
		Info: probe.Info{
			ID: "tasks/no-stream-for-get", Rows: taskRows("034"),
			Does:    "Asks for tasks over HTTP.",
			Accepts: "No event stream as the answer to tasks/get.",
		},
		Needs: append([]string{needsHTTP}, needsTasks...),
		Run: seen(ofRuns(func(_ *X, w *probe.Watch, run *taskRun) {
			w.Saw(run.early.Response)
			if run.early.Exchange.IsStream() {
				w.FaultOf([]probe.Blame{{Message: run.early.Sent}, {Exchange: run.early.Exchange}}, "tasks/get is answered with an event stream")
			}
		})),
	},
	{
		Info: probe.Info{
			ID: "tasks/over-http", Rows: taskRows("017"),
			Does:    "Looks at the responses that carry answers to messages about tasks.",
			Accepts: "Status 200, and JSON or an event stream.",
		},
		Needs: append([]string{needsHTTP}, needsTasks...),
		Run: seen(ofRuns(func(_ *X, w *probe.Watch, run *taskRun) {
			for _, r := range []*peer.Reply{run.early, run.result, run.late} {
				if r.Response == nil || !r.Response.IsResult() {
					continue
				}
				w.Saw(r.Response)
				if kind := peer.MediaType(r.Exchange.ResponseHeader); r.Exchange.Status != 200 || kind != "application/json" && kind != "text/event-stream" {
					w.FaultOf(probe.OfReply(r), "the answer came with status %d and the type %q", r.Exchange.Status, kind)
				}
			}
		})),
	},
	{
		Info: probe.Info{
			ID: "tasks/result-waits", Rows: taskRows("049"),
			Does:    "Asks for the result of a task that works, and for its status afterwards.",
			Accepts: "The answer only when the task has ended.",
			After:   []string{"tasks/input-required"},
		},
		Needs: needsTasks,
		Run: seen(ofRuns(func(_ *X, w *probe.Watch, run *taskRun) {
			if run.result.Response == nil || run.late.Response == nil || !run.result.Response.IsResult() {
				return
			}
			w.Saw(run.result.Response)
			if s := statusOf(run.late); s == "working" || s == "input_required" {
				w.FaultOf(probe.Of(run.result.Response, run.late.Response), "tasks/result was answered, and the task is %s", s)
			}
		})),
	},
	{
		Info: probe.Info{
			ID: "tasks/result-again", Rows: taskRows("048"),
			Does:    "Asks for the result of a task that has ended.",
			Accepts: "The result, as before.",
		},
		Needs: needsTasks,
		Run: seen(ofRuns(func(_ *X, w *probe.Watch, run *taskRun) {
			if run.result.Response == nil || run.again.Response == nil || !slices.Contains(ended, statusOf(run.late)) {
				return
			}
			w.Saw(run.again.Response)
			first, again := outcome(run.result.Response), outcome(run.again.Response)
			if !reflect.DeepEqual(first, again) {
				w.FaultOf(probe.Of(run.result.Response, run.again.Response), "the result is another one the second time")
			}
		})),
	},
	{
		Info: probe.Info{
			ID: "tasks/result-is-the-calls", Rows: taskRows("050", "077", "076"),
			Does:    "Compares the results of tasks with those of the same calls without a task.",
			Accepts: "The same content.",
			After:   []string{"tasks/result-again"},
		},
		Needs: needsTasks,
		Run: seen(func(x *X, w *probe.Watch) {
			w.Nothing(probe.Unverified("no tool gives the same result each time, with and without a task"))
			for _, run := range x.tasks().runs {
				if run.id == "" || run.plain == nil || run.plain.Result == nil || run.result.Response == nil || !run.result.Response.IsResult() || taskSupport(run.tool) != "optional" {
					continue
				}
				plain := x.Finish("tools/call", run.plain.params())
				if plain.Response == nil || !reflect.DeepEqual(outcome(plain.Response), outcome(run.plain.Result)) {
					continue // it differs by itself
				}
				w.Saw(run.result.Response)
				if !reflect.DeepEqual(outcome(plain.Response), outcome(run.result.Response)) {
					w.FaultOf(probe.Of(plain.Response, run.result.Response), "the result of the task is not that of the call")
				}
			}
		}),
	},
	{
		Info: probe.Info{
			ID: "tasks/result-names-task", Rows: taskRows("068"),
			Does:    "Looks at the results of tasks.",
			Accepts: "The ID of the task in the metadata.",
		},
		Needs: needsTasks,
		Run: seen(ofRuns(func(_ *X, w *probe.Watch, run *taskRun) {
			if run.result.Response == nil || !run.result.Response.IsResult() {
				return
			}
			w.Saw(run.result.Response)
			if id, _ := related(run.result.Response, "result"); id != run.id {
				w.Fault(run.result.Response, "/result/_meta", "the result does not name its task in %s", relatedTask)
			}
		})),
	},
	{
		Info: probe.Info{
			ID: "tasks/no-related-metadata", Rows: taskRows("056", "057"),
			Does:    "Looks at answers about tasks, and at announcements of their status.",
			Accepts: "No metadata that names the task again.",
		},
		Needs: needsTasks,
		Run: seen(func(x *X, w *probe.Watch) {
			x.tasks()
			for _, m := range x.Received(nil) {
				where := "params"
				if asked := x.Log.RequestOf(m); asked != nil && slices.Contains([]string{"tasks/get", "tasks/list", "tasks/cancel"}, asked.Method) {
					where = "result"
				} else if m.Method != "notifications/tasks/status" {
					continue
				}
				w.Saw(m)
				if _, ok := related(m, where); ok {
					w.Fault(m, "/"+where+"/_meta", "the message names its task in the metadata, too")
				}
			}
		}),
	},
	{
		Info: probe.Info{
			ID: "tasks/questions-name-task", Rows: taskRows("036", "051", "052"),
			Does:    "Runs a tool that asks as a task.",
			Accepts: "The ID of the task in the metadata of each question.",
			After:   []string{"progress/own-tokens"},
		},
		Needs: needsTasks,
		Run: func(x *X) probe.Finding {
			w := &probe.Watch{}
			w.Nothing(probe.Unverified("no tool that can run as a task asks anything"))
			for _, run := range x.tasks().runs {
				for _, m := range run.questions(x) {
					w.Saw(m)
					if id, _ := related(m, "params"); id != run.id {
						w.Fault(m, "/params/_meta", "the question of a task does not name it in %s", relatedTask)
					}
				}
			}
			return w.Finding()
		},
	},
	{
		Info: probe.Info{
			ID: "tasks/input-required", Rows: taskRows("038", "035"),
			Does:    "Runs a tool that asks as a task, and looks at its status after the answer.",
			Accepts: "Another status than input_required.",
		},
		Needs: needsTasks,
		Run: func(x *X) probe.Finding {
			w := &probe.Watch{}
			w.Nothing(probe.Unverified("no tool that can run as a task asks anything"))
			for _, run := range x.tasks().runs {
				asked := run.questions(x)
				if len(asked) == 0 || run.late.Response == nil {
					continue
				}
				w.Saw(run.late.Response)
				if statusOf(run.late) == "input_required" {
					w.FaultOf(probe.Of(asked[0], run.late.Response), "the question is answered, and the task still wants input")
				}
			}
			return w.Finding()
		},
	},
	{
		Info: probe.Info{
			ID: "tasks/announcements-whole", Rows: taskRows("021"),
			Does:    "Looks at notifications/tasks/status.",
			Accepts: "The whole task: its ID, status and times.",
			After:   []string{"tasks/id-is-text", "tasks/known-status", "tasks/created-at", "tasks/updated-at"},
		},
		Needs: needsTasks,
		Run: seen(func(x *X, w *probe.Watch) {
			w.Nothing(probe.Unverified("the server announces no changes of tasks"))
			x.tasks()
			for _, t := range x.taskObjects() {
				if t.m.Method == "" {
					continue
				}
				w.Saw(t.m)
				for _, name := range []string{"taskId", "status", "createdAt", "ttl"} {
					if _, ok := t.task[name]; !ok {
						w.Fault(t.m, "/params", "the announcement lacks %s", name)
					}
				}
			}
		}),
	},
}

// outcome is what a call resulted in, without the metadata.
func outcome(m *peer.Message) any {
	if m.IsError() {
		code, _ := m.Get("error/code")
		return code
	}
	result := map[string]any{}
	for name, v := range m.Object("result") {
		if name != "_meta" && name != "isError" {
			result[name] = v
		}
	}
	return result
}

// questions are what the server asked while the task ran.
func (r *taskRun) questions(x *X) []*peer.Message {
	if r.id == "" || r.plain == nil || len(r.plain.Asks) == 0 || r.late == nil || r.late.Sent == nil {
		return nil
	}
	return slices.DeleteFunc(x.Received((*peer.Message).IsRequest), func(m *peer.Message) bool {
		return m.Method == "ping" || m.Number < r.create.Sent.Number || m.Number > r.late.Sent.Number
	})
}
