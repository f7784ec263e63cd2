package serverprobe

import (
	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
)

// row is a requirement of the page about tasks.
func taskRow(number string) string { return "2511.basic.utilities.tasks-" + number }

func taskRows(numbers ...string) []string {
	var all []string
	for _, n := range numbers {
		all = append(all, taskRow(n))
	}
	return all
}

// needsTasks are what probes need that have a call run as a task.
var needsTasks = []string{needsSession, "tasks/requests/tools/call", needsTool}

const noTaskTool = "no tool that may be called can run as a task"

// ofRuns makes the body of a probe that looks at each task that was made.
func ofRuns(look func(x *X, w *probe.Watch, run *taskRun)) func(*X, *probe.Watch) {
	return func(x *X, w *probe.Watch) {
		w.Nothing(probe.Unverified(noTaskTool))
		for _, run := range x.tasks().runs {
			if run.id != "" {
				look(x, w, run)
			}
		}
	}
}

// seen runs a body that looks, for probes that also send.
func seen(watch func(*X, *probe.Watch)) func(*X) probe.Finding {
	return func(x *X) probe.Finding {
		w := &probe.Watch{}
		watch(x, w)
		return w.Finding()
	}
}

// ofTaskObjects makes the body of a probe that looks at what is said of tasks.
func ofTaskObjects(look func(w *probe.Watch, t taskObject)) func(*X) probe.Finding {
	return seen(func(x *X, w *probe.Watch) {
		w.Nothing(probe.Unverified(noTaskTool))
		x.tasks()
		for _, t := range x.taskObjects() {
			look(w, t)
		}
	})
}

var taskCreation = []Probe{
	{
		Info: probe.Info{
			ID: "tasks/declared", Rows: taskRows("001"),
			Does:    "Calls a tool that can run as a task, as a task.",
			Accepts: "A task only if the server declares tasks for tools/call.",
			Mend:    "Declare tasks.requests.tools.call, or ignore the member task.",
			After:   []string{introduction},
		},
		Needs: []string{needsSession, needsTool},
		Run: func(x *X) probe.Finding {
			for _, run := range x.tasks().runs {
				switch {
				case run.id == "":
				case !x.Offer.Has("tasks/requests/tools/call"):
					return probe.Fail(probe.OfReply(run.create), "the server makes a task, and does not declare that it can")
				default:
					return probe.Pass(probe.OfReply(run.create)...)
				}
			}
			return probe.Unverified(noTaskTool)
		},
	},
	{
		Info: probe.Info{
			ID: "tasks/ignored-elsewhere", Rows: taskRows("024", "004"),
			Does:    "Asks for a list with the member task, which no server declares for lists.",
			Accepts: "The list, and no task.",
			Mend:    "Ignore the member task in requests for which you do not declare it.",
		},
		Needs: []string{needsSession, "tools"},
		Run: func(x *X) probe.Finding {
			r := x.Call("tools/list", map[string]any{"task": map[string]any{"ttl": 60_000}})
			switch {
			case r.Response == nil:
				return unanswered(r)
			case r.Response.IsError():
				return probe.Fail(probe.OfReply(r), "the list is refused because of the member task")
			case r.Response.Object("result/task") != nil:
				return probe.Fail(probe.OfReply(r), "a task was made of a list")
			}
			return probe.Pass(probe.OfReply(r)...)
		},
	},
	{
		Info: probe.Info{
			ID: "tasks/not-asked-unless-declared", Rows: taskRows("003", "002"),
			Does:    "Declares no tasks as a client, and looks at what the server asks.",
			Accepts: "No request with the member task.",
		},
		Needs: []string{needsSession},
		Watch: func(x *X, w *probe.Watch) {
			w.Nothing(probe.Unverified("the server asked for nothing in the calls that could be made"))
			for _, m := range x.Received((*peer.Message).IsRequest) {
				if m.Method == "ping" {
					continue
				}
				w.Saw(m)
				if _, ok := m.Get("params/task"); ok {
					w.Fault(m, "/params/task", "the server asks for a task, which the client does not declare")
				}
			}
		},
	},
	{
		Info: probe.Info{
			ID: "tasks/create-result", Rows: taskRows("046", "013"),
			Does:    "Calls a tool as a task.",
			Accepts: "A result with a task that has an ID.",
		},
		Needs: needsTasks,
		Run: func(x *X) probe.Finding {
			runs := x.tasks().runs
			if len(runs) == 0 {
				return probe.Unverified(noTaskTool)
			}
			run := runs[0]
			switch {
			case run.create.Response == nil:
				return unanswered(run.create)
			case run.create.Response.IsError():
				return probe.Fail(probe.OfReply(run.create), "the tool %s can run as a task, and the call as one is refused", run.tool.Name)
			case run.create.Response.Object("result/task") == nil:
				return probe.Fail(probe.OfReply(run.create), "the answer has no task, although the tool %s can run as one", run.tool.Name)
			}
			return probe.Pass(probe.OfReply(run.create)...)
		},
	},
	{
		Info: probe.Info{
			ID: "tasks/create-result-alone", Rows: taskRows("015"),
			Does:    "Looks at the answers that name a new task.",
			Accepts: "Nothing of the result of the call.",
		},
		Needs: needsTasks,
		Run: seen(ofRuns(func(_ *X, w *probe.Watch, run *taskRun) {
			w.Saw(run.create.Response)
			for _, name := range []string{"content", "structuredContent", "isError"} {
				if _, ok := run.create.Response.Get("result/" + name); ok {
					w.Fault(run.create.Response, "/result/"+name, "the answer has the %s of the tool besides the task", name)
				}
			}
		})),
	},
	{
		Info: probe.Info{
			ID: "tasks/created-soon", Rows: taskRows("047"),
			Does:    "Compares how long it takes to make a task with how long the tool takes.",
			Accepts: "Less than half of it.",
		},
		Needs: needsTasks,
		Run: func(x *X) probe.Finding {
			for _, run := range x.tasks().runs {
				if run.id == "" || run.plain == nil || run.plain.Took < shortWork || len(run.plain.Asks) > 0 {
					continue
				}
				if took := run.create.Response.At - run.create.Sent.At; took > run.plain.Took/2 {
					return probe.Fail(probe.OfReply(run.create), "the answer took %s, and the tool takes %s", took, run.plain.Took)
				}
				return probe.Pass(probe.OfReply(run.create)...)
			}
			return probe.Unverified("no tool that may be called takes long and can run as a task")
		},
	},
	{
		Info: probe.Info{
			ID: "tasks/id-is-text", Rows: taskRows("026"),
			Does:    "Looks at the IDs of tasks.",
			Accepts: "Strings.",
		},
		Needs: needsTasks,
		Run: ofTaskObjects(func(w *probe.Watch, t taskObject) {
			w.Saw(t.m)
			if _, ok := t.task["taskId"].(string); !ok {
				w.Fault(t.m, t.at+"/taskId", "the ID of the task is no string")
			}
		}),
	},
	{
		Info: probe.Info{
			ID: "tasks/id-is-the-servers", Rows: taskRows("027"),
			Does:    "Proposes an ID for a task, which is not a member of the protocol.",
			Accepts: "Another ID.",
		},
		Needs: needsTasks,
		Run: seen(ofRuns(func(_ *X, w *probe.Watch, run *taskRun) {
			w.Saw(run.create.Response)
			if run.id == chosenID {
				w.Fault(run.create.Response, "/result/task/taskId", "the client could choose the ID")
			}
		})),
	},
	{
		Info: probe.Info{
			ID: "tasks/ids-differ", Rows: taskRows("028"),
			Does:    "Makes several tasks.",
			Accepts: "An ID of its own for each.",
			After:   []string{"tasks/id-is-the-servers"},
		},
		Needs: needsTasks,
		Run: func(x *X) probe.Finding {
			ids := map[string]*taskRun{}
			for _, run := range x.tasks().runs {
				if run.id == "" {
					continue
				}
				if other := ids[run.id]; other != nil {
					return probe.Fail(probe.Of(other.create.Response, run.create.Response), "two tasks have the same ID")
				}
				ids[run.id] = run
			}
			if len(ids) < 2 {
				return probe.Unverified("fewer than two tasks could be made")
			}
			return probe.Pass()
		},
	},
	{
		Info: probe.Info{
			ID: "tasks/ids-unguessable", Rows: taskRows("080"),
			Does:    "Looks at the IDs of several tasks.",
			Accepts: "At least 16 characters that are not counted up.",
			After:   []string{"tasks/id-is-the-servers", "tasks/ids-differ"},
		},
		Needs: needsTasks,
		Run: seen(ofRuns(func(_ *X, w *probe.Watch, run *taskRun) {
			w.Saw(run.create.Response)
			if len(run.id) < 16 {
				w.Fault(run.create.Response, "/result/task/taskId", "the ID has %d characters, which can be guessed", len(run.id))
			}
		})),
	},
	{
		Info: probe.Info{
			ID: "tasks/refused-where-unsupported", Rows: taskRows("009"),
			Does:    "Calls a tool that can't run as a task, as a task.",
			Accepts: "The error -32601.",
		},
		Needs: needsTasks,
		Run: func(x *X) probe.Finding {
			for _, tool := range x.Offer.Callable {
				if support := taskSupport(tool); support == "" || support == "forbidden" {
					return wantError(x.Call("tools/call", asTask(tool, 60_000, "task-refused")), -32601)
				}
			}
			return probe.Unverified("every tool that may be called can run as a task")
		},
	},
	{
		Info: probe.Info{
			ID: "tasks/required", Rows: taskRows("012"),
			Does:    "Calls a tool that runs as a task only, without a task.",
			Accepts: "The error -32601, or -32600.",
		},
		Needs: needsTasks,
		Run: func(x *X) probe.Finding {
			for _, tool := range x.Offer.Callable {
				if taskSupport(tool) == "required" {
					return wantError(x.Call("tools/call", map[string]any{"name": tool.Name, "arguments": tool.Arguments}), -32601, -32600)
				}
			}
			return probe.Unverified("no tool that may be called runs as a task only")
		},
	},
}
