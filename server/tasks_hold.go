package server

import (
	"context"
	"errors"
	"time"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server/taskstore"
)

// register notes a run, which from then on has to be forgotten. It fails when the
// server is closed.
func (e *tasks) register(r *taskRun, expires time.Time) error {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return errNoMoreTasks
	}
	e.runs[r.id] = r
	e.going.Add(1)
	e.mu.Unlock()
	r.expiry = time.AfterFunc(time.Until(expires), func() { r.stop(errTaskExpired) })
	r.unwatch = e.s.hub.Subscribe(mcp.SubscriptionFilter{TaskIDs: []string{r.id}}, func(mcp.Change) { r.glance() })
	return nil
}

func (e *tasks) forget(r *taskRun) {
	r.unwatch()
	r.expiry.Stop()
	e.mu.Lock()
	if e.runs[r.id] == r {
		delete(e.runs, r.id)
	}
	e.mu.Unlock()
	e.going.Done()
}

// runsHere reports whether this process runs a task.
func (e *tasks) runsHere(id string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.runs[id] != nil
}

// glance looks, soon, at what somebody else did to the task.
func (r *taskRun) glance() {
	if r.looking.Swap(true) || !r.e.enter() {
		return
	}
	time.AfterFunc(0, func() { // ends once the task is loaded
		defer r.e.going.Done()
		r.looking.Store(false)
		r.saving.Lock()
		defer r.saving.Unlock()
		if r.task == nil { // not yet
			return
		}
		ctx, done := r.e.always(r.ctx)
		defer done()
		_ = r.reload(ctx) // if the store fails, the next renewal of the lease finds out
	})
}

// enter begins something that Close waits for, unless the server is closed.
func (e *tasks) enter() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return false
	}
	e.going.Add(1)
	return true
}

// save saves what f makes of the task, and extends the lease. It fails if the lease
// is lost; the run is then stopped.
func (r *taskRun) save(ctx context.Context, f func(*task)) error {
	r.saving.Lock()
	defer r.saving.Unlock()
	ctx, done := r.e.always(ctx)
	defer done()
	for {
		t := *r.task
		t.Lease = time.Now().Add(r.e.opts.Lease).Truncate(time.Millisecond)
		f(&t)
		err := r.e.save(ctx, &t)
		if err == nil {
			r.task = &t
			return nil
		}
		if !errors.Is(err, taskstore.ErrConflict) && !errors.Is(err, taskstore.ErrNotFound) {
			return err
		}
		if err := r.reload(ctx); err != nil {
			return err
		}
	}
}

// reload loads the task, which somebody else has changed. The error is why the run
// has no lease any more.
func (r *taskRun) reload(ctx context.Context) error {
	t, err := r.e.load(ctx, r.id)
	switch {
	case errors.Is(err, taskstore.ErrNotFound):
		err = errTaskExpired
	case err != nil:
		return err
	case t.Status == mcp.TaskCancelled:
		err = errTaskCancelled
	case t.Run != r.name:
		err = errTaskTaken
	default:
		r.task = t
		return nil
	}
	r.stop(err)
	return err
}

// known returns the task as this run knows it.
func (r *taskRun) known() *task {
	r.saving.Lock()
	defer r.saving.Unlock()
	return r.task
}

// release gives the task back, for another process to go on with. ready says that
// the handler has not begun.
func (r *taskRun) release(ready bool) {
	err := r.save(r.ctx, func(t *task) {
		r.goneSoFar(t)
		t.free(ready)
	})
	if err != nil {
		r.e.s.log.DebugContext(r.ctx, "the lease of a task was not given back: it will run out", r.draft.name(), "error", err)
	}
}

// free makes the task one that nobody works on, but somebody has to.
func (t *task) free(ready bool) {
	t.Run, t.Ready, t.Lease = "", ready, time.Now().Add(-time.Millisecond).Truncate(time.Millisecond)
}
