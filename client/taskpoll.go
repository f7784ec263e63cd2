package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/parley-mcp/parley/internal/related"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// rest waits until it is time to ask for the state again, and asks; or until there is
// something else to act upon.
func (f *follower) rest() error {
	timer := time.NewTimer(time.Until(f.due()))
	defer timer.Stop()
	for {
		select {
		case <-f.ctx.Done():
			return context.Cause(f.ctx)
		case <-f.wake:
			if f.failures == 0 && !f.fetching() {
				timer.Reset(time.Until(f.looked.Add(related.ShortestPoll)))
			}
		case <-timer.C:
			if f.fetching() {
				return fmt.Errorf("%s: %w", mcp.MethodTaskResult, ErrTimeout)
			}
			return f.look()
		case got := <-f.fetch.done:
			return f.fetched(got)
		case a := <-f.questions.answers:
			return f.answered(a)
		}
	}
}

// due returns when to ask for the state again; for a task whose result is on its way,
// when that is too late.
func (f *follower) due() time.Time {
	switch {
	case f.failures > 0:
		return f.looked.Add(pauseBefore(f.failures))
	case f.fetching():
		if f.opts.timeout < 0 {
			return f.looked.Add(longestWait)
		}
		return f.looked.Add(f.opts.timeout)
	}
	next := f.looked.Add(f.state.interval())
	if end := f.expiry(); !end.IsZero() && end.Before(next) && end.After(f.looked) {
		return end
	}
	return next
}

// fetching reports whether nothing is missing but the result, which is on its way.
func (f *follower) fetching() bool {
	return f.failures == 0 && f.fetch.on && f.state.Status.Final()
}

// longestWait is a time that nobody waits.
const longestWait = 100 * 365 * 24 * time.Hour

// expiry returns when the task is no longer usable; zero means never. Clocks of servers
// may be wrong, so that the time is counted from when the client first heard of the
// task.
//
// Spec: ext-tasks/draft tasks#task-polling.
func (f *follower) expiry() time.Time {
	if ttl := f.state.lifetime(); ttl > 0 {
		return f.t.born.Add(ttl)
	}
	return time.Time{}
}

// look asks for the state.
func (f *follower) look() error {
	raw, err := f.request(mcp.MethodGetTask, mcp.TaskParams{ID: f.t.id}, f.opts.timeout)
	now := time.Now()
	if err != nil {
		f.looked = now
		return f.stumble(err)
	}
	s, err := readTaskState(f.t.id, raw)
	if err != nil {
		return err
	}
	f.failures = 0
	f.saw(s, now)
	if end := f.expiry(); !end.IsZero() && !now.Before(end) && !s.Status.Final() {
		return &notFoundError{fmt.Errorf("it is no longer usable: its time of %v is over, and the server says that it is %q", s.lifetime(), s.Status)}
	}
	return nil
}

// saw takes a state, and tells the caller if it is news.
func (f *follower) saw(s *taskState, at time.Time) {
	old := f.state
	f.state, f.looked = s, at
	if f.call.notes == nil || old != nil && old.Status == s.Status && old.StatusMessage == s.StatusMessage {
		return
	}
	f.call.notes.tellTask(s.Task, s.StatusMessage != "" && (old == nil || old.StatusMessage != s.StatusMessage))
}

// request makes a request on behalf of the call.
func (f *follower) request(method string, params any, timeout time.Duration) (json.RawMessage, error) {
	req, err := f.c.request(method, params, nil)
	if err != nil {
		return nil, err
	}
	req.opts.within, req.opts.timeout, req.opts.takesTask = f.call, timeout, f.opts.takesTask
	if timeout < 0 {
		req.opts.maxTimeout = -1
	}
	return (*f.c.call.Load())(f.ctx, req)
}

// stumble returns the error of a request if it is no use to try again.
func (f *follower) stumble(err error) error {
	if f.ctx.Err() != nil {
		return context.Cause(f.ctx)
	}
	if f.failures++; f.failures > maxAttempts || !isPassing(err) {
		return noTask(err)
	}
	f.c.opts.Logger.Debug("the state of a task was not to be had; trying again", "task", f.t.id, "error", err)
	return nil
}

// isPassing reports whether a request may succeed when it is made again.
func isPassing(err error) bool {
	var rpc *jsonrpc.Error
	if errors.As(err, &rpc) {
		return rpc.Code == jsonrpc.CodeInternalError
	}
	var undeclared *NotDeclaredError
	return !isFinal(err) && !errors.Is(err, mcp.ErrUnauthorized) && !errors.As(err, &undeclared)
}
