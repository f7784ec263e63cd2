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
	scenarioTasksElsewhere  = "tasks-elsewhere"
	scenarioTaskQuestions   = "task-questions"
)

// taskScenarios are servers that work with tasks, in the revision that has them
// in its core.
var taskScenarios = []Scenario{
	{
		Name: scenarioTasks, Does: "Runs tools as tasks, each as far as it says: one must be a task, one may be, and the others must not.",
		Do: "Connect; call all tools, and wait for their results.", Needs: []string{needsSession, "tasks"},
		Result: offerTasks, On: taskTurns,
	},
	{
		Name: scenarioTasksElsewhere, Does: "Runs tools as tasks, and asks for them on the stream of GET.",
		Do: "Connect; call the tool report, and answer what is asked.", Needs: []string{needsSession, "tasks", needsHTTP},
		Result: offerTasks, On: taskTurns,
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

var taskTurns = map[string]func(*Turn) bool{
	"tools/call": (*Turn).callAsTask, "tasks/get": (*Turn).getTask, "tasks/result": (*Turn).resultOfTask, "tasks/cancel": (*Turn).cancelTask, "tasks/list": (*Turn).listTasks,
}

func offerTasks(_ *Turn, result object) object {
	if capabilities, ok := result["capabilities"].(object); ok {
		capabilities["tasks"] = object{"list": object{}, "cancel": object{}, "requests": object{"tools": object{"call": object{}}}}
	}
	return withTaskSupport(result)
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
		"ttl": taskTTL, "pollInterval": pollMs,
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
	if t.forgotten() {
		return true
	}
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
	if t.forgotten() {
		return true
	}
	id := t.Request.Text("params/taskId")
	if strings.HasPrefix(id, "task-report-") && t.declares("elicitation/form") && t.Count("ask "+id) == 0 {
		q := t.form("form", "form", shortForm())
		q.params["_meta"] = related(id)
		t.askForTask(q)
	}
	t.Count("done " + id)
	result := textResult("done")
	result["_meta"] = related(id)
	t.Result(result)
	return true
}

// askForTask asks what a task has to ask: with its result, or on the stream of GET if
// the scenario wants that and the client has one. What is refused there is asked again.
func (t *Turn) askForTask(q question) {
	if t.Scenario.Name == scenarioTasksElsewhere && t.stands() {
		if answer := t.ask(t.nextID(), q.method, q.params, t.Push, time.Second); answer == nil || answer.IsResult() {
			return
		}
	}
	t.Ask(q.method, q.params)
}

// stands reports whether the client has opened the stream for what belongs to no
// request.
func (l *Line) stands() bool {
	l.lmu.Lock()
	defer l.lmu.Unlock()
	return l.standing != nil
}

// cancelTask cancels a task, and forgets it.
//
// Spec: 2025-11-25 basic/utilities/tasks#task-cancellation (4).
func (t *Turn) cancelTask() bool {
	id := t.Request.Text("params/taskId")
	if t.forgotten() {
		return true
	}
	t.Count("cancelled " + id)
	t.Result(task(id, "cancelled"))
	return true
}

// forgotten refuses requests for tasks that were cancelled.
func (t *Turn) forgotten() bool {
	if t.counted("cancelled "+t.Request.Text("params/taskId")) == 0 {
		return false
	}
	t.Error(-32602, "Invalid params: there is no such task", nil)
	t.Mark("forgotten", t.Log.ResponseTo(t.Request))
	return true
}

// taskCursor is what the second page of tasks begins with.
const taskCursor = "{\"after\": 0}/?&=ü "

// listTasks lists tasks that are long over, in two pages.
func (t *Turn) listTasks() bool {
	switch cursor, has := t.Params["cursor"]; {
	case !has:
		t.Result(object{"tasks": list{task("old-1", "completed")}, "nextCursor": taskCursor})
	case cursor == taskCursor:
		t.Result(object{"tasks": list{task("old-2", "failed")}})
	default:
		t.Error(-32602, "Invalid params: no such cursor", nil)
	}
	return true
}
