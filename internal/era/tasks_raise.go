package era

import (
	"encoding/json"
	"math"
	"strconv"

	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// raisedNames undoes sessionNames.
var raisedNames = func() map[string]string {
	names := make(map[string]string, len(sessionNames))
	for name, session := range sessionNames {
		names[session] = name
	}
	return names
}()

// raiseTask returns what a server of a session says of a task in the form that
// everything above the eras knows.
func raiseTask(task json.RawMessage) json.RawMessage { return WholeTimes(renamed(task, raisedNames)) }

// WholeTimes returns a task, in the form that everything above the eras knows, with its
// times in whole milliseconds: some servers write them with a decimal point. A time that
// is no number, or too large, stays as it is, so that whoever decodes the task says so.
//
// Spec: ext-tasks/draft tasks#tasks.
func WholeTimes(task json.RawMessage) json.RawMessage {
	for name := range sessionNames {
		value := string(wire.Find(task, name))
		if _, err := strconv.ParseInt(value, 10, 64); err == nil {
			continue
		}
		ms, err := strconv.ParseFloat(value, 64)
		if err != nil || math.Abs(ms) > math.MaxInt32*1000 {
			continue
		}
		if set, err := wire.Set(task, name, strconv.AppendInt(nil, int64(math.Ceil(ms)), 10)); err == nil {
			task = set
		}
	}
	return task
}

// raise returns the result of a request in the form that everything above the eras
// knows: a task that was created has the result type mcp.ResultTask, and its state
// the names of mcp.TaskState. Anything else is returned as it is.
//
// Spec: 2025-11-25 basic/utilities/tasks#creating-tasks.
func (c *SessionClient) raise(o *Outgoing, result json.RawMessage) json.RawMessage {
	d := mcp.MethodNamed(o.Method)
	if d == nil || !c.Facts().Tasks {
		return result
	}
	if d.AsTask {
		if c.tasks && wire.Find(o.Params, memberTask) != nil {
			return raiseCreated(result)
		}
		return result
	}
	if !isTaskMethod(d) {
		return result
	}
	switch d.NewResult().(type) {
	case *mcp.TaskState:
		return raiseTask(result)
	case *mcp.ListTasksResult:
		return raiseList(result)
	}
	return result
}

// memberTask is the member of params that asks for a task.
//
// Spec: 2025-11-25 basic/utilities/tasks#task-parameters.
const memberTask = "task"

// isTaskMethod reports whether a method is about tasks.
func isTaskMethod(d *mcp.Method) bool {
	return d.Capability == mcp.CapTasks || d.Capability == mcp.CapTasksCancel || d.Capability == mcp.CapTasksList
}

// raiseCreated returns a result that hands out a task without its wrapping. A server
// may have answered with the result of the request, which has none.
func raiseCreated(result json.RawMessage) json.RawMessage {
	task := wire.Find(result, "task")
	if !isObject(task) || wire.Find(task, "taskId") == nil {
		return result
	}
	flat, err := wire.Set(raiseTask(task), "resultType", []byte(`"`+mcp.ResultTask+`"`))
	for name, value := range wire.Each(result) {
		if string(name) != "task" && err == nil {
			flat, err = wire.Set(flat, string(name), value)
		}
	}
	if err != nil {
		return result
	}
	return flat
}

func raiseList(result json.RawMessage) json.RawMessage {
	var tasks []json.RawMessage
	if wire.Unmarshal(orEmptyList(wire.Find(result, "tasks")), &tasks) != nil {
		return result // whoever decodes it says so
	}
	for i, task := range tasks {
		tasks[i] = raiseTask(task)
	}
	raised, err := withMember(result, "tasks", tasks)
	if err != nil {
		return result
	}
	return raised
}

func orEmptyList(list json.RawMessage) json.RawMessage {
	if list == nil {
		return json.RawMessage("[]")
	}
	return list
}
