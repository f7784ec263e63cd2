package serverprobe

import (
	"slices"
	"time"

	"github.com/parley-mcp/parley/internal/check/peer"
)

// The members of messages about tasks.
const (
	relatedTask   = "io.modelcontextprotocol/related-task"
	chosenID      = "parley-check-chosen" // an ID that servers must not take over
	mostTaskTools = 6
)

// ended are the statuses that a task keeps.
var ended = []string{"completed", "failed", "cancelled"}

// taskRun is a call that was made as a task, from its beginning to its end.
type taskRun struct {
	tool    Callable
	plain   *Doing // the same call without a task, or nil
	create  *peer.Reply
	id      string
	early   *peer.Reply // tasks/get, at once
	result  *peer.Reply // tasks/result, called before the end
	late    *peer.Reply // tasks/get, after the result
	again   *peer.Reply // tasks/result, after the end
	refused *peer.Reply // tasks/cancel of the ended task
	after   *peer.Reply // tasks/get, after that
	listed  []*peer.Message
}

// taskScene is what was played once for all probes of tasks.
type taskScene struct {
	runs      []*taskRun
	cancelled *cancelledTask
}

// cancelledTask is a task that was cancelled while it worked.
type cancelledTask struct {
	create, cancel, later *peer.Reply
	id, token             string
}

// tasks plays the scene, once.
func (x *X) tasks() *taskScene {
	if x.scenes.tasks != nil {
		return x.scenes.tasks
	}
	s := &taskScene{}
	x.scenes.tasks = s
	for _, tool := range x.taskTools() {
		if len(s.runs) < mostTaskTools {
			s.runs = append(s.runs, x.runTask(tool))
		}
	}
	if slow := x.slowTask(); slow != nil {
		s.cancelled = x.cancelTask(*slow)
	}
	return s
}

// taskTools are the tools that may be called and can run as tasks.
func (x *X) taskTools() []Callable {
	return slices.DeleteFunc(slices.Clone(x.Offer.Callable), func(c Callable) bool {
		support := taskSupport(c)
		return support != "optional" && support != "required"
	})
}

func taskSupport(c Callable) string {
	v, _ := peer.Get(c.Tool, "execution/taskSupport")
	s, _ := v.(string)
	return s
}

// asTask are the params of a call that is to run as a task.
func asTask(tool Callable, ttl int, token string) map[string]any {
	return map[string]any{
		"name": tool.Name, "arguments": tool.Arguments,
		"task":  map[string]any{"ttl": ttl, "taskId": chosenID},
		"_meta": map[string]any{"progressToken": token},
	}
}

func (x *X) runTask(tool Callable) *taskRun {
	run := &taskRun{tool: tool, create: x.Call("tools/call", asTask(tool, 60_000, "task-"+tool.Name))}
	for _, d := range x.Offer.Did {
		if d.Name == tool.Name {
			run.plain = d
		}
	}
	if run.create.Response != nil {
		run.id = run.create.Response.Text("result/task/taskId")
	}
	if run.id == "" {
		return run
	}
	id := map[string]any{"taskId": run.id}
	run.early = x.Call("tasks/get", id)
	run.result = x.Call("tasks/result", id)
	run.late = x.Call("tasks/get", id)
	run.again = x.Call("tasks/result", id)
	if x.Offer.Has("tasks/list") {
		_, run.listed = x.taskPages()
	}
	if x.Offer.Has("tasks/cancel") && slices.Contains(ended, statusOf(run.late)) {
		run.refused = x.Call("tasks/cancel", id)
		run.after = x.Call("tasks/get", id)
	}
	return run
}

// taskPages lists the tasks: their IDs, and the pages.
func (x *X) taskPages() (ids []string, pages []*peer.Message) {
	params := map[string]any{}
	for range mostPages {
		r := x.Call("tasks/list", params)
		if r.Response == nil || !r.Response.IsResult() {
			return ids, pages
		}
		pages = append(pages, r.Response)
		for _, v := range r.Response.List("result/tasks") {
			id, _ := peer.Get(v, "taskId")
			text, _ := id.(string)
			ids = append(ids, text)
		}
		next, ok := r.Response.Get("result/nextCursor")
		if !ok || next == nil {
			break
		}
		params = map[string]any{"cursor": next}
	}
	return ids, pages
}

// slowTask is a tool that was seen to take a while without asking anything.
func (x *X) slowTask() *Callable {
	var slow *Doing
	for _, d := range x.Offer.Did {
		if taskSupport(d.Callable) == "optional" && len(d.Asks) == 0 && !d.Failed && d.Took > 300*time.Millisecond && (slow == nil || d.Took > slow.Took) {
			slow = d
		}
	}
	if slow == nil {
		return nil
	}
	return &slow.Callable
}

func (x *X) cancelTask(tool Callable) *cancelledTask {
	if !x.Offer.Has("tasks/cancel") {
		return nil
	}
	c := &cancelledTask{token: "task-to-cancel"}
	c.create = x.Call("tools/call", asTask(tool, 60_000, c.token))
	if c.create.Response == nil {
		return c
	}
	if c.id = c.create.Response.Text("result/task/taskId"); c.id == "" {
		return c
	}
	c.cancel = x.Call("tasks/cancel", map[string]any{"taskId": c.id})
	x.Main.Quiet(x.Ctx)
	c.later = x.Call("tasks/get", map[string]any{"taskId": c.id})
	return c
}

// statusOf is the status in an answer to tasks/get or tasks/cancel, or "".
func statusOf(r *peer.Reply) string {
	if r == nil || r.Response == nil {
		return ""
	}
	return r.Response.Text("result/status")
}

// taskObject is a task as some message describes it.
type taskObject struct {
	m    *peer.Message
	at   string // its JSON pointer
	task map[string]any
}

// taskObjects are the tasks in all messages of the server, in order.
func (x *X) taskObjects() []taskObject {
	var all []taskObject
	add := func(m *peer.Message, at string) {
		if task := m.Object(at[1:]); task != nil {
			all = append(all, taskObject{m, at, task})
		}
	}
	for _, m := range x.Received(nil) {
		method := m.Method
		if asked := x.Log.RequestOf(m); asked != nil && m.IsResult() {
			method = asked.Method
		}
		switch method {
		case "notifications/tasks/status":
			add(m, "/params")
		case "tasks/get", "tasks/cancel":
			add(m, "/result")
		case "tools/call":
			add(m, "/result/task")
		case "tasks/list":
			for n := range m.List("result/tasks") {
				add(m, "/result/tasks/"+string(peer.Encode(n)))
			}
		}
	}
	return all
}

func (t *taskObject) text(name string) string {
	s, _ := t.task[name].(string)
	return s
}
