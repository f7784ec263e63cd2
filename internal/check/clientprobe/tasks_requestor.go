package clientprobe

import (
	"encoding/json"
	"time"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/mcp"
)

// These probes look at the tasks that clients want of servers.
var tasksRequestor = []Probe{
	{
		Info: probe.Info{
			ID: "tasks/none-undeclared", Rows: []string{"2511.basic.utilities.tasks-007", "2511.basic.utilities.tasks-003", "2511.basic.utilities.tasks-002"},
			Does:    "Declares no tasks, and offers tools that say they are tasks.",
			Accepts: "Calls without the member task.",
			Mend:    "Ask for tasks only if the server declares tasks.requests.tools.call.",
		},
		Needs: []string{needsSession, "tasks"}, In: []string{TheBase, scenarioTasksUndeclared},
		Watch: eachCall(func(w *probe.Watch, m *peer.Message, wants bool) {
			w.Saw(m)
			if wants {
				w.Fault(m, "/params/task", "the call wants to be a task, and the server declares none")
			}
		}),
	},
	{
		Info: probe.Info{
			ID: "tasks/none-of-other-tools", Rows: []string{"2511.basic.utilities.tasks-008"},
			Does:    "Offers tools whose taskSupport is forbidden or absent.",
			Accepts: "Calls without the member task.",
			Mend:    "Look at execution.taskSupport of a tool before you call it.",
		},
		Needs: []string{needsSession, "tasks"}, In: []string{scenarioTasks},
		Watch: eachCall(func(w *probe.Watch, m *peer.Message, wants bool) {
			if kind := support[m.Text("params/name")]; kind == "required" || kind == "optional" {
				return
			}
			w.Saw(m)
			if wants {
				w.Fault(m, "/params/task", "the call wants to be a task, which the tool does not support")
			}
		}),
	},
	{
		Info: probe.Info{
			ID: "tasks/required", Rows: []string{"2511.basic.utilities.tasks-011"},
			Does:    "Offers a tool whose taskSupport is required to clients that know tasks.",
			Accepts: "Calls with the member task, or none.",
			Mend:    "Call tools whose taskSupport is required as tasks.",
		},
		Needs: []string{needsSession, "tasks"}, In: []string{scenarioTasks},
		Watch: func(x *X, w *probe.Watch) {
			w.Nothing(probe.Unverified("the client does not know tasks, or has not called the tool"))
			knows := false
			eachCall(func(_ *probe.Watch, _ *peer.Message, wants bool) { knows = knows || wants })(x, w)
			eachCall(func(w *probe.Watch, m *peer.Message, wants bool) {
				if support[m.Text("params/name")] != "required" || !knows || !x.listedTool(m) {
					return
				}
				w.Saw(m)
				if !wants {
					w.Fault(m, "/params", "the tool must be called as a task")
				}
			})(x, w)
		},
	},
	{
		Info: probe.Info{
			ID: "tasks/member", Rows: []string{"2511.basic.utilities.tasks-013"},
			Does:    "Looks at the member task of calls.",
			Accepts: "An object; its ttl a number.",
		},
		Needs: []string{needsSession, "tasks"},
		Watch: eachCall(func(w *probe.Watch, m *peer.Message, wants bool) {
			if !wants {
				return
			}
			w.Saw(m)
			v, _ := m.Get("params/task/ttl")
			if _, number := v.(json.Number); m.Object("params/task") == nil || v != nil && !number {
				w.Fault(m, "/params/task", "this asks for no task")
			}
		}),
	},
	{
		Info: probe.Info{
			ID: "tasks/poll-interval", Rows: []string{"2511.basic.utilities.tasks-018", "2511.basic.utilities.tasks-045"},
			Does:    "Gives a pollInterval, and measures the time between the requests for the state of a task.",
			Accepts: "At least four fifths of it.",
			Mend:    "Wait for pollInterval before you ask again.",
		},
		Needs: []string{needsSession, "tasks"}, In: []string{scenarioTasks},
		Watch: func(x *X, w *probe.Watch) {
			w.Nothing(probe.Unverified("the client has not asked twice for the state of a task"))
			last := map[string]time.Duration{}
			for _, m := range x.Requests("tasks/get") {
				id := m.Text("params/taskId")
				before, again := last[id]
				if last[id] = m.At; !again {
					continue
				}
				w.Saw(m)
				if m.At-before < pollMs*time.Millisecond*4/5 {
					w.Fault(m, "", "the client asks again after %v, although pollInterval is %d ms", m.At-before, pollMs)
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "tasks/polls", Rows: []string{
				"2511.basic.utilities.tasks-022", "2511.basic.utilities.tasks-023", "2511.basic.utilities.tasks-019", "2511.basic.utilities.tasks-020",
			},
			Does:    "Makes tasks, and sends no notifications about them.",
			Accepts: "Requests for the state or the result of each.",
			Mend:    "Ask for the state of a task: notifications may not come.",
		},
		Needs: []string{needsSession, "tasks"}, In: []string{scenarioTasks},
		Watch: watchPolls,
	},
	{
		Info: probe.Info{
			ID: "tasks/input-required", Rows: []string{"2511.basic.utilities.tasks-037"},
			Does:    "Says that a task wants input.",
			Accepts: "A request for the result, in which the question comes.",
			Mend:    "Ask for the result when a task is input_required.",
		},
		Needs: []string{needsSession, "tasks"}, In: []string{scenarioTasks},
		Watch: func(x *X, w *probe.Watch) {
			w.Nothing(probe.Unverified("the client was not told that a task wants input"))
			for _, told := range x.Sent(func(m *peer.Message) bool { return m.Text("result/status") == "input_required" }) {
				id := told.Text("result/taskId")
				gets := 0
				for _, m := range x.After(told, is("tasks/get", "tasks/result")) {
					if m.Text("params/taskId") != id {
						continue
					}
					if m.Method == "tasks/result" {
						w.Saw(m)
						break
					}
					if gets++; gets == mostGets {
						w.FaultOf(probe.Of(told, m), "the client goes on asking for the state, and not for the result")
					}
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "tasks/related-in-answers", Rows: []string{"2511.basic.utilities.tasks-051"},
			Does:    "Asks something for a task.",
			Accepts: "The ID of the task in the metadata of the answer.",
			Mend:    "Answer a question that belongs to a task with io.modelcontextprotocol/related-task in _meta.",
		},
		Needs: []string{needsSession, "tasks"}, In: []string{scenarioTasks},
		Watch: func(x *X, w *probe.Watch) {
			w.Nothing(noAnswer("of a task"))
			at := "_meta/" + pointer(mcp.MetaRelatedTask) + "/taskId"
			for _, a := range x.gave(elicit) {
				want, has := peer.Get(any(a.Params), at)
				if !has {
					continue
				}
				w.Saw(a.Answer)
				if got, _ := a.get(at); got != want {
					w.FaultOf(probe.Of(a.Question, a.Answer), "the answer does not name the task that it belongs to")
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "tasks/no-related-in-requests", Rows: []string{"2511.basic.utilities.tasks-054"},
			Does:    "Looks for metadata of tasks in requests that name their task in params.",
			Accepts: "None.",
			Mend:    "Leave io.modelcontextprotocol/related-task out of tasks/get, tasks/result and tasks/cancel.",
		},
		Needs: []string{needsSession, "tasks"}, In: []string{scenarioTasks},
		Watch: func(x *X, w *probe.Watch) {
			w.Nothing(probe.Unverified("the client asks for no task"))
			for _, m := range x.Requests("tasks/get", "tasks/result", "tasks/cancel") {
				w.Saw(m)
				if _, has := m.Get("params/_meta/" + pointer(mcp.MetaRelatedTask)); has {
					w.Fault(m, "/params/_meta", "the request names the task a second time")
				}
			}
		},
	},
}

// mostGets is how often a client may ask for the state of a task that wants input.
const mostGets = 3

// eachCall looks at each call of a tool, and whether it wants to be a task.
func eachCall(look func(w *probe.Watch, m *peer.Message, wants bool)) func(*X, *probe.Watch) {
	return func(x *X, w *probe.Watch) {
		for _, m := range x.Requests(mcp.MethodCallTool) {
			_, wants := m.Get("params/task")
			look(w, m, wants)
		}
	}
}

// listedTool reports whether the client had seen the definition of the tool that it
// calls.
func (x *X) listedTool(call *peer.Message) bool {
	for _, m := range x.Sent((*peer.Message).IsResult) {
		for _, v := range m.List("result/tools") {
			if name, _ := peer.Get(v, "name"); m.Number < call.Number && m.Conn == call.Conn && name == call.Text("params/name") {
				return true
			}
		}
	}
	return false
}

// watchPolls wants tasks to be asked about, as long as the conversation goes on for
// many times the interval.
func watchPolls(x *X, w *probe.Watch) {
	w.Nothing(probe.Unverified("the client has started no task"))
	for _, made := range x.Sent(func(m *peer.Message) bool { return m.Text("result/task/taskId") != "" }) {
		id := made.Text("result/task/taskId")
		asked, late := false, false
		for _, m := range x.After(made, nil) {
			late = late || m.Conn == made.Conn && m.At-made.At > 20*pollMs*time.Millisecond
			if m.Text("params/taskId") == id {
				asked = true
			}
		}
		switch {
		case asked:
			w.Saw(made)
		case late:
			w.FaultOf(probe.Of(made), "the client never asks about the task, although the conversation goes on")
		}
	}
}
