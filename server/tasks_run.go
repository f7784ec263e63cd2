package server

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
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

	// way guards these. It is held, for reading, while a question is with the client
	// of the exchange, so that the call does not become a task before the answer is
	// noted: until then become waits. The end of the exchange ends the question.
	way   sync.RWMutex
	live  bool // the call is a task
	ended bool // the handler has ended before that

	saving sync.Mutex // held while the task is saved; guards task
	task   *task      // as it was saved last; nil until there is one

	expiry  *time.Timer // stops the run when the task expires
	unwatch func()      // ends the subscription to what others do to the task
	looking atomic.Bool // a look at what they did is due

	mu      sync.Mutex         // guards the fields below
	latest  string             // the newest message that is not saved
	saved   time.Time          // when a message was saved
	far     *float64           // the newest progress that the client was told of, by this run or those before
	broken  error              // why the store cannot be written
	leaving bool               // a question is on its way out of the handler
	unasked *mcp.InputRequired // what the handler has to end with

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
	r := e.laterRun(t)
	if err := e.register(r, t.Expires); err != nil {
		r.release(true)
		return
	}
	r.glance()            // nobody could tell it anything before
	go r.serve(e.s.Serve) // ends with the handler
}

// laterRun makes a run from all that is known of a task.
func (e *tasks) laterRun(t *task) *taskRun {
	r := &taskRun{e: e, id: t.ID, name: t.Run, draft: t, task: t, live: true, far: t.Far, notes: notebook{stored: true}}
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
	return r
}

// isStop reports whether err says that the run has no lease any more.
func isStop(err error) bool {
	reason, ok := errors.AsType[stopReason](err)
	return ok && reason != errTasksClosed
}
