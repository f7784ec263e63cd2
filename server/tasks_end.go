package server

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/parley-mcp/parley/internal/toolresult"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server/taskstore"
)

// breakOff fails the task because the store cannot be written.
func (r *taskRun) breakOff(err error) error {
	r.e.s.log.ErrorContext(r.ctx, "the store of tasks cannot be written: a task fails", r.draft.name(), "error", err)
	r.mu.Lock()
	r.broken = err
	r.mu.Unlock()
	r.stop(errTaskStore)
	return jsonrpc.Errorf(jsonrpc.CodeInternalError, "%v", errTaskStore)
}

// finish stores how the handler ended. What comes after the end of the task is
// dropped.
//
// Spec: 2025-11-25 basic/utilities/tasks#task-cancellation (3).
func (r *taskRun) finish(result any, err error) {
	unasked, broken := r.trouble()
	cause := context.Cause(r.ctx)
	ask, asks := errors.AsType[*mcp.InputRequired](err)
	switch {
	case broken != nil:
		err = r.conclude(failedBy(jsonrpc.Errorf(jsonrpc.CodeInternalError, "%v", errTaskStore)))
	case isStop(cause):
		err = cause
	case asks:
		err = r.park(ask)
	case errors.Is(cause, errTasksClosed) && isEnd(r.ctx, err):
		r.release(false)
		return
	case err != nil:
		err = r.conclude(failedBy(taskError(err)))
	case unasked != nil:
		r.e.s.log.ErrorContext(r.ctx, "a handler dropped the *mcp.InputRequired error that it has to return", r.draft.name(), "questions", unasked.Error())
		err = r.conclude(failedBy(taskError(errInternal())))
	default:
		err = r.conclude(r.e.outcome(r.ctx, result))
	}
	if err != nil {
		r.unfinished(err)
	}
}

// conclude makes the task final.
func (r *taskRun) conclude(f func(*task)) error {
	err := r.save(r.ctx, f)
	if _, broken := r.trouble(); err != nil && !isStop(err) && broken == nil {
		f = r.unstorable("the result of the task", err)
		err = r.save(r.ctx, f)
	}
	if isStop(err) {
		return err
	}
	t := *r.known()
	if err != nil {
		f(&t)
		r.e.lose(t, r.name)
	}
	r.e.log(r.ctx, slog.LevelInfo, "task ended", &t)
	r.e.publish(r.id)
	return nil
}

// trouble returns what the handler has to end with, and why the store cannot be
// written.
func (r *taskRun) trouble() (unasked *mcp.InputRequired, broken error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.unasked, r.broken
}

// unstorable returns what makes the task fail because something cannot be stored.
func (r *taskRun) unstorable(what string, err error) func(*task) {
	r.e.s.log.ErrorContext(r.ctx, what+" cannot be stored", r.draft.name(), "error", err)
	why := "cannot be stored"
	if errors.Is(err, taskstore.ErrTooLarge) {
		why = "is too large to be stored"
	}
	return failedBy(jsonrpc.Errorf(jsonrpc.CodeInternalError, "%s %s", what, why))
}

// unfinished reports that what the handler made is not wanted any more.
func (r *taskRun) unfinished(err error) {
	r.e.s.log.DebugContext(r.ctx, "the end of a handler is dropped", r.draft.name(), "reason", err)
	if errors.Is(err, errTaskExpired) {
		ctx, done := r.e.always(r.ctx)
		defer done()
		_ = r.e.opts.Store.Delete(ctx, r.id) // or the next round does
	}
}

// outcome returns what the call would have been answered with. Its result stays JSON,
// so that what this process does not know of it is not lost.
//
// Spec: 2025-11-25 basic/utilities/tasks#result-retrieval (4).
func (t *task) outcome() (any, error) {
	if t.Status == mcp.TaskFailed {
		return nil, t.Error
	}
	if t.Status == mcp.TaskCompleted {
		return t.Result, nil
	}
	return nil, jsonrpc.Errorf(jsonrpc.CodeInternalError, "%v", errTaskCancelled)
}

// outcome returns what stores the result of a handler.
func (e *tasks) outcome(ctx context.Context, result any) func(*task) {
	raw, err := wire.Marshal(result)
	if err != nil {
		e.s.log.ErrorContext(ctx, "the result of a task has no JSON form", "error", err)
		return failedBy(taskError(err))
	}
	failed := toolresult.Failed(json.RawMessage(raw))
	return func(t *task) {
		t.Result, t.ToolFailed, t.Error = raw, failed, nil
		message := ""
		if failed {
			message = firstText(raw)
		}
		t.end(mcp.TaskCompleted, message)
	}
}

// failedBy returns what makes a task fail.
func failedBy(err *jsonrpc.Error) func(*task) { return func(t *task) { t.fail(err) } }

// firstText returns what a result says first, as the reason why a tool failed.
func firstText(result json.RawMessage) string {
	var r mcp.CallToolResult
	if wire.Unmarshal(result, &r) != nil {
		return ""
	}
	i := slices.IndexFunc(r.Content, func(c mcp.Content) bool { _, ok := c.(*mcp.TextContent); return ok })
	if i < 0 {
		return ""
	}
	return shorten(r.Content[i].(*mcp.TextContent).Text) //nolint:forcetypeassert // it was just found to be one
}

// taskError returns an error of a handler as a task keeps it.
//
// Spec: 2025-11-25 basic/utilities/tasks#task-execution-errors.
// Spec: ext-tasks/draft tasks#task-execution-errors.
func taskError(err error) *jsonrpc.Error {
	var (
		coded      *jsonrpc.Error
		params     *mcp.InvalidParamsError
		method     *mcp.MethodNotFoundError
		capability *mcp.MissingCapabilityError
		forbidden  *mcp.ForbiddenError
	)
	switch {
	case errors.As(err, &coded):
		return coded
	case errors.As(err, &params):
		return jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "%s", params.Reason)
	case errors.As(err, &method):
		return jsonrpc.Errorf(jsonrpc.CodeMethodNotFound, "%s", method.Error())
	case errors.As(err, &capability):
		return lacking(capability)
	case errors.As(err, &forbidden):
		return jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "%s", forbidden.Error())
	case errors.Is(err, context.DeadlineExceeded):
		return jsonrpc.Errorf(jsonrpc.CodeInternalError, "the request took too long")
	}
	return jsonrpc.Errorf(jsonrpc.CodeInternalError, "internal error")
}

// lacking is the error for a client that cannot be asked. Sessions have another code
// for it, which the parts that speak their wire format know.
//
// Spec: 2026-07-28 basic#error-codes.
func lacking(e *mcp.MissingCapabilityError) *jsonrpc.Error {
	coded := jsonrpc.Errorf(mcp.CodeMissingCapability, "%s", e.Error())
	data, err := wire.Marshal(map[string]any{"requiredCapabilities": e.Required})
	if err == nil {
		coded.Data = data
	}
	return coded
}

// lose remembers a task that has ended here, which the store could not be told.
func (e *tasks) lose(t task, run string) {
	t.Run = run
	e.mu.Lock()
	defer e.mu.Unlock()
	e.lost[t.ID] = &t
}

// lostTask returns the task if it has ended here without the store being told, or
// nil. stored and err are what the store knows of it; if it is still the same, it is
// told now.
func (e *tasks) lostTask(ctx context.Context, id string, stored *task, err error) *task {
	e.mu.Lock()
	lost := e.lost[id]
	e.mu.Unlock()
	if lost == nil || lost.Expired(time.Now()) {
		return nil
	}
	if err == nil && stored.Run == lost.Run {
		now := *lost
		now.Version, now.Run = stored.Version, ""
		err = e.save(ctx, &now)
		lost = &now
	} else if err == nil { // somebody else has gone on with it
		lost = nil
	}
	if err == nil || errors.Is(err, taskstore.ErrNotFound) {
		e.mu.Lock()
		delete(e.lost, id)
		e.mu.Unlock()
	}
	return lost
}
