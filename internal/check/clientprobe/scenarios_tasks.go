package clientprobe

import (
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/parley-mcp/parley/mcp"
)

const (
	scenarioTasks           = "tasks"
	scenarioTasksUndeclared = "tasks-undeclared"
	scenarioTaskQuestions   = "task-questions"
)

// taskScenarios are servers that work with tasks, in the revision that has them
// in its core.
var taskScenarios = []Scenario{
	{
		Name: scenarioTasks, Does: "Runs tools as tasks, each as far as it says: one must be a task, one may be, and the others must not.",
		Do: "Connect; call all tools, and wait for their results.", Needs: []string{needsSession, "tasks"},
		Result: func(t *Turn, result object) object {
			if capabilities, ok := result["capabilities"].(object); ok {
				capabilities["tasks"] = object{"list": object{}, "cancel": object{}, "requests": object{"tools": object{"call": object{}}}}
			}
			return withTaskSupport(result)
		},
		On: map[string]func(*Turn) bool{
			"tools/call": (*Turn).callAsTask, "tasks/get": (*Turn).getTask, "tasks/result": (*Turn).resultOfTask, "tasks/cancel": (*Turn).cancelTask,
		},
	},
	{
		Name: scenarioTasksUndeclared, Does: "Offers tools that say they are tasks, and declares no tasks.",
		Do: "Connect; call all tools.", Needs: []string{needsSession, "tasks"},
		Result: func(_ *Turn, result object) object { return withTaskSupport(result) },
	},
	{
		Name: scenarioTaskQuestions, Does: "Asks the client's user and model by tasks, follows, cancels and lists them.",
		Do: "Connect; call the tool report, and answer what is asked.", Needs: []string{needsSession, "tasks"},
		Tool: map[string]func(*Turn) bool{"report": askByTasks},
	},
}

// support says which tools can be tasks.
var support = map[string]string{"report": "required", "show": "optional", "change": "forbidden"}

func withTaskSupport(result object) object {
	tools, _ := result["tools"].(list)
	for n, v := range tools {
		tool, ok := v.(object)
		name, _ := tool["name"].(string)
		if ok && support[name] != "" {
			tool = maps.Clone(tool)
			tool["execution"] = object{"taskSupport": support[name]}
			tools[n] = tool
		}
	}
	return result
}

// pollMs is the pollInterval of tasks, in milliseconds.
const pollMs = 200

func task(id, status string) object {
	return object{
		"taskId": id, "status": status, "createdAt": "2026-01-12T15:00:58Z", "lastUpdatedAt": "2026-01-12T15:00:58Z",
		"ttl": 60_000, "pollInterval": pollMs,
	}
}

// callAsTask makes a task of a call that wants to be one.
func (t *Turn) callAsTask() bool {
	name := t.Request.Text("params/name")
	_, wants := t.Params["task"]
	switch {
	case wants && (support[name] == "required" || support[name] == "optional"):
		id := fmt.Sprintf("task-%s-%s", name, t.nextID())
		t.Result(object{"task": task(id, "working")})
	case wants || support[name] == "required":
		t.Error(-32601, "Method not found", nil)
	default:
		return false
	}
	return true
}

// getTask says how far a task is: it works, wants input if it has a question, and is
// over once its result was fetched, or after a while.
func (t *Turn) getTask() bool {
	id := t.Request.Text("params/taskId")
	status := "working"
	switch asks := t.Count("get " + id); {
	case t.counted("done "+id) > 0:
		status = "completed"
	case asks == 0:
	case strings.HasPrefix(id, "task-report-") && t.declares("elicitation/form"):
		status = "input_required"
	default:
		status = "completed"
	}
	t.Result(task(id, status))
	return true
}

func (t *Turn) declares(what string) bool { return declares(t.declared(), what) }

func related(id string) object { return object{mcp.MetaRelatedTask: object{"taskId": id}} }

// resultOfTask asks what the task has to ask, and returns its result.
func (t *Turn) resultOfTask() bool {
	id := t.Request.Text("params/taskId")
	if strings.HasPrefix(id, "task-report-") && t.declares("elicitation/form") && t.Count("ask "+id) == 0 {
		q := t.form("form", "form", shortForm())
		q.params["_meta"] = related(id)
		t.Ask(q.method, q.params)
	}
	t.Count("done " + id)
	result := textResult("done")
	result["_meta"] = related(id)
	t.Result(result)
	return true
}

func (t *Turn) cancelTask() bool {
	t.Result(task(t.Request.Text("params/taskId"), "cancelled"))
	return true
}

// askByTasks asks as tasks what the client says can be one.
//
// Spec: 2025-11-25 basic/utilities/tasks#creating-tasks.
func askByTasks(t *Turn) bool {
	if t.declares("sampling") && t.declares("tasks/requests/sampling/createMessage") {
		t.follow(sample, sampling("Say something.", 5, nil))
		t.cancelSlow()
		if t.declares("sampling/tools") {
			t.follow(sample, conversation(list{said("assistant", list{using("one")}), said("user", object{"type": "text", "text": "And?"})}, 100, choose("auto")))
		}
	}
	if t.declares("elicitation/form") && t.declares("tasks/requests/elicitation/create") {
		t.follow(elicit, t.form("form", "form", shortForm()).params)
	}
	if !t.declares("tasks") {
		return false
	}
	for _, method := range []string{"tasks/get", "tasks/result", "tasks/cancel"} {
		if method != "tasks/cancel" || t.declares("tasks/cancel") {
			t.Ask(method, object{"taskId": "no-such-task"})
		}
	}
	if t.declares("tasks/list") {
		t.Ask("tasks/list", nil)
		t.Ask("tasks/list", object{"cursor": "no such cursor"})
	}
	return false
}

// begin asks for a task, and returns its ID, or "".
func (t *Turn) beginTask(method string, params object) string {
	params = maps.Clone(params)
	params["task"] = object{"ttl": 60_000}
	r := t.Ask(method, params)
	if r == nil {
		return ""
	}
	return r.Text("result/task/taskId")
}

// follow follows a task to its end, and tries to cancel it then. The metadata in
// the request for its state name another task, and mean nothing.
func (t *Turn) follow(method string, params object) {
	id := t.beginTask(method, params)
	if id == "" {
		return
	}
	t.Ask("tasks/get", object{"taskId": id})
	t.Ask("tasks/result", object{"taskId": id})
	t.Ask("tasks/get", object{"taskId": id, "_meta": related("another-task")})
	if t.declares("tasks/cancel") {
		t.Ask("tasks/cancel", object{"taskId": id})
		t.Ask("tasks/get", object{"taskId": id})
	}
}

// cancelSlow cancels a task that takes its time, and looks at it later.
func (t *Turn) cancelSlow() {
	if !t.declares("tasks/cancel") {
		return
	}
	id := t.beginTask(sample, sampling("Count to ten, slowly.", 100, nil))
	if id == "" {
		return
	}
	t.Ask("tasks/cancel", object{"taskId": id})
	t.Pause(400 * time.Millisecond)
	t.Ask("tasks/get", object{"taskId": id})
}
