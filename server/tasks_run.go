package server

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server/taskstore"
)

// taskRun is one run of the handler of a task, and the handler's way back to the
// client. Until the call is a task (task is nil), it passes everything on to the
// exchange that it began in.
type taskRun struct {
	e    *tasks
	id   string // of the task
	name string // taskData.Run
	x    *mcp.Exchange
	ctx  context.Context //nolint:containedctx // ends when the handler has to, with the reason
	stop context.CancelCauseFunc

	// Of the exchange that the run began in; nil and false for later runs.
	back    mcp.Backchannel
	home    context.Context //nolint:containedctx // of the exchange
	unleash func() bool     // the end of the exchange does not end the run
	draft   *task           // what is known of the call before it is a task
	birth   mcp.Task        // the state that it became a task with
	born    chan struct{}   // closed when the call has become a task
	over    chan struct{}   // closed when the handler has ended before that
	result  any             // of the handler; guarded by over, as err is
	err     error

	// way is held, for reading, while something is passed on to the exchange, and
	// guards these.
	way   sync.RWMutex
	live  bool // the call is a task
	ended bool // the handler has ended before that

	saving sync.Mutex // held while the task is saved; guards task
	task   *task      // as it was saved last; nil until there is one

	expiry  *time.Timer // stops the run when the task expires
	unwatch func()      // ends the subscription to what others do to the task
	looking atomic.Bool // a look at what they did is due

	mu      sync.Mutex // guards the fields below
	latest  string     // the newest message that is not saved
	saved   time.Time  // when a message was saved
	broken  error      // why the store cannot be written
	leaving bool       // a question is on its way out of the handler

	notes notebook
}

// stopReason is why a run is stopped, the cause of its context.
type stopReason string

const (
	errTaskCancelled stopReason = "the task was cancelled"
	errTaskExpired   stopReason = "the task has expired"
	errTaskTaken     stopReason = "another process has taken the task over"
	errTasksClosed   stopReason = "the server is shutting down"
)

func (e stopReason) Error() string { return string(e) }

// Is makes a handler that returns the cause of its context one that has been stopped.
func (e stopReason) Is(target error) bool { return target == context.Canceled }

// runToken is the progress token of runs whose client wants no progress.
var runToken = jsonrpc.StringID("task")

type runKey struct{}

// begin makes the context of a run.
func (r *taskRun) begin(ctx context.Context) {
	r.ctx, r.stop = context.WithCancelCause(context.WithValue(ctx, runKey{}, r))
}

// ownRun returns the run that an exchange is made for, or nil.
func (s *Server) ownRun(ctx context.Context, x *mcp.Exchange) *taskRun {
	r, ok := ctx.Value(runKey{}).(*taskRun)
	if !ok || r.e.s != s || r.x.ID != x.ID || r.x.Task != x.Task {
		return nil
	}
	return r
}

// serve runs the handler, and stores what comes of it. A handler that ends its
// goroutine fails.
func (r *taskRun) serve(call mcp.ServeFunc) {
	result, err := any(nil), errInternal()
	returned := false
	defer func() {
		if returned || r.e.s.opts.Panic == RecoverPanics {
			r.served(result, err)
		}
	}()
	result, err = r.guarded(call)
	returned = true
}

// served is called when the handler has ended.
func (r *taskRun) served(result any, err error) {
	defer r.stop(nil)
	r.way.Lock()
	live := r.live
	if !live {
		r.ended, r.result, r.err = true, result, err
		close(r.over)
	}
	r.way.Unlock()
	if !live {
		return
	}
	defer r.e.forget(r)
	if err != nil {
		err = r.e.s.conceal(r.ctx, r.x, err)
	}
	r.finish(result, err)
}

func (r *taskRun) guarded(call mcp.ServeFunc) (result any, err error) {
	defer r.e.s.rescue(r.ctx, r.x, &result, &err)
	return call(r.ctx, r.x)
}

// again begins a later run of a task, whose lease it has.
func (e *tasks) again(t *task) {
	r := &taskRun{e: e, id: t.ID, name: t.Run, draft: t, task: t, live: true, notes: notebook{stored: true}}
	revision, _ := mcp.ParseRevision(t.Peer.Revision)
	r.x = &mcp.Exchange{
		ID: jsonrpc.StringID(t.ID), Method: t.Method, Params: t.Params, Meta: wire.Find(t.Params, "_meta"), Trace: t.Trace,
		Peer: mcp.Peer{
			Revision: revision, Info: t.Peer.Info, Capabilities: t.Peer.Capabilities, Principal: t.Owner,
			Authorization: t.Peer.Authorization, SessionID: t.Peer.Session,
		},
		Back: r, State: t.State, Task: &mcp.TaskOffer{Demanded: t.Demanded},
	}
	r.x.ProgressToken = r.token()
	for key, a := range t.Answers {
		if r.x.Answers == nil {
			r.x.Answers = map[string]json.RawMessage{}
		}
		r.x.Answers[key] = a.Result
	}
	ctx := context.Background() // whoever caused the run may be gone before it ends
	if a := t.Peer.Authorization; a != nil {
		ctx = mcp.WithAuthorization(ctx, a)
	}
	r.begin(ctx)
	if err := e.register(r, t.Expires); err != nil {
		r.release(true)
		return
	}
	go r.serve(e.s.Serve) // ends with the handler
}

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

// isStop reports whether err says that the run has no lease any more.
func isStop(err error) bool {
	reason, ok := errors.AsType[stopReason](err)
	return ok && reason != errTasksClosed
}

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
	r.mu.Lock()
	broken := r.broken
	r.mu.Unlock()
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
	if err != nil && !isStop(err) && r.broken == nil {
		f = r.unstorable("the result of the task", err)
		err = r.save(r.ctx, f)
	}
	if err != nil && !isStop(err) {
		t := *r.known()
		f(&t)
		r.e.lose(&t, r.name)
		err = nil
	}
	if err == nil {
		r.e.log(r.ctx, slog.LevelInfo, "task ended", r.known())
		r.e.publish(r.id)
	}
	return err
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

// known returns the task as this run knows it.
func (r *taskRun) known() *task {
	r.saving.Lock()
	defer r.saving.Unlock()
	return r.task
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

// release gives the task back, for another process to go on with. ready says that
// the handler has not begun.
func (r *taskRun) release(ready bool) {
	err := r.save(r.ctx, func(t *task) { t.free(ready) })
	if err != nil {
		r.e.s.log.DebugContext(r.ctx, "the lease of a task was not given back: it will run out", r.draft.name(), "error", err)
	}
}

// free makes the task one that nobody works on, but somebody has to.
func (t *task) free(ready bool) {
	t.Run, t.Ready, t.Lease = "", ready, time.Now().Add(-time.Millisecond).Truncate(time.Millisecond)
}
