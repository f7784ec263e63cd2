package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// Task is a call of a tool that the server works on apart from the request that made
// it. It goes on without its client: whoever has its ID, and is allowed to, can ask
// for it, from another process too, as long as the server keeps it. A Task is safe for
// concurrent use.
//
// Spec: ext-tasks/draft tasks#tasks.
// Spec: 2025-11-25 basic/utilities/tasks#user-interaction-model.
type Task struct {
	c     *Client
	id    string
	tool  string
	req   *Request        // that made it; nil if that was done elsewhere
	seed  *taskState      // what the server said when it made it; nil likewise
	born  time.Time       // when this handle came to be
	began time.Time       // when the call began; zero if it began elsewhere
	kept  *keptNotes      // who takes its notifications; nil if nobody does
	raw   json.RawMessage // the result of a call that the server has answered at once
}

// StartTask calls a tool and returns as soon as the server works on it: the task can
// then be waited for, here or elsewhere. Whether the call becomes a task is not the
// client's decision alone. In 2026-07-28 the server decides; in 2025-11-25 it has to
// declare tasks, and the tool has to allow them, for which the client lists the tools
// if it does not know this one. If there is to be no task, StartTask returns when the
// call has ended: then Task.ID is "", and Task.Wait returns the result at once.
//
// The limits of the call are those of CallTool, until the server has made the task.
// The functions of WithProgress, WithNotifications and WithTaskStatus are called until
// Task.Wait has returned, and need not be given to it again. ctx bounds only the
// start.
//
// Spec: 2025-11-25 basic/utilities/tasks#creating-tasks.
// Spec: ext-tasks/draft tasks#task-creation.
func (c *Client) StartTask(ctx context.Context, tool string, args any, opts ...CallOption) (*Task, error) {
	_, t, err := c.callTool(ctx, tool, args, append([]CallOption{wantHandle}, opts...))
	return t, err
}

// Task returns a handle for a task of which only the ID is known, for example because
// another process has started it. It asks the server nothing. tool is the tool that
// was called, so that the result can be checked against its output schema if the
// client has listed it; "" if it is not known.
func (c *Client) Task(id, tool string) *Task {
	return &Task{c: c, id: id, tool: tool, born: time.Now()}
}

// ID returns what names the task to the server, which can be kept and passed to
// Client.Task of another client of the same server. It is "" if the server has
// answered the call at once.
func (t *Task) ID() string { return t.id }

// Status asks the server how far the task has come. In 2026-07-28 the state has the
// task's open questions, with Params as raw JSON, and in the end its result or error;
// in 2025-11-25 it has neither. The error is ErrNotFound if the server does not know
// the task, or no longer.
//
// Spec: ext-tasks/draft tasks#task-polling.
func (t *Task) Status(ctx context.Context, opts ...CallOption) (*mcp.TaskState, error) {
	if t.raw != nil {
		return &mcp.TaskState{Task: mcp.Task{Status: mcp.TaskCompleted}, Result: t.raw}, nil
	}
	raw, err := t.c.Do(ctx, mcp.MethodGetTask, mcp.TaskParams{ID: t.id}, opts...)
	if err != nil {
		return nil, noTask(err)
	}
	s, err := readTaskState(t.id, raw)
	if err != nil {
		return nil, err
	}
	return s.withQuestions()
}

// Cancel asks the server to end the task. The server may take a while to do so, or
// may complete it all the same. It is no error if the task has ended already. Servers
// of 2025-11-25 need not allow it: then the error is a *NotDeclaredError.
//
// Spec: 2025-11-25 basic/utilities/tasks#task-cancellation.
// Spec: ext-tasks/draft tasks#task-cancellation.
func (t *Task) Cancel(ctx context.Context, opts ...CallOption) error {
	if t.raw != nil {
		return nil
	}
	_, err := t.c.Do(ctx, mcp.MethodCancelTask, mcp.TaskParams{ID: t.id}, opts...)
	if err == nil || !isInvalidParams(err) {
		return err
	}
	// Spec: 2025-11-25 basic/utilities/tasks#protocol-errors: one code says both that
	// there is no such task and that it has ended.
	s, failed := t.Status(ctx, opts...)
	switch {
	case failed != nil:
		return failed
	case s.Status.Final():
		return nil
	}
	return err
}

// Tasks iterates over the tasks that the server has for this client, as far as it
// lists them: servers of 2025-11-25 may, and those of 2026-07-28 never do, so that
// the error is errors.ErrUnsupported and the client has to remember its tasks itself.
// Result and questions are not part of a list.
//
// Spec: 2025-11-25 basic/utilities/tasks#listing-tasks.
// Spec: ext-tasks/draft tasks#security-considerations.
func (c *Client) Tasks(ctx context.Context, opts ...CallOption) iter.Seq2[*mcp.Task, error] {
	if c.current().stateless != nil {
		return func(yield func(*mcp.Task, error) bool) {
			yield(nil, fmt.Errorf("%s: revision %s has no list of tasks, a client has to remember their IDs: %w", mcp.MethodListTasks, c.Revision(), errors.ErrUnsupported))
		}
	}
	l := listing[mcp.ListTasksResult, *mcp.Task]{c: c, method: mcp.MethodListTasks, opts: opts}
	l.items = func(r *mcp.ListTasksResult) ([]*mcp.Task, *string) {
		if r.NextCursor != nil && *r.NextCursor == "" { // so servers of sessions end a list
			return r.Tasks, nil
		}
		return r.Tasks, r.NextCursor
	}
	l.name = func(v *mcp.Task) string { return v.ID }
	return l.all(ctx)
}

// ErrTaskCancelled says that a task has no result because it was cancelled, by this
// client or by somebody else.
var ErrTaskCancelled = errors.New("the task was cancelled")

// TaskError says why a task gave no result. A request that failed on the server is
// not one: its error is that of the request, as if it had not been a task.
type TaskError struct {
	// Task is the state that was seen last. At least its ID is set.
	Task mcp.Task
	// Left says that the task may still be there, and may be running: Client.Task
	// goes on with it.
	Left bool
	// Err is the reason: ErrTaskCancelled, ErrNotFound if the server does not know the
	// task or its time is over, what ended the context, or what went wrong.
	Err error
}

// Error names the task and the reason.
func (e *TaskError) Error() string {
	left := ""
	if e.Left {
		left = "; the task may still be running"
	}
	return fmt.Sprintf("task %q: %v%s", e.Task.ID, e.Err, left)
}

// Unwrap returns the reason.
func (e *TaskError) Unwrap() error { return e.Err }

// noTask makes the error of a request for the state of a task match ErrNotFound if the
// server does not know the task.
//
// Spec: ext-tasks/draft tasks#protocol-errors.
func noTask(err error) error {
	var rpc *jsonrpc.Error
	if errors.As(err, &rpc) && rpc.Code == jsonrpc.CodeInvalidParams {
		return &notFoundError{err}
	}
	return err
}
