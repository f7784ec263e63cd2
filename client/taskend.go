package client

import (
	"context"
	"errors"
	"time"

	"github.com/parley-mcp/parley/mcp"
)

// cancelGrace bounds how long a call whose context has ended waits for the server to
// accept that its task is cancelled.
const cancelGrace = 5 * time.Second

// givenUp returns the error of a task that is not followed any more, which it cancels
// unless the caller wants to leave it.
func (f *follower) givenUp(why error) error {
	e := &TaskError{Task: mcp.Task{ID: f.t.id}, Err: why}
	if f.state != nil {
		e.Task = f.state.Task
	}
	if e.Task.Status.Final() || errors.Is(why, ErrNotFound) {
		return e
	}
	e.Left = true
	if !f.opts.leavesTask && f.c.ctx.Err() == nil {
		e.Left = !f.cancelled()
	}
	return e
}

// cancelled cancels the task, and reports whether the server has accepted that.
func (f *follower) cancelled() bool {
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(f.call.Context), cancelGrace, ErrTimeout)
	defer cancel()
	var opts []CallOption
	if f.opts.takesTask {
		opts = append(opts, WithTaskTaken())
	}
	if err := f.t.Cancel(ctx, opts...); err != nil {
		f.c.opts.Logger.Warn("a task was not cancelled", "task", f.t.id, "error", err)
		return false
	}
	return true
}
