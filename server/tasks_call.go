package server

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// runsAsTask decides whether a call can be a task. It fails if it has to be one and
// cannot, or the other way round.
//
// Spec: 2025-11-25 basic/utilities/tasks#tool-level-negotiation.
// Spec: ext-tasks/draft tasks#capability-negotiation.
func (t *tool) runsAsTask(offer *mcp.TaskOffer) (bool, error) {
	switch {
	case offer == nil && t.onlyTask:
		return false, &mcp.TaskRequiredError{Tool: t.tool.Name}
	case offer != nil && offer.Demanded && !t.tasks:
		return false, &mcp.TaskForbiddenError{Tool: t.tool.Name}
	}
	return offer != nil && t.tasks, nil
}

// callAsTask answers a call with a task or, if the client leaves the choice to the
// server and the handler ends soon enough, with its result.
//
// Spec: ext-tasks/draft tasks#task-creation.
func (s *Server) callAsTask(ctx context.Context, x *mcp.Exchange, t *tool, args json.RawMessage) (any, error) {
	after := s.opts.Tasks.After
	if t.after != nil {
		after = *t.after
	}
	if x.Task.Demanded || x.Back == nil { // without a way back nothing can be asked before
		after = 0
	}
	if _, problem := t.check(args); problem != nil && !x.Task.Demanded {
		return mcp.ToolError("invalid arguments for tool %q: %v", t.tool.Name, problem), nil
	}
	r := s.tasks.newRun(ctx, x)
	if after != 0 {
		go r.serve(s.callTool) //nolint:contextcheck // ends with the handler; the run has a context of its own
		return r.follow(after) //nolint:contextcheck // likewise
	}
	if err := r.become(); err != nil { //nolint:contextcheck // likewise
		r.stop(err)
		return nil, cmp.Or(ctx.Err(), err)
	}
	go r.serve(s.callTool) //nolint:contextcheck // likewise
	return r.created(), nil
}

// follow waits for the handler of a run that may yet become a task.
func (r *taskRun) follow(after time.Duration) (any, error) {
	var due <-chan time.Time
	if after > 0 {
		timer := time.NewTimer(after)
		defer timer.Stop()
		due = timer.C
	}
	for {
		select {
		case <-r.born:
			return r.created(), nil
		case <-r.over:
			return r.result, r.err
		case <-due:
			if err := r.become(); err != nil && !errors.Is(err, errStays) {
				r.e.s.log.WarnContext(r.ctx, "a call that takes long cannot become a task", "error", err)
			}
		}
	}
}

// newRun returns the run of a call that is not a task yet. Until it is one, its
// handler asks, and keeps, in the way of the exchange.
func (e *tasks) newRun(ctx context.Context, x *mcp.Exchange) *taskRun {
	own := *x
	own.Params, own.Detach = bytes.Clone(x.Params), nil
	own.Meta = wire.Find(own.Params, "_meta")
	r := &taskRun{e: e, name: newID(), born: make(chan struct{}), over: make(chan struct{}), back: x.Back}
	r.draft = e.newTask(&own)
	r.id = r.draft.ID
	own.Back, own.Mirrored, own.Session = r, nil, nil
	if x.Header != nil {
		own.Header = func(name string) []string { return r.header(x, name) }
	}
	own.ProgressToken = r.token()
	r.x = &own
	r.begin(context.WithoutCancel(ctx))
	r.leash(ctx)
	return r
}

// header returns a header of the request that the run began with, while it is there.
func (r *taskRun) header(x *mcp.Exchange, name string) []string {
	r.way.RLock()
	defer r.way.RUnlock()
	if r.live {
		return nil
	}
	return x.Header(name)
}

// token is the progress token of the run's exchange: without one there would be no
// progress to make messages of.
func (r *taskRun) token() mcp.ProgressToken {
	if r.draft.Token.IsZero() {
		return runToken
	}
	return r.draft.Token
}

// leash makes the run end with the exchange, until it is a task.
func (r *taskRun) leash(ctx context.Context) {
	r.unleash = context.AfterFunc(ctx, func() { r.stop(context.Cause(ctx)) })
	r.home = ctx
}

// StartTask makes the rest of a call of a tool a task, now: the client gets the task
// as its answer, and the handler goes on. It does nothing if the call is a task, or
// its client cannot take one. The error says that the task could not be stored, that
// there are too many, or that the handler has to end with a question first; the call
// goes on as it is. While a question is with the client of a session, StartTask waits
// for the answer.
//
// Spec: ext-tasks/draft tasks#task-creation.
func (c *Call) StartTask(ctx context.Context) error {
	r, ok := c.x.Back.(*taskRun)
	if !ok {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return r.become() //nolint:contextcheck // the run has a context of its own
}

// errStays says that a call is about to end, so that it does not become a task.
var errStays = errors.New("the call cannot become a task any more: it has ended, or asked its client something")

// become makes the run a task. What it has learnt goes into the record, so that
// nothing of it can be lost once the task exists.
//
// Spec: ext-tasks/draft tasks#task-creation.
func (r *taskRun) become() error {
	r.way.Lock()
	defer r.way.Unlock()
	switch {
	case r.live:
		return nil
	case r.ended || r.isLeaving() || !r.unleash():
		return errStays
	}
	t := r.grown()
	r.e.begin(t, r.name, r.x)
	if err := r.enrol(t); err != nil {
		r.leash(r.home)
		return err
	}
	r.saving.Lock()
	r.birth, r.task, r.live = r.e.brief(t), t, true
	r.saving.Unlock()
	close(r.born)
	return nil
}

// enrol stores the task, and registers the run.
func (r *taskRun) enrol(t *task) error {
	if err := r.e.register(r, t.Expires); err != nil {
		return err
	}
	stored := false
	defer func() {
		if !stored { // also when the store panics
			r.e.forget(r)
		}
	}()
	ctx, done := r.e.always(r.ctx)
	defer done()
	if err := r.e.create(ctx, t); err != nil {
		return err
	}
	stored = true
	return nil
}

func (r *taskRun) isLeaving() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.leaving
}

// created returns the answer to the call that became a task.
//
// Spec: ext-tasks/draft tasks#task-creation.
// Spec: 2025-11-25 basic/utilities/tasks#creating-tasks.
func (r *taskRun) created() *mcp.CreateTaskResult { return &mcp.CreateTaskResult{Task: r.birth} }
