package clientprobe

import (
	"time"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/mcp"
)

const scenarioExtension = "extension"

// extensionScenarios are servers that use an extension that the client declares.
var extensionScenarios = []Scenario{{
	Name: scenarioExtension, Does: "Answers calls with the result type of an extension, if the client declares the extension for tasks.",
	Do: "Connect; call the tool show, and wait for its result.", Needs: []string{needsStateless},
	Result: func(_ *Turn, result object) object {
		if capabilities, ok := result["capabilities"].(object); ok {
			capabilities["extensions"] = object{mcp.ExtensionTasks: object{}}
		}
		return result
	},
	Tool: map[string]func(*Turn) bool{"show": (*Turn).handOver},
	On:   map[string]func(*Turn) bool{"tasks/get": (*Turn).tellResult},
}}

// extensionTask is a task as the extension has it.
//
// Spec: ext-tasks/draft tasks#tasks.
func extensionTask(kind, status string) object {
	return object{
		"resultType": kind, "taskId": "task-of-extension", "status": status, "createdAt": "2026-08-12T15:00:58Z",
		"lastUpdatedAt": "2026-08-12T15:00:58Z", "ttlMs": taskTTL, "pollIntervalMs": pollMs,
	}
}

// handOver answers a call with a task, if the client declares that it knows them.
func (t *Turn) handOver() bool {
	if !declares(t.declared(), "extensions/"+pointer(mcp.ExtensionTasks)) {
		return false
	}
	t.Result(extensionTask("task", "working"))
	return true
}

func (t *Turn) tellResult() bool {
	result := extensionTask("complete", "completed")
	result["result"] = textResult("done")
	t.Result(result)
	return true
}

var basicExtensions = []Probe{{
	Info: probe.Info{
		ID: "basic/result-types-of-extensions", Rows: []string{"26.basic.index-013"},
		Does:    "Answers a call with a task, if the client declares the extension for tasks.",
		Accepts: "A request for the state of the task.",
		Mend:    "Declare only extensions whose results you understand.",
	},
	Needs: []string{needsStateless}, In: []string{scenarioExtension},
	Watch: func(x *X, w *probe.Watch) {
		w.Nothing(probe.Unverified("the client does not declare the extension for tasks, or made no call"))
		for _, handed := range x.Sent(func(m *peer.Message) bool { return m.Text("result/resultType") == "task" }) {
			asked, late := false, false
			for _, m := range x.After(handed, nil) {
				asked = asked || m.Text("params/taskId") == "task-of-extension"
				late = late || m.At-handed.At > 5*pollMs*time.Millisecond
			}
			switch {
			case asked:
				w.Saw(handed)
			case late && !x.ByHand:
				w.FaultOf(probe.Of(handed, x.Log.RequestOf(handed)), "the client declares the extension, and makes nothing of its result")
			}
		}
	},
}}
