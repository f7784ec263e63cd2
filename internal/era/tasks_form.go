package era

import (
	"cmp"
	"encoding/json"

	"github.com/parley-mcp/parley/internal/revision"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// Everything above the eras sees tasks in the form of 2026-07-28. Sessions have
// other names for two members, wrap a task that was just created, and count a tool
// that failed as a failed task. The functions of this file lower tasks to the form
// of a session; those of tasks_raise.go undo that.

// sessionNames are the members of a task that sessions name differently.
//
// Spec: 2025-11-25 basic/utilities/tasks#task.
var sessionNames = map[string]string{"ttlMs": "ttl", "pollIntervalMs": "pollInterval"}

// renamed returns an object, which must be valid JSON, with other names for some of
// its members, in the same order.
func renamed(doc json.RawMessage, names map[string]string) json.RawMessage {
	if !isObject(doc) {
		return doc
	}
	out := append(make([]byte, 0, len(doc)), '{')
	for name, value := range wire.Each(doc) {
		if len(out) > 1 {
			out = append(out, ',')
		}
		to, ok := names[string(name)]
		if !ok {
			to = string(name)
		}
		out = append(append(wire.AppendText(out, to), ':'), value...)
	}
	return append(out, '}')
}

// createdTask returns the result that hands out a task.
//
// Spec: 2025-11-25 basic/utilities/tasks#creating-tasks.
// Spec: ext-tasks/draft tasks#polymorphic-results.
func (f form) createdTask(r *mcp.CreateTaskResult) (any, error) {
	c := *r
	c.ResultType = mcp.ResultTask
	f.head(&c.ResultFields, nil)
	if f.facts.Stateless {
		return &c, nil
	}
	task, err := sessionTask(&c.Task)
	return &struct {
		mcp.ResultFields
		Task any `json:"task"`
	}{c.ResultFields, task}, err
}

// sessionTask returns a task in the form of a session.
//
// Spec: 2025-11-25 basic/utilities/tasks#task-status.
func sessionTask(t *mcp.Task) (json.RawMessage, error) {
	c := *t
	if c.ToolFailed && c.Status == mcp.TaskCompleted {
		c.Status = mcp.TaskFailed
	}
	doc, err := wire.Marshal(&c)
	return renamed(doc, sessionNames), err
}

// taskState returns the state of a task as the result of a method. A stateless
// server does not say how far a cancellation has come.
//
// Spec: 2025-11-25 basic/utilities/tasks#getting-tasks.
// Spec: ext-tasks/draft tasks#task-cancellation.
func (f form) taskState(method string, s *mcp.TaskState) (any, error) {
	head := mcp.ResultFields{Meta: s.Meta}
	f.head(&head, nil)
	if !f.facts.Stateless {
		task, err := sessionTask(&s.Task)
		if err != nil || head.Meta == nil {
			return task, err
		}
		return withMember(task, "_meta", head.Meta)
	}
	if method == mcp.MethodCancelTask {
		return &mcp.EmptyResult{ResultFields: head}, nil
	}
	c, err := f.detailed(s)
	c.ResultFields = head
	return c, err
}

// detailed returns the state of a task with what belongs to its status, in the form
// of a stateless revision and of its client.
//
// Spec: ext-tasks/draft tasks#task-polling.
func (f form) detailed(s *mcp.TaskState) (*mcp.TaskState, error) {
	c := *s
	c.ResultFields, c.InputRequests = mcp.ResultFields{}, nil
	for key, q := range s.InputRequests {
		if q == nil {
			continue
		}
		if c.InputRequests == nil {
			c.InputRequests = make(map[string]*mcp.InputRequest, len(s.InputRequests))
		}
		lowered := lowerQuestion(*q, f.facts, cmp.Or(f.client, &mcp.ClientCapabilities{}))
		c.InputRequests[key] = &lowered
	}
	if s.Result == nil {
		return &c, nil
	}
	shaped, err := f.raw(mcp.MethodCallTool, s.Result)
	if err == nil {
		c.Result, err = wire.Append(nil, shaped)
	}
	return &c, err
}

// listedTasks returns a page of tasks, which only sessions have.
//
// Spec: 2025-11-25 basic/utilities/tasks#listing-tasks.
func (f form) listedTasks(r *mcp.ListTasksResult) (any, error) {
	c := *r
	f.head(&c.ResultFields, nil)
	if f.facts.Stateless {
		return &c, nil
	}
	tasks := make([]json.RawMessage, 0, len(r.Tasks))
	for _, t := range r.Tasks {
		if t == nil {
			continue
		}
		task, err := sessionTask(t)
		if err != nil {
			return nil, err
		}
		tasks = append(tasks, task)
	}
	c.Tasks = []*mcp.Task{}
	doc, err := wire.Marshal(&c)
	if err != nil {
		return nil, err
	}
	return withMember(doc, "tasks", tasks)
}

func withMember(doc json.RawMessage, name string, value any) (json.RawMessage, error) {
	raw, err := wire.Marshal(value)
	if err != nil {
		return nil, err
	}
	return wire.Set(doc, name, raw)
}

// shapeTasksCapability returns what is declared about tasks in a revision: nothing
// where they are an extension.
func shapeTasksCapability(c *mcp.TasksCapability, f *revision.Facts) *mcp.TasksCapability {
	if !f.Tasks {
		return nil
	}
	return c
}
