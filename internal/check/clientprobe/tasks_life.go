package clientprobe

import (
	"slices"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
)

// These probes look at where tasks are found, and what reaches them until they end.
var tasksLife = []Probe{
	{
		Info: probe.Info{
			ID: "tasks/list-complete", Rows: []string{"2511.basic.utilities.tasks-061", "2511.basic.utilities.tasks-059"},
			Does:    "Lists tasks page by page, and asks for the state of each before and after that.",
			Accepts: "Lists that have all tasks whose state the client tells.",
			Mend:    "List all tasks of the server, and give a nextCursor if there are more.",
			After:   []string{"tasks/right-task", "tasks/id-string"},
		},
		Needs: []string{needsSession, "tasks"}, In: []string{scenarioTaskQuestions},
		Watch: watchTaskLists,
	},
	{
		Info: probe.Info{
			ID: "tasks/cursors-as-given", Rows: []string{"2511.basic.utilities.tasks-060"},
			Does:    "Lists the server's tasks in pages whose cursors look odd, and compares what comes back.",
			Accepts: "Cursors as they were given.",
			Mend:    "Send nextCursor back as it came.",
		},
		Needs: []string{needsSession, "tasks"}, In: []string{scenarioTasks},
		Watch: func(x *X, w *probe.Watch) {
			w.Nothing(probe.Unverified("the client has asked for no further page of tasks"))
			for _, m := range x.Requests("tasks/list") {
				cursor, has := m.Get("params/cursor")
				if !has {
					continue
				}
				w.Saw(m)
				if cursor != taskCursor {
					w.Fault(m, "/params/cursor", "no page had this cursor")
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "tasks/copes-with-forgotten", Rows: []string{"2511.basic.utilities.tasks-067"},
			Does:    "Forgets tasks as soon as the client has cancelled them.",
			Accepts: "That the client goes on.",
			Mend:    "Fetch what you need of a task before you cancel it.",
		},
		Needs: []string{needsSession, "tasks"}, In: []string{scenarioTasks},
		Watch: func(x *X, w *probe.Watch) {
			w.Nothing(probe.Unverified("the client cancels no task, or does not ask for it then"))
			x.carriesOn(w, x.Marked("forgotten"), "the news that a cancelled task is no longer there")
		},
	},
	{
		Info: probe.Info{
			ID: "tasks/messages-on-any-stream", Rows: []string{"2511.basic.utilities.tasks-033"},
			Does:    "Asks what a task has to ask on the stream of GET, and with its result if that is refused.",
			Accepts: "The answer that the client gives on other streams.",
			Mend:    "Take requests of the server from whatever stream they come.",
		},
		Needs: []string{needsSession, "tasks", needsHTTP}, In: []string{scenarioTasksElsewhere},
		Watch: func(x *X, w *probe.Watch) {
			w.Nothing(probe.Unverified("the client has no stream of GET, or was not asked"))
			var refused *asked
			for _, a := range x.answered(elicit) {
				switch {
				case a.result() == nil:
					refused = a
				case refused != nil:
					w.FaultOf(probe.Of(refused.Question, refused.Answer), "the client refuses a question that it answers on another stream")
				default:
					w.Saw(a.Answer)
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "tasks/cancels-by-their-own-method", Rows: []string{"2511.basic.utilities.cancellation-004"},
			Does:    "Looks at how calls that have become tasks are cancelled.",
			Accepts: "tasks/cancel.",
			Mend:    "Cancel tasks with tasks/cancel: notifications/cancelled is for requests without an answer.",
		},
		Needs: []string{needsSession, "tasks"},
		Watch: func(x *X, w *probe.Watch) {
			w.Nothing(probe.Unverified("the client cancels no task"))
			for _, m := range x.Requests("tasks/cancel") {
				w.Saw(m)
			}
			for _, m := range x.Received(is("notifications/cancelled")) {
				if made := x.taskOf(x.cancelled(m)); made != nil && made.Number < m.Number {
					w.FaultOf(probe.Of(m, made), "the call has become a task, and is cancelled like a request")
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "progress/token-of-task", Rows: []string{"2511.basic.utilities.progress-010"},
			Does:    "Compares the progress tokens of requests with those of calls that are still at work as tasks.",
			Accepts: "That each has its own.",
			Mend:    "Use the progress token of a call for nothing else until its task has ended.",
			After:   []string{tokenType},
		},
		Needs: []string{needsSession, "tasks"}, In: []string{scenarioTasks},
		Watch: watchTaskTokens,
	},
	{
		Info: probe.Info{
			ID: "progress/stops-with-task", Rows: []string{"2511.basic.utilities.progress-012"},
			Does:    "Looks at progress that the client reports of tasks.",
			Accepts: "None once the client has said that the task has ended.",
			Mend:    "Report no progress of tasks that have ended.",
		},
		Needs: []string{needsSession, "tasks"}, In: []string{scenarioTaskQuestions},
		Watch: func(x *X, w *probe.Watch) {
			w.Nothing(probe.Unverified("the client reported no progress of tasks"))
			for _, m := range x.Received(is("notifications/progress")) {
				made := x.taskOf(x.progressOf(m))
				if made == nil {
					continue
				}
				w.Saw(m)
				for _, s := range x.states() {
					if s.Params["taskId"] == made.Text("result/task/taskId") && s.Answer.Number < m.Number && isFinal(s.text("status")) {
						w.FaultOf(probe.Of(m, s.Answer), "progress was reported after the end of the task")
					}
				}
			}
		},
	},
}

// taskOf is the answer by which a request became a task, or nil.
func (x *X) taskOf(request *peer.Message) *peer.Message {
	if request == nil {
		return nil
	}
	if made := x.Log.ResponseTo(request); made != nil && made.Text("result/task/taskId") != "" {
		return made
	}
	return nil
}

// watchTaskLists wants the pages of a list to have the tasks that were found before
// and after it.
func watchTaskLists(x *X, w *probe.Watch) {
	w.Nothing(probe.Unverified("the client declares no list of tasks, or has none to list"))
	var first, last *asked
	listed := map[any]bool{}
	for _, page := range x.gave("tasks/list") {
		if page.Params["cursor"] == noCursor {
			continue
		}
		if first == nil {
			first = page
		}
		last = page
		tasks, _ := page.result()["tasks"].(list)
		for _, v := range tasks {
			id, _ := peer.Get(v, "taskId")
			listed[id] = true
		}
	}
	if first == nil || last.text("nextCursor") != "" {
		return
	}
	found := func(id any, late bool) bool {
		return slices.ContainsFunc(x.states(), func(s *asked) bool {
			return s.Params["taskId"] == id && (late && s.Question.Number > last.Answer.Number || !late && s.Answer.Number < first.Question.Number)
		})
	}
	for _, made := range x.tasksMade() {
		id := any(made.text("task/taskId"))
		if !found(id, false) || !found(id, true) {
			continue
		}
		w.Saw(last.Answer)
		if !listed[id] {
			w.FaultOf(probe.Of(last.Answer), "the task %q is in no page of the list", id)
		}
	}
}

// watchTaskTokens wants the token of a call to be used for nothing else until the
// client knows that its task has ended.
func watchTaskTokens(x *X, w *probe.Watch) {
	w.Nothing(probe.Unverified("the client wants no progress of tasks"))
	for _, call := range x.Requests("tools/call") {
		token, has := call.Get("params/_meta/progressToken")
		made := x.taskOf(call)
		if !has || made == nil {
			continue
		}
		w.Saw(call)
		end := x.endOf(made)
		for _, m := range x.After(made, (*peer.Message).IsRequest) {
			same, has := m.Get("params/_meta/progressToken")
			if has && m.Conn == call.Conn && (end == nil || m.Number < end.Number) && string(peer.Encode(same)) == string(peer.Encode(token)) {
				w.FaultOf([]probe.Blame{{Message: m, Pointer: "/params/_meta/progressToken"}, {Message: call}}, "a task that is at work has the same progress token")
			}
		}
	}
}

// endOf is what told the client that a task has ended, or nil.
func (x *X) endOf(made *peer.Message) *peer.Message {
	id := made.Text("result/task/taskId")
	for _, m := range x.Sent((*peer.Message).IsResponse) {
		asked := x.Log.RequestOf(m)
		if asked == nil || m.Number < made.Number || asked.Text("params/taskId") != id {
			continue
		}
		if asked.Method == "tasks/result" || isFinal(m.Text("result/status")) || m.IsError() {
			return m
		}
	}
	return nil
}
