package clientprobe

import (
	"fmt"
	"maps"
	"time"

	"github.com/parley-mcp/parley/mcp"
)

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
		t.listAll()
		t.Ask("tasks/list", object{"cursor": noCursor})
	}
	return false
}

// noCursor is a cursor that no page has.
const noCursor = "no such cursor"

// listAll lists the client's tasks, and asks for the state of those that were
// followed before and after that.
func (t *Turn) listAll() {
	ids := t.taskIDs()
	ask := func() {
		for _, id := range ids {
			t.Ask("tasks/get", object{"taskId": id})
		}
	}
	const mostPages = 20
	ask()
	params := object(nil)
	for range mostPages {
		page := t.Ask("tasks/list", params)
		if page == nil || page.Text("result/nextCursor") == "" {
			break
		}
		params = object{"cursor": page.Text("result/nextCursor")}
	}
	ask()
}

// taskIDs are those of the tasks that the client has made in the session.
func (t *Turn) taskIDs() []string {
	var ids []string
	for _, m := range t.Log.Messages() {
		id := m.Text("result/task/taskId")
		if !m.Sent && m.Conn == t.Request.Conn && id != "" {
			ids = append(ids, id)
		}
	}
	return ids
}

// taskTTL is how long tasks are kept, in milliseconds.
const taskTTL = 60_000

// beginTask asks for a task, and returns its ID, or "". Each has a progress token.
func (t *Turn) beginTask(method string, params object) string {
	params = maps.Clone(params)
	params["task"] = object{"ttl": taskTTL}
	params["_meta"] = object{mcp.MetaProgressToken: fmt.Sprintf("task-token-%d", t.Count("task token"))}
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
