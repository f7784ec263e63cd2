package server

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/parley-mcp/parley/internal/question"
	"github.com/parley-mcp/parley/mcp"
)

// taskWait waits for changes of a task.
type taskWait struct {
	changed chan struct{}
	every   time.Duration // to look without having been told: the hub may not be shared
	stop    func()
}

// wait subscribes an exchange to a task, of whose session it becomes a listener.
func (e *tasks) wait(id string, x *mcp.Exchange) *taskWait {
	w := &taskWait{changed: make(chan struct{}, 1), every: e.opts.PollInterval}
	unsubscribe := e.s.hub.Subscribe(mcp.SubscriptionFilter{TaskIDs: []string{id}}, func(mcp.Change) {
		select {
		case w.changed <- struct{}{}:
		default: // it has not seen the last one yet
		}
	})
	l := &listener{x.Peer.SessionID, x.Back}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.waiting[id] = append(e.waiting[id], l)
	w.stop = func() {
		unsubscribe()
		e.mu.Lock()
		defer e.mu.Unlock()
		others := slices.DeleteFunc(slices.Clone(e.waiting[id]), func(o *listener) bool { return o == l })
		if e.waiting[id] = others; len(others) == 0 {
			delete(e.waiting, id)
		}
	}
	return w
}

// next returns when there may be something new.
func (w *taskWait) next(ctx context.Context) error {
	timer := time.NewTimer(w.every)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-w.changed:
	case <-timer.C:
	}
	return nil
}

// reserveAsking makes sure that the questions of a task are asked once at a time. It
// reports false if another exchange asks them.
func (e *tasks) reserveAsking(id string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.asked[id] {
		return false
	}
	e.asked[id] = true
	return true
}

func (e *tasks) freeAsking(id string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.asked, id)
}

// ask puts the open questions of a task to the client of an exchange.
//
// Spec: 2025-11-25 basic/utilities/tasks#input-required-status.
func (e *tasks) ask(ctx context.Context, x *mcp.Exchange, t *task) error {
	if x.Back == nil {
		return errNoWayBack
	}
	asking, withdraw := context.WithCancel(ctx)
	defer withdraw()
	defer e.whileAsked(t, withdraw)() //nolint:contextcheck // it looks after the questions, whoever asked for the result
	requests := make([]mcp.InputRequest, len(t.Asked))
	for i := range t.Asked {
		requests[i] = t.Asked[i].request(t.ID)
	}
	raws, err := x.Back.Input(asking, requests...)
	if asking.Err() != nil { // withdrawn, or the client is gone
		return ctx.Err()
	}
	_, refused := errors.AsType[question.Refusal](err)
	if err != nil && !refused {
		return err
	}
	answers := map[string]inputAnswer{}
	for i, q := range t.Asked {
		switch {
		case i < len(raws) && isObject(raws[i]):
			answers[q.Sent] = inputAnswer{Result: raws[i]}
		case refused:
			answers[q.Sent] = inputAnswer{Failed: err.Error()}
		default:
			answers[q.Sent] = inputAnswer{Failed: "the client's answer is not an object"}
		}
	}
	return e.answer(ctx, t.ID, answers)
}

// whileAsked withdraws the questions of a task when they are not open any more: it
// was cancelled, it expired, or somebody else has answered.
func (e *tasks) whileAsked(t *task, withdraw func()) (stop func()) {
	ctx, stop := context.WithCancel(context.Background())
	var look func()
	look = func() {
		if ctx.Err() != nil {
			return
		}
		now, err := e.load(ctx, t.ID)
		if err == nil && now.Version == t.Version {
			time.AfterFunc(e.opts.PollInterval, look) // ends when the task is loaded
			return
		}
		withdraw()
	}
	time.AfterFunc(e.opts.PollInterval, look) // likewise
	return stop
}

// watchable returns those tasks that the client of an exchange may watch.
//
// Spec: ext-tasks/draft tasks#task-status-notifications.
func (e *tasks) watchable(ctx context.Context, x *mcp.Exchange, ids []string) ([]string, error) {
	if len(ids) == 0 || !e.known.Load() {
		return nil, nil
	}
	ids = slices.Clone(ids)
	slices.Sort(ids)
	var kept []string
	for _, id := range slices.Compact(ids) {
		if err := e.mayAskAboutTasks(x); err != nil {
			return nil, err
		}
		if _, err := e.find(ctx, x, id); err == nil {
			kept = append(kept, id)
		}
	}
	return kept, nil
}
