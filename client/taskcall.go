package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/parley-mcp/parley/internal/related"
	"github.com/parley-mcp/parley/internal/toolresult"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// WithTask asks for a task where the client may: in 2025-11-25, for a tool that can be
// called either way. ttl is how long the server is to keep the task, from its
// creation; 0 leaves that to the server, and it may choose another time in any case. A
// negative one asks for no task, as CallTool does by itself and StartTask does not.
// In 2026-07-28 the server decides, and this does nothing.
//
// Spec: 2025-11-25 basic/utilities/tasks#task-parameters.
func WithTask(ttl time.Duration) CallOption {
	return func(o *callOptions) { o.wantsTask, o.taskTTL = ttl >= 0, max(ttl, 0) }
}

// WithTaskLeft leaves the task of a call running when the call ends without its
// result, for example because its context has ended. The error is then a *TaskError
// with the task's ID. Otherwise the client asks the server to cancel the task.
func WithTaskLeft() CallOption { return func(o *callOptions) { o.leavesTask = true } }

// WithTaskStatus calls f with the state of the call's task whenever the client learns
// that it has changed, beginning with what the server says when it has made the task.
// f is called for one state at a time, in order, and never after the call has
// returned. It is not called for a call that does not become a task.
func WithTaskStatus(f func(*mcp.Task)) CallOption { return func(o *callOptions) { o.onTask = f } }

// wantHandle is WithTask for a caller who wants a Task in any case.
func wantHandle(o *callOptions) { o.wantsTask, o.wantsHandle = true, true }

// callTool calls a tool and returns its result or, if the server works on it as a
// task, that task; if a task was wanted, always one.
func (c *Client) callTool(ctx context.Context, name string, args any, opts []CallOption) (*mcp.CallToolResult, *Task, error) {
	params, err := callParams(name, args)
	if err != nil {
		return nil, nil, err
	}
	req, err := c.request(mcp.MethodCallTool, params, opts)
	if err != nil {
		return nil, nil, err
	}
	if req.opts.listens() {
		req.opts.kept = new(keptNotes)
	}
	asTask, err := c.asTask(ctx, name, &req.opts)
	if err != nil {
		return nil, nil, err
	}
	if asTask {
		err = req.demandTask()
	}
	if err != nil {
		return nil, nil, err
	}
	began := time.Now()
	raw, err := (*c.call.Load())(ctx, req)
	if !asTask && c.turnsOut(ctx, name, raw, err) {
		if err = req.demandTask(); err == nil {
			raw, err = (*c.call.Load())(ctx, req)
		}
	}
	if err == nil {
		result, t, failed := c.called(name, req, raw, began)
		if err = failed; err == nil {
			return result, t, nil
		}
	}
	req.opts.kept.drop()
	return nil, nil, err
}

// called reads what a server has answered to the call of a tool.
func (c *Client) called(name string, req *Request, raw json.RawMessage, began time.Time) (*mcp.CallToolResult, *Task, error) {
	if related.IsTask(raw) && !c.opts.NoTasks {
		t := &Task{c: c, tool: name, req: req, born: time.Now(), began: began, kept: req.opts.kept}
		var err error
		if t.seed, err = readTaskState("", raw); err != nil {
			return nil, nil, err
		}
		t.id = t.seed.ID
		return nil, t, nil
	}
	result, err := decode[mcp.CallToolResult](c, mcp.MethodCallTool, raw)
	if err != nil || !req.opts.wantsHandle {
		return result, nil, err
	}
	return nil, &Task{c: c, tool: name, raw: raw}, nil
}

// asTask reports whether a tool is to be called as a task, in a session.
//
// Spec: 2025-11-25 basic/utilities/tasks#tool-level-negotiation.
func (c *Client) asTask(ctx context.Context, name string, o *callOptions) (bool, error) {
	if !c.runsTasks() {
		return false, nil
	}
	support := c.tools.of(name).support
	if support == "" && o.wantsTask && !c.opts.NoTasks {
		var err error
		if support, err = c.supportOf(ctx, name); err != nil {
			return false, err
		}
	}
	switch {
	case support == mcp.TaskRequired && c.opts.NoTasks:
		return false, fmt.Errorf("tool %q: %w", name, ErrTaskRequired)
	case support == mcp.TaskRequired:
		return true, nil
	}
	return support == mcp.TaskOptional && o.wantsTask && !c.opts.NoTasks, nil
}

// runsTasks reports whether the server of a session has declared that tools can be
// called as tasks. Where it has not, what it says about a tool means nothing.
func (c *Client) runsTasks() bool {
	l := c.current()
	return l.session != nil && l.session.RunsTasks()
}

// turnsOut reports whether a tool of which nothing was known can only be called as a
// task, after the server has refused to call it otherwise: by an error or, as servers of
// the official SDKs in TypeScript and Python do, by a failed result.
//
// Spec: 2025-11-25 basic/utilities/tasks#tool-level-negotiation.
func (c *Client) turnsOut(ctx context.Context, name string, result json.RawMessage, refusal error) bool {
	if c.opts.NoTasks || !c.runsTasks() || c.tools.of(name).support != "" {
		return false
	}
	var rpc *jsonrpc.Error
	switch {
	case refusal == nil && toolresult.Failed(result):
	case errors.As(refusal, &rpc) && (rpc.Code == jsonrpc.CodeMethodNotFound || rpc.Code == jsonrpc.CodeInvalidRequest):
	default:
		return false
	}
	support, err := c.supportOf(ctx, name)
	return err == nil && support == mcp.TaskRequired
}

// supportOf lists the tools to find out whether one of them can be called as a task.
func (c *Client) supportOf(ctx context.Context, name string) (mcp.TaskSupport, error) {
	for t, err := range c.Tools(ctx) {
		if err != nil {
			return "", fmt.Errorf("finding out whether tool %q can be called as a task: %w", name, err)
		}
		if t.Name == name {
			return supportOf(t), nil
		}
	}
	return mcp.TaskForbidden, nil
}

// supportOf returns what a tool says of tasks.
//
// Spec: 2025-11-25 basic/utilities/tasks#tool-level-negotiation.
func supportOf(t *mcp.Tool) mcp.TaskSupport {
	if t.Execution == nil {
		return mcp.TaskForbidden
	}
	if s := t.Execution.TaskSupport; s == mcp.TaskRequired || s == mcp.TaskOptional {
		return s
	}
	return mcp.TaskForbidden
}

// demandTask makes the call of a tool ask for a task.
//
// Spec: 2025-11-25 basic/utilities/tasks#creating-tasks.
func (r *Request) demandTask() error {
	demand := []byte("{}")
	if ttl := r.opts.taskTTL.Milliseconds(); ttl > 0 {
		demand = fmt.Appendf(nil, `{"ttl":%d}`, ttl)
	}
	params, err := wire.Set(r.Params, "task", demand)
	r.Params = params
	return err
}
