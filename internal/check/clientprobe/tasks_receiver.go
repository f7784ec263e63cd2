package clientprobe

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/mcp"
)

// These probes look at the tasks that clients make of questions.
var tasksReceiver = []Probe{
	{
		Info: probe.Info{
			ID: "tasks/only-if-declared", Rows: []string{"2511.basic.utilities.tasks-024", "2511.basic.utilities.tasks-001", "2511.basic.utilities.tasks-004"},
			Does:    "Asks for tasks of kinds that the client has not declared.",
			Accepts: "The usual result, as if the member task were not there.",
			Mend:    "Ignore the member task where you declare no tasks.",
		},
		Needs: []string{needsSession, "tasks"}, In: []string{scenarioUndeclared},
		Watch: func(x *X, w *probe.Watch) {
			w.Nothing(probe.NotApplicable("the client declares tasks for all that it answers, or answers nothing"))
			for _, a := range x.tasksAsked() {
				w.Saw(a.Answer)
				if a.isTask() {
					w.FaultOf(probe.Of(a.Question, a.Answer), "the client makes a task, and has not declared tasks of this kind")
				}
			}
		},
	},
	taskProbe("tasks/created", []string{"046", "015", "047"}, "Asks for tasks of kinds that the client declares.", "A result that has the task, and not the answer.", (*X).tasksAsked, func(w *probe.Watch, a *asked) {
		if a.result() != nil && !a.isTask() {
			w.FaultOf(probe.Of(a.Question, a.Answer), "the answer has no task, although the client declares tasks of this kind")
		}
	}),
	taskProbe("tasks/id-string", []string{"026"}, "Looks at the IDs of tasks.", "Strings.", (*X).tasksMade, func(w *probe.Watch, a *asked) {
		if v, ok := a.get("task/taskId"); ok {
			if _, text := v.(string); !text {
				w.Fault(a.Answer, "/result/task/taskId", "the ID is no string")
			}
		}
	}),
	taskProbe("tasks/begins-working", []string{"029"}, "Looks at the status of new tasks.", "working.", (*X).tasksMade, func(w *probe.Watch, a *asked) {
		if status, ok := a.get("task/status"); ok && status != "working" {
			w.Fault(a.Answer, "/result/task/status", "the new task is %s", peer.Encode(status))
		}
	}),
	taskProbe("tasks/created-at", []string{"039"}, "Looks at createdAt of tasks.", "A time in the form of ISO 8601.", (*X).states, wantTime("createdAt")),
	taskProbe("tasks/last-updated-at", []string{"040"}, "Looks at lastUpdatedAt of tasks.", "A time in the form of ISO 8601.", (*X).states, wantTime("lastUpdatedAt")),
	taskProbe("tasks/ttl", []string{"042"}, "Looks at ttl in the answers to tasks/get.", "A number, or null.", (*X).states, func(w *probe.Watch, a *asked) {
		v, has := a.get("ttl")
		if _, number := v.(json.Number); !has || v != nil && !number {
			w.Fault(a.Answer, "/result", "the task has no ttl that is a number or null")
		}
	}),
	taskProbe("tasks/right-task", []string{"053", "055"}, "Asks for tasks with metadata that name another one.", "The task that the params name.", (*X).states, func(w *probe.Watch, a *asked) {
		if got := a.text("taskId"); got != "" && got != a.Params["taskId"] {
			w.FaultOf(probe.Of(a.Question, a.Answer), "the state is that of the task %q", got)
		}
	}),
	taskProbe("tasks/no-related-in-state", []string{"056"}, "Looks for metadata of tasks in the answers to tasks/get, tasks/list and tasks/cancel.", "None.", func(x *X) []*asked { return x.gave("tasks/get", "tasks/list", "tasks/cancel") }, func(w *probe.Watch, a *asked) {
		if _, has := a.get("_meta/" + pointer(mcp.MetaRelatedTask)); has {
			w.Fault(a.Answer, "/result/_meta", "the result names the task a second time")
		}
	}),
	taskProbe("tasks/related-in-result", []string{"068", "051"}, "Looks for metadata of the task in the answers to tasks/result.", "The ID of the task.", func(x *X) []*asked {
		return slices.DeleteFunc(x.gave("tasks/result"), func(a *asked) bool { return x.stateAfter(a) == "failed" })
	}, func(w *probe.Watch, a *asked) {
		if id, _ := a.get("_meta/" + pointer(mcp.MetaRelatedTask) + "/taskId"); id != a.Params["taskId"] {
			w.Fault(a.Answer, "/result/_meta", "the result does not name its task")
		}
	}),
	{
		Info: probe.Info{
			ID: "tasks/result-waits", Rows: []string{"2511.basic.utilities.tasks-049", "2511.basic.utilities.tasks-048"},
			Does:    "Asks for results of tasks, and for their state then.",
			Accepts: "Tasks that have ended.",
			Mend:    "Answer tasks/result when the task has ended.",
		},
		Needs: []string{needsSession, "tasks"}, In: []string{scenarioTaskQuestions},
		Watch: func(x *X, w *probe.Watch) {
			w.Nothing(noAnswer("about the result of a task"))
			for _, r := range x.gave("tasks/result") {
				for _, s := range x.states() {
					if s.Params["taskId"] != r.Params["taskId"] || s.Question.Number < r.Answer.Number {
						continue
					}
					w.Saw(r.Answer)
					if status := s.text("status"); status == "working" || status == "input_required" {
						w.FaultOf(probe.Of(r.Answer, s.Answer), "the result came before the end of the task, which is %s", status)
					}
					break
				}
			}
		},
	},
	taskProbe("tasks/result-as-plain", []string{"050", "077"}, "Looks at the results of tasks that were completed.", "What the question would have had without a task.", func(x *X) []*asked { return x.gave("tasks/result") }, func(w *probe.Watch, a *asked) {
		if a.lacksAll("action", "role", "content", "model") {
			w.Fault(a.Answer, "/result", "this is not the answer to the question")
		}
	}),
	taskProbe("tasks/unknown", []string{"069"}, "Asks for a task that does not exist.", "The error -32602.", func(x *X) []*asked {
		return slices.DeleteFunc(x.answered("tasks/get", "tasks/result", "tasks/cancel"), func(a *asked) bool { return a.Params["taskId"] != "no-such-task" })
	}, wantInvalid),
	taskProbe("tasks/bad-cursor", []string{"070"}, "Lists tasks with a cursor that was never given.", "The error -32602.", func(x *X) []*asked {
		return slices.DeleteFunc(x.answered("tasks/list"), func(a *asked) bool { return a.Params["cursor"] == nil })
	}, wantInvalid),
	taskProbe("tasks/list", []string{"005"}, "Lists the tasks, of clients that declare it.", "A list.", func(x *X) []*asked {
		return slices.DeleteFunc(x.answered("tasks/list"), func(a *asked) bool { return a.Params["cursor"] != nil })
	}, func(w *probe.Watch, a *asked) {
		if a.result() == nil {
			w.FaultOf(probe.Of(a.Question, a.Answer), "tasks.list is declared, and tasks/list fails")
		}
	}),
	taskProbe("tasks/cancel-ended", []string{"062"}, "Cancels tasks that have ended.", "The error -32602.", (*X).cancelledLate, wantInvalid),
	taskProbe("tasks/cancelled", []string{"064", "006"}, "Cancels a task that goes on.", "The status cancelled in the answer.", (*X).cancelledInTime, func(w *probe.Watch, a *asked) {
		if a.result() != nil && a.text("status") != "cancelled" {
			w.Fault(a.Answer, "/result/status", "the task that was cancelled is %q", a.text("status"))
		}
	}),
	taskProbe("tasks/fails", []string{"074"}, "Asks by tasks what the client refuses.", "Tasks that fail.", (*X).statesOfRefused, func(w *probe.Watch, a *asked) {
		if status := a.text("status"); status == "completed" {
			w.Fault(a.Answer, "/result/status", "the task is completed, and its result is an error")
		}
	}),
	taskProbe("tasks/says-why-it-failed", []string{"075"}, "Looks at tasks that have failed.", "A statusMessage.", func(x *X) []*asked {
		return slices.DeleteFunc(x.states(), func(a *asked) bool { return a.text("status") != "failed" })
	}, func(w *probe.Watch, a *asked) {
		if a.text("statusMessage") == "" {
			w.Fault(a.Answer, "/result", "the failed task does not say why")
		}
	}),
	taskProbe("tasks/error-as-result", []string{"076"}, "Asks for the results of tasks that have failed.", "An error.", func(x *X) []*asked {
		return slices.DeleteFunc(x.answered("tasks/result"), func(a *asked) bool { return x.stateAfter(a) != "failed" })
	}, func(w *probe.Watch, a *asked) {
		if a.result() != nil {
			w.Fault(a.Answer, "/result", "the task has failed, and has a result")
		}
	}),
	{
		Info: probe.Info{
			ID: "tasks/no-related-in-notifications", Rows: []string{"2511.basic.utilities.tasks-057"},
			Does:    "Looks for metadata of tasks in notifications of their status.",
			Accepts: "None.",
		},
		Needs: []string{needsSession, "tasks"}, In: []string{scenarioTaskQuestions},
		Watch: func(x *X, w *probe.Watch) {
			w.Nothing(probe.Unverified("the client sent no notifications of tasks"))
			for _, m := range x.Received(is("notifications/tasks/status")) {
				w.Saw(m)
				if _, has := m.Get("params/_meta/" + pointer(mcp.MetaRelatedTask)); has {
					w.Fault(m, "/params/_meta", "the notification names the task a second time")
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "tasks/ended-stays", Rows: []string{"2511.basic.utilities.tasks-032", "2511.basic.utilities.tasks-065", "2511.basic.utilities.tasks-030", "2511.basic.utilities.tasks-031"},
			Does:    "Asks for the state of tasks again after their end.",
			Accepts: "The same status.",
			Mend:    "Change a task no more once it is completed, failed or cancelled.",
		},
		Needs: []string{needsSession, "tasks"}, In: []string{scenarioTaskQuestions},
		Watch: func(x *X, w *probe.Watch) {
			w.Nothing(noAnswer("about the state of a task that has ended"))
			ended := map[any]*asked{}
			for _, a := range x.gave("tasks/get", "tasks/cancel") {
				id := a.Params["taskId"]
				if old := ended[id]; old != nil {
					w.Saw(a.Answer)
					if status := a.text("status"); status != "" && status != old.text("status") {
						w.FaultOf(probe.Of(a.Answer, old.Answer), "the task was %s, and is %s", old.text("status"), status)
					}
				} else if isFinal(a.text("status")) {
					ended[id] = a
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "tasks/unique-ids", Rows: []string{"2511.basic.utilities.tasks-028", "2511.basic.utilities.tasks-027"},
			Does:    "Compares the IDs of tasks.",
			Accepts: "Different ones.",
			Mend:    "Make an ID of its own for each task.",
		},
		Needs: []string{needsSession, "tasks"}, In: []string{scenarioTaskQuestions},
		Watch: func(x *X, w *probe.Watch) {
			w.Nothing(probe.Unverified("the client has made fewer than two tasks"))
			ids := map[string]*asked{}
			for _, a := range x.tasksMade() {
				id := a.text("task/taskId")
				if old := ids[id]; old != nil && id != "" {
					w.FaultOf(probe.Of(a.Answer, old.Answer), "two tasks have the ID %q", id)
				}
				if len(ids) > 0 {
					w.Saw(a.Answer)
				}
				ids[id] = a
			}
		},
	},
}

// taskProbe looks at each answer of a kind in the scenario in which the client is
// asked by tasks. Rows are numbers of the page.
func taskProbe(id string, rows []string, does, accepts string, which func(*X) []*asked, look func(*probe.Watch, *asked)) Probe {
	p := Probe{Info: probe.Info{ID: id, Does: does, Accepts: accepts}, Needs: []string{needsSession, "tasks"}, In: []string{scenarioTaskQuestions}}
	for _, row := range rows {
		p.Rows = append(p.Rows, "2511.basic.utilities.tasks-"+row)
	}
	p.Watch = func(x *X, w *probe.Watch) {
		w.Nothing(probe.Unverified("the client declares no tasks, or has answered nothing of the kind"))
		for _, a := range which(x) {
			w.Saw(a.Answer)
			look(w, a)
		}
	}
	return p
}

// answered are the questions that have an answer, and gave those with a result.
func (x *X) answered(methods ...string) []*asked {
	return slices.DeleteFunc(x.asked(methods...), func(a *asked) bool { return a.Answer == nil })
}

func (x *X) gave(methods ...string) []*asked {
	return slices.DeleteFunc(x.answered(methods...), func(a *asked) bool { return a.result() == nil })
}

// tasksAsked are the questions that were to be tasks, and tasksMade those that became
// some.
func (x *X) tasksAsked() []*asked {
	return slices.DeleteFunc(x.answered(sample, elicit), func(a *asked) bool { return a.Params["task"] == nil })
}

func (x *X) tasksMade() []*asked {
	return slices.DeleteFunc(x.tasksAsked(), func(a *asked) bool { return !a.isTask() })
}

func (x *X) states() []*asked { return x.gave("tasks/get") }

// stateAfter is the status of a task after its result was asked for, or "".
func (x *X) stateAfter(result *asked) string {
	for _, s := range x.states() {
		if s.Params["taskId"] == result.Params["taskId"] && s.Question.Number > result.Answer.Number {
			return s.text("status")
		}
	}
	return ""
}

// statesOfRefused are the states of tasks after their results were errors.
func (x *X) statesOfRefused() []*asked {
	refused := map[any]int{}
	for _, r := range x.answered("tasks/result") {
		if r.result() == nil && r.Params["taskId"] != "no-such-task" {
			refused[r.Params["taskId"]] = r.Answer.Number
		}
	}
	return slices.DeleteFunc(x.states(), func(a *asked) bool {
		n, ok := refused[a.Params["taskId"]]
		return !ok || a.Question.Number < n
	})
}

func isFinal(status string) bool {
	return status == "completed" || status == "failed" || status == "cancelled"
}

// cancelledLate are the cancellations of tasks that had ended, and cancelledInTime
// the others.
func (x *X) cancelledLate() []*asked   { return x.cancellations(true) }
func (x *X) cancelledInTime() []*asked { return x.cancellations(false) }

func (x *X) cancellations(late bool) []*asked {
	return slices.DeleteFunc(x.answered("tasks/cancel"), func(a *asked) bool {
		ended := slices.ContainsFunc(x.states(), func(s *asked) bool {
			return s.Params["taskId"] == a.Params["taskId"] && s.Answer.Number < a.Question.Number && isFinal(s.text("status"))
		})
		return ended != late || a.Params["taskId"] == "no-such-task"
	})
}

func wantInvalid(w *probe.Watch, a *asked) {
	if code := a.code(); code != -32602 {
		w.FaultOf(probe.Of(a.Question, a.Answer), "the answer is not the error -32602")
	}
}

// wantTime wants a member of a task to be a time.
func wantTime(name string) func(*probe.Watch, *asked) {
	return func(w *probe.Watch, a *asked) {
		text := a.text(name)
		for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04:05Z0700", "2006-01-02", "20060102T150405Z0700"} {
			if _, err := time.Parse(layout, text); err == nil {
				return
			}
		}
		w.Fault(a.Answer, "/result/"+name, "%s is no time: %q", name, text)
	}
}
