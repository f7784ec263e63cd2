package server

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parley-mcp/parley/internal/rates"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server/taskstore"
)

// tasks runs tools as tasks. A task is the tool's handler, run with a taskRun as its
// way back to the client. The record in the store says all that is known of it, so
// any process with the store can go on with it; what is here is only what runs.
//
// Whoever runs a task holds its lease: a time in the record, and the name of the run.
// Records change by compare-and-set only, so of several processes one succeeds, and a
// run that has lost its lease learns so when it saves.
type tasks struct {
	s     *Server
	opts  TaskOptions
	rate  *rates.Keyed[sender]
	known atomic.Bool // some tool can run as a task
	due   func()      // round; linters would follow a method from every use of AddTool to the context that rounds have

	mu      sync.Mutex
	runs    map[string]*taskRun    // that run here, by ID of the task
	lost    map[string]*task       // failed because the store could not be written
	waiting map[string][]*listener // exchanges that wait for a result
	asked   map[string]bool        // tasks whose questions an exchange here is asking
	closed  bool
	timer   *time.Timer    // of the next round
	going   sync.WaitGroup // runs and rounds
}

// listener is an exchange that waits for the result of a task.
type listener struct {
	session string
	back    mcp.Backchannel
}

func newTasks(s *Server) *tasks {
	o := s.opts.Tasks
	e := &tasks{
		s: s, opts: o, rate: rates.New[sender](o.Rate, defaultToolRate),
		runs: map[string]*taskRun{}, lost: map[string]*task{}, waiting: map[string][]*listener{}, asked: map[string]bool{},
	}
	e.due = e.round
	return e
}

var (
	errTaskStore   = errors.New("the store of tasks failed")
	errTooMany     = jsonrpc.Errorf(jsonrpc.CodeInternalError, "too many tasks: try again when some of them have expired")
	errNoMoreTasks = jsonrpc.Errorf(jsonrpc.CodeInternalError, "the server is shutting down and begins no tasks")
)

// unknownTask is the error for a task that does not exist, does not exist any more,
// or belongs to somebody else: they must not look different.
//
// Spec: 2025-11-25 basic/utilities/tasks#protocol-errors.
// Spec: ext-tasks/draft tasks#protocol-errors.
func unknownTask(id string) error {
	return mcp.InvalidParams("unknown task %q: it does not exist, or has expired", shorten(id))
}

// name is what logs call a task: not all of its ID, which is a secret where nobody is
// authenticated.
func (t *task) name() slog.Attr { return slog.String("task", t.ID[:min(8, len(t.ID))]+"…") }

// log writes what happens to tasks, with whom they belong to.
//
// Spec: 2025-11-25 basic/utilities/tasks#audit-and-logging.
func (e *tasks) log(ctx context.Context, level slog.Level, what string, t *task, args ...any) {
	e.s.log.Log(ctx, level, what, append([]any{t.name(), "owner", t.Owner, "status", string(t.Status)}, args...)...)
}

// newID returns an ID that cannot be guessed: it has 130 random bits.
//
// Spec: ext-tasks/draft tasks#security-considerations.
func newID() string { return rand.Text() }

// create stores a new task. If it fails, there is none.
//
// Spec: ext-tasks/draft tasks#task-creation.
func (e *tasks) create(ctx context.Context, t *task) error {
	r, err := t.encode()
	if err != nil {
		return err
	}
	quota := taskstore.Quota{PerOwner: e.opts.PerPrincipal, Total: e.opts.Total}
	if t.Owner == "" {
		quota.PerOwner = 0
	}
	t.Version, err = e.opts.Store.Create(ctx, r, quota)
	switch {
	case err == nil:
		e.log(ctx, slog.LevelInfo, "task created", t, "tool", t.tool())
		return nil
	case errors.Is(err, taskstore.ErrQuota):
		e.log(ctx, slog.LevelWarn, "task refused: too many; see Options.Tasks", t)
		return errTooMany
	case errors.Is(err, taskstore.ErrTooLarge):
		return mcp.InvalidParams("the request is too large to be kept as a task")
	}
	e.s.log.ErrorContext(ctx, "task not stored", "error", err)
	ctx, done := e.always(ctx)
	defer done()
	_ = e.opts.Store.Delete(ctx, t.ID) // it may be stored all the same; its client does not know it
	return jsonrpc.Errorf(jsonrpc.CodeInternalError, "%v", errTaskStore)
}

// always returns a context for what has to be stored although ctx ends.
func (e *tasks) always(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), e.opts.Lease)
}

// load returns a task. The error wraps errors of the store.
func (e *tasks) load(ctx context.Context, id string) (*task, error) {
	r, err := e.opts.Store.Load(ctx, id)
	if err != nil {
		return nil, err
	}
	return decodeTask(r)
}

// save stores a task. Whoever saves makes the change known by publish.
func (e *tasks) save(ctx context.Context, t *task) error {
	r, err := t.encode()
	if err != nil {
		return err
	}
	version, err := e.opts.Store.Save(ctx, r)
	if err != nil {
		return err
	}
	t.Version = version
	return nil
}

// publish makes a change of a task known.
func (e *tasks) publish(id string) {
	e.s.hub.Publish(mcp.Change{Kind: mcp.TaskChanged, URI: id})
}

// change saves what f makes of a task, until nobody else was faster. f reports
// whether there is anything to save. change returns the task as it is now.
func (e *tasks) change(ctx context.Context, id string, f func(*task) bool) (*task, error) {
	for {
		t, err := e.load(ctx, id)
		if err != nil || !f(t) {
			return t, err
		}
		err = e.save(ctx, t)
		if err == nil {
			e.publish(id)
			return t, nil
		}
		if !errors.Is(err, taskstore.ErrConflict) {
			return nil, err
		}
	}
}

// find returns a task that the client of an exchange may ask about. One that nobody
// works on any more is taken over on the way.
//
// Spec: ext-tasks/draft tasks#security-considerations.
// Spec: 2025-11-25 basic/utilities/tasks#task-isolation-and-access-control.
func (e *tasks) find(ctx context.Context, x *mcp.Exchange, id string) (*task, error) {
	if id == "" || len(id) > maxTaskID {
		return nil, unknownTask(id)
	}
	t, err := e.current(ctx, id)
	switch {
	case errors.Is(err, taskstore.ErrNotFound) || err == nil && t.Owner != x.Peer.Principal:
		e.s.log.InfoContext(ctx, "task refused: unknown, or somebody else's", "method", x.Method, "principal", x.Peer.Principal)
		return nil, unknownTask(id)
	case err != nil:
		return nil, err
	}
	e.log(ctx, slog.LevelDebug, "task found", t, "method", x.Method)
	return t, nil
}

// current returns a task as it is now, as far as this process can tell.
func (e *tasks) current(ctx context.Context, id string) (*task, error) {
	t, err := e.load(ctx, id)
	if failed := e.lostTask(ctx, id, t, err); failed != nil {
		return failed, nil
	}
	if err != nil || !t.abandoned(time.Now()) {
		return t, err
	}
	return e.takeOver(ctx, id)
}

const maxTaskID = 64

// Close ends what the server does by itself: no task and no job is begun any more, tasks
// that run here are stopped, and left to other processes with the same store, and the contexts
// of jobs end. It returns when all of them have ended, or with the error of ctx. The server still answers
// requests. Close may be called more than once; without it, tasks and jobs end with the
// process.
func (s *Server) Close(ctx context.Context) error {
	e := s.tasks
	s.jobs.stop(ErrServerClosed)
	e.mu.Lock()
	e.closed = true
	if e.timer != nil {
		e.timer.Stop()
	}
	for _, r := range e.runs {
		r.stop(errTasksClosed)
	}
	e.mu.Unlock()
	ended := make(chan struct{})
	go func() { // ends when the last handler has
		e.going.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
