package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/parley-mcp/parley/internal/era"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// follower waits for a task: it asks for its state again and again, has its questions
// answered, and gets its result. Notifications make it ask sooner; it does not believe
// them, and does without them. One goroutine runs it; those of work help it, and end
// with ctx.
type follower struct {
	t    *Task
	c    *Client
	call *watchdog       // the call that questions belong to
	ctx  context.Context //nolint:containedctx // ends with the following
	end  context.CancelCauseFunc
	opts *callOptions
	// untilAnswered says that the following is over when the task has no question.
	untilAnswered bool

	state    *taskState // seen last; nil if none was seen yet
	looked   time.Time  // when state was asked for
	failures int        // to get the state, in a row
	hears    bool       // notifications have been asked for
	wake     chan struct{}
	work     sync.WaitGroup

	fetch     fetch     // of the result, in a session
	questions questions // in the stateless era

	result  json.RawMessage // of the call
	failure error           // with which the call itself has ended
}

// Wait waits until the task has ended and returns the result of the call. It answers
// the task's questions by the functions in Options. It takes as long as the task does,
// unless ctx ends or WithMaxTimeout sets a bound; WithTimeout bounds each request to
// the server. When the server cannot be reached, Wait tries again for about a minute.
// An error is that of the call, or a *TaskError. If Wait returns before the task has
// ended, it asks the server to cancel the task, unless WithTaskLeft is set.
//
// Spec: ext-tasks/draft tasks#task-polling.
// Spec: 2025-11-25 basic/utilities/tasks#result-retrieval.
func (t *Task) Wait(ctx context.Context, opts ...CallOption) (*mcp.CallToolResult, error) {
	o := t.waitOptions(opts)
	if o.err != nil {
		return nil, o.err
	}
	return t.wait(ctx, o)
}

// WaitRaw is Wait for a caller who wants the result as the server sent it. It is not
// checked against the output schema of the tool; Client.CheckOutput does that.
func (t *Task) WaitRaw(ctx context.Context, opts ...CallOption) (json.RawMessage, error) {
	o := t.waitOptions(opts)
	if o.err != nil {
		return nil, o.err
	}
	return t.waitRaw(ctx, o)
}

// Answer has the functions in Options answer the questions that the task waits for,
// and returns as soon as it waits for none, at once if it does not. It leaves the task
// running in any case. To answer in another way in 2026-07-28, call
// mcp.MethodUpdateTask by Client.Do.
//
// Spec: ext-tasks/draft tasks#task-update-requests.
// Spec: 2025-11-25 basic/utilities/tasks#input-required-status.
func (t *Task) Answer(ctx context.Context, opts ...CallOption) error {
	o := t.waitOptions(opts)
	if o.err != nil || t.raw != nil {
		return o.err
	}
	o.leavesTask = true
	f := t.follow(ctx, o)
	f.untilAnswered = true
	_, err := f.run() //nolint:contextcheck // f has its context
	return err
}

// waitOptions returns the options of waiting. Who listens to the call that made the
// task listens to it until its end.
func (t *Task) waitOptions(opts []CallOption) *callOptions {
	o := &callOptions{timeout: t.c.opts.Timeout}
	if t.req != nil {
		began := &t.req.opts
		o.progress, o.onProgress, o.onNotification, o.onTask = began.progress, began.onProgress, began.onNotification, began.onTask
	}
	for _, set := range opts {
		set(o)
	}
	return o
}

func (t *Task) wait(ctx context.Context, o *callOptions) (*mcp.CallToolResult, error) {
	raw, err := t.waitRaw(ctx, o)
	if err != nil {
		return nil, err
	}
	result, err := decode[mcp.CallToolResult](t.c, mcp.MethodCallTool, raw)
	if err != nil {
		return nil, err
	}
	return t.c.checked(t.tool, result)
}

func (t *Task) waitRaw(ctx context.Context, o *callOptions) (json.RawMessage, error) {
	if t.raw != nil {
		return t.raw, nil
	}
	return t.follow(ctx, o).run() //nolint:contextcheck // the follower has its context
}

// follow begins to follow the task. run must be called.
func (t *Task) follow(ctx context.Context, o *callOptions) *follower {
	f := &follower{t: t, c: t.c, opts: o, wake: make(chan struct{}, 1)}
	f.fetch.done = make(chan fetched, 1)
	f.questions.answers = make(chan answered)
	f.call = t.c.boundTask(ctx, t, o)
	f.ctx, f.end = context.WithCancelCause(f.call.run)
	if t.seed != nil {
		f.saw(t.seed, t.born)
	}
	t.c.follows.add(f)
	return f
}

// boundTask is bound for following a task: only the limit of the caller ends it.
func (c *Client) boundTask(ctx context.Context, t *Task, o *callOptions) *watchdog {
	d := &watchdog{Context: ctx, c: c, req: t.request(o)}
	kept := t.kept.take()
	if d.notes = kept; kept == nil {
		d.notes = c.expect(d)
	}
	limits := &callOptions{timeout: -1}
	if o.bounded {
		limits.maxTimeout = o.maxTimeout
	}
	if t.req != nil && o == &t.req.opts && limits.maxTimeout > 0 { // a part of it is over
		limits.maxTimeout = max(limits.maxTimeout-time.Since(t.began), 1)
	}
	c.watch(d, limits)
	if kept != nil {
		kept.moveTo(d) // progress comes to d from now on
	}
	return d
}

// request returns the call that the questions of the task belong to, for OriginOf.
func (t *Task) request(o *callOptions) *Request {
	if t.req != nil {
		req := *t.req
		req.opts = *o
		return &req
	}
	params, err := wire.Marshal(mcp.TaskParams{ID: t.id})
	if err != nil {
		params = nil // an ID that is not UTF-8: the server will not know it
	}
	return &Request{Method: mcp.MethodTaskResult, Params: params, Revision: t.c.Revision(), opts: *o}
}

// run follows the task until there is a result, or none any more.
func (f *follower) run() (json.RawMessage, error) {
	defer f.stop()
	err := f.loop()
	switch {
	case f.failure != nil:
		return nil, f.failure
	case err != nil:
		return nil, f.givenUp(err)
	}
	return f.result, nil
}

func (f *follower) loop() error {
	if f.state == nil {
		if err := f.look(); err != nil {
			return err
		}
	}
	for {
		over, err := f.act()
		if over || err != nil {
			return err
		}
		if err := f.rest(); err != nil {
			return err
		}
	}
}

// stop ends everything that belongs to the following, and waits for it.
func (f *follower) stop() {
	f.c.follows.remove(f)
	f.end(errCallOver)
	f.work.Wait()
	f.call.stop()
}

// act does what the state asks for. over says that there is nothing more to do.
func (f *follower) act() (over bool, err error) {
	s, l := f.state, f.c.current()
	switch {
	case f.result != nil || f.failure != nil:
		return true, nil
	case s == nil || f.failures > 0:
		return false, nil
	case s.Status == mcp.TaskCancelled:
		return true, ErrTaskCancelled
	case f.untilAnswered && s.Status != mcp.TaskInputRequired:
		return true, nil
	case l.session != nil:
		return f.actSession()
	case l.stateless == nil: // the client was closed after it had got the state
		return false, context.Cause(f.c.ctx)
	}
	return f.actStateless(l.stateless)
}

func (f *follower) actStateless(front *era.StatelessClient) (over bool, err error) {
	s := f.state
	switch {
	case s.Status == mcp.TaskCompleted && (len(s.Result) == 0 || s.Result[0] != '{'):
		return true, errors.New("the server says that the task has completed, but sends no result")
	case s.Status == mcp.TaskCompleted:
		f.result = s.Result
		return true, nil
	case s.Status == mcp.TaskFailed && s.Error == nil:
		return true, f.unexplained()
	case s.Status == mcp.TaskFailed:
		f.failure = f.callFailed(s.Error)
		return true, nil
	}
	f.hear()
	if s.Status == mcp.TaskInputRequired {
		return false, f.ask(front)
	}
	return false, nil
}

// unexplained is the error of a task that has failed, where the server does not send
// that error.
func (f *follower) unexplained() error {
	return fmt.Errorf("the server says that the task has failed, but not with which error: %.1000q", f.state.StatusMessage)
}

// callFailed returns the error of a task as that of the call.
func (f *follower) callFailed(err error) error {
	return notFound(mcp.MethodCallTool, fmt.Errorf("%s: %w", mcp.MethodCallTool, err), f.c.current().session != nil)
}
