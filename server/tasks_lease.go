package server

import (
	"context"
	"errors"
	"log/slog"
	"time"
	"weak"

	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/server/taskstore"
)

const (
	// maxCrashes is how many runs of a task may end with their process before it
	// counts as what ends them.
	maxCrashes = 10
	// roundSize bounds how many tasks one round takes over.
	roundSize = 1000
)

// know says that there is a tool that can run as a task. From then on rounds are
// made. The first one is soon, so that tasks of a process that has ended go on, but
// leaves time to add the other tools.
func (e *tasks) know() {
	if e.known.Swap(true) {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.plan(min(time.Second, e.interval()))
}

// interval is the time between two rounds: a lease is renewed after a third of it.
func (e *tasks) interval() time.Duration { return e.opts.Lease / 3 }

// plan plans the next round. A server that is not in use any more has none: the timer
// does not keep it in memory. mu is held.
func (e *tasks) plan(in time.Duration) {
	if e.closed {
		return
	}
	self := weak.Make(e)
	e.timer = time.AfterFunc(in, func() { // ends with the round
		if e := self.Value(); e != nil {
			e.due()
		}
	})
}

// round renews the leases of the runs here, takes over tasks that nobody works on
// any more, and deletes those that have expired.
func (e *tasks) round() {
	if !e.enter() {
		return
	}
	defer e.going.Done()
	ctx, done := context.WithTimeout(context.Background(), e.opts.Lease)
	defer done()
	e.renewAll(ctx)
	e.takeOverAll(ctx)
	if err := e.opts.Store.Sweep(ctx, time.Now()); err != nil {
		e.s.log.WarnContext(ctx, "expired tasks cannot be deleted", "error", err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for id, t := range e.lost {
		if t.Expired(time.Now()) {
			delete(e.lost, id)
		}
	}
	e.plan(e.interval())
}

func (e *tasks) renewAll(ctx context.Context) {
	e.mu.Lock()
	runs := make([]*taskRun, 0, len(e.runs))
	for _, r := range e.runs {
		runs = append(runs, r)
	}
	e.mu.Unlock()
	for _, r := range runs {
		t := r.known()
		if t == nil { // about to be created
			continue
		}
		before := t.Message
		err := r.renew(ctx)
		switch {
		case err == nil && r.known().Message != before:
			e.publish(r.id)
		case err == nil || isStop(err):
		case time.Now().After(t.Lease):
			_ = r.breakOff(err)
		default:
			e.s.log.WarnContext(ctx, "the lease of a task cannot be renewed yet", t.name(), "error", err)
		}
	}
}

func (e *tasks) takeOverAll(ctx context.Context) {
	ids, err := e.opts.Store.Abandoned(ctx, time.Now(), roundSize)
	if err != nil {
		e.s.log.WarnContext(ctx, "tasks of processes that have ended cannot be found", "error", err)
		return
	}
	for _, id := range ids {
		if _, err := e.current(ctx, id); err != nil && !errors.Is(err, taskstore.ErrNotFound) {
			e.s.log.WarnContext(ctx, "a task cannot be taken over", "error", err)
		}
	}
}

// takeOver goes on with a task that nobody works on any more, if that is so, and
// returns it as it is then. If its handler must not begin again, the task fails.
func (e *tasks) takeOver(ctx context.Context, id string) (*task, error) {
	if e.runsHere(id) {
		return e.load(ctx, id)
	}
	began, ended := false, false
	t, err := e.change(ctx, id, func(t *task) bool {
		began, ended = false, false
		if !t.abandoned(time.Now()) || e.isClosed() {
			return false
		}
		if why := e.notAgain(t); why != "" {
			t.fail(jsonrpc.Errorf(jsonrpc.CodeInternalError, "%s", why))
			ended = true
			return true
		}
		if !t.Ready {
			t.Crashes++
		}
		e.claim(t)
		began = true
		return true
	})
	switch {
	case err != nil:
		return nil, err
	case ended:
		e.log(ctx, slog.LevelInfo, "task ended", t)
	case began:
		e.log(ctx, slog.LevelInfo, "task taken over", t)
		e.again(t) //nolint:contextcheck // the run goes on when whoever asked for the task is gone
	}
	return t, nil
}

// notAgain says why the handler of a task must not begin again, or "".
func (e *tasks) notAgain(t *task) string {
	if t.Ready {
		return ""
	}
	tool, ok := e.s.tools.get(t.tool())
	switch {
	case !ok:
		return "the process that ran the task has ended, and the tool does not exist any more"
	case !tool.resumable:
		return "the process that ran the task ended before the task did, and its tool is not declared resumable"
	case t.Crashes >= maxCrashes:
		return "the processes that ran the task have ended too often before the task did"
	}
	return ""
}

// claim gives the lease of a task to a new run here. If there are no new ones, it
// is left to others.
func (e *tasks) claim(t *task) {
	if e.isClosed() {
		t.free(true)
		return
	}
	t.Run, t.Ready, t.Lease = newID(), false, time.Now().Add(e.opts.Lease).Truncate(time.Millisecond)
}

func (e *tasks) isClosed() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.closed
}
