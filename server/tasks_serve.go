package server

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"time"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server/taskstore"
)

// mayAskAboutTasks bounds how often clients ask about tasks.
//
// Spec: 2025-11-25 basic/utilities/tasks#task-isolation-and-access-control.
func (e *tasks) mayAskAboutTasks(x *mcp.Exchange) error {
	return underRate(e.rate, x, "requests about tasks")
}

// named returns the task that the params of an exchange name.
func (e *tasks) named(ctx context.Context, x *mcp.Exchange) (*task, error) {
	if err := e.mayAskAboutTasks(x); err != nil {
		return nil, err
	}
	var params mcp.TaskParams
	if err := decodeParams(x, &params); err != nil {
		return nil, err
	}
	return e.find(ctx, x, params.ID)
}

// subject returns what the params of an exchange name.
func subject(x *mcp.Exchange) string { return mcp.MethodNamed(x.Method).SubjectOf(x.Params) }

// getTask answers tasks/get.
//
// Spec: 2025-11-25 basic/utilities/tasks#getting-tasks.
// Spec: ext-tasks/draft tasks#task-polling.
func (s *Server) getTask(ctx context.Context, x *mcp.Exchange) (any, error) {
	t, err := s.tasks.named(ctx, x)
	if err != nil {
		return nil, err
	}
	return s.tasks.state(t), nil
}

// listTasks answers tasks/list.
//
// Spec: 2025-11-25 basic/utilities/tasks#listing-tasks.
func (s *Server) listTasks(ctx context.Context, x *mcp.Exchange) (any, error) {
	e := s.tasks
	if err := e.mayAskAboutTasks(x); err != nil {
		return nil, err
	}
	var params mcp.ListParams
	if err := decodeParams(x, &params); err != nil {
		return nil, err
	}
	var cursor string
	if params.Cursor != nil {
		if cursor = *params.Cursor; cursor == "" || len(cursor) > maxCursor {
			return nil, mcp.InvalidParams("invalid cursor %q", shorten(cursor))
		}
	}
	records, next, err := e.opts.Store.List(ctx, x.Peer.Principal, cursor, s.opts.PageSize)
	if errors.Is(err, taskstore.ErrCursor) {
		return nil, mcp.InvalidParams("invalid cursor %q", shorten(cursor))
	}
	if err != nil {
		return nil, err
	}
	result := &mcp.ListTasksResult{Tasks: make([]*mcp.Task, 0, len(records))}
	for _, r := range records {
		t, err := decodeTask(r)
		if err != nil { // the others can be listed all the same
			e.s.log.WarnContext(ctx, "a task is not listed", "error", err)
			continue
		}
		if lost := e.lostTask(ctx, t.ID, t, nil); lost != nil {
			t = lost
		}
		brief := e.brief(t)
		result.Tasks = append(result.Tasks, &brief)
	}
	if next != "" {
		result.NextCursor = &next
	}
	return result, nil
}

// cancelTask answers tasks/cancel. The handler learns of it by its context.
//
// Spec: 2025-11-25 basic/utilities/tasks#task-cancellation.
// Spec: ext-tasks/draft tasks#task-cancellation.
func (s *Server) cancelTask(ctx context.Context, x *mcp.Exchange) (any, error) {
	e := s.tasks
	t, err := e.named(ctx, x)
	if err != nil {
		return nil, err
	}
	if t.Status.Final() {
		return nil, &mcp.TaskEndedError{ID: t.ID, Status: t.Status}
	}
	late := false
	t, err = e.change(ctx, t.ID, func(t *task) bool {
		if late = t.Status.Final(); !late {
			t.end(mcp.TaskCancelled, "the task was cancelled by request")
		}
		return !late
	})
	switch {
	case errors.Is(err, taskstore.ErrNotFound):
		return nil, unknownTask(subject(x))
	case err != nil:
		return nil, err
	case late:
		return nil, &mcp.TaskEndedError{ID: t.ID, Status: t.Status}
	}
	e.log(ctx, slog.LevelInfo, "task ended", t)
	e.mu.Lock()
	if r := e.runs[t.ID]; r != nil {
		r.stop(errTaskCancelled)
	}
	e.mu.Unlock()
	return e.state(t), nil
}

// updateTask answers tasks/update. What answers no open question is ignored.
//
// Spec: ext-tasks/draft tasks#task-update-requests.
func (s *Server) updateTask(ctx context.Context, x *mcp.Exchange) (any, error) {
	t, err := s.tasks.named(ctx, x)
	if err != nil {
		return nil, err
	}
	var params mcp.UpdateTaskParams
	if err := decodeParams(x, &params); err != nil {
		return nil, err
	}
	answers := map[string]inputAnswer{}
	for _, q := range t.Asked {
		raw, ok := params.InputResponses[q.Sent]
		if ok && !isObject(raw) {
			return nil, mcp.InvalidParams("inputResponses: the answer to %q is not an object", shorten(q.Sent))
		}
		if ok {
			answers[q.Sent] = inputAnswer{Result: raw}
		}
	}
	if err := s.tasks.answer(ctx, t.ID, answers); err != nil {
		return nil, err
	}
	return &mcp.EmptyResult{}, nil
}

// answer gives answers, by the client's keys, to the open questions of a task. When
// none is left, the handler runs again.
func (e *tasks) answer(ctx context.Context, id string, answers map[string]inputAnswer) error {
	began := false
	t, err := e.change(ctx, id, func(t *task) bool {
		began = false
		changed := t.accept(answers)
		if changed && len(t.Asked) == 0 {
			t.set(mcp.TaskWorking, t.Message)
			e.claim(t)
			began = t.Run != ""
		}
		return changed
	})
	if errors.Is(err, taskstore.ErrNotFound) {
		return unknownTask(id)
	}
	if err == nil && began {
		e.again(t) //nolint:contextcheck // the run goes on when the exchange has ended
	}
	return err
}

// accept takes over the answers to open questions, and reports whether there were any.
func (t *task) accept(answers map[string]inputAnswer) bool {
	known := maps.Clone(t.Answers)
	if known == nil {
		known = map[string]inputAnswer{}
	}
	var open []askedInput
	for _, q := range t.Asked {
		if a, ok := answers[q.Sent]; ok {
			known[q.Key] = a
		} else {
			open = append(open, q)
		}
	}
	changed := len(open) < len(t.Asked)
	if changed {
		t.Answers, t.Asked, t.Updated = known, open, time.Now().UnixMilli()
	}
	return changed
}

// taskResult answers tasks/result: it waits until the task has ended, and meanwhile
// asks what the handler wants to know.
//
// Spec: 2025-11-25 basic/utilities/tasks#result-retrieval.
func (s *Server) taskResult(ctx context.Context, x *mcp.Exchange) (any, error) {
	e := s.tasks
	t, err := e.named(ctx, x)
	if err != nil {
		return nil, err
	}
	w := e.wait(t.ID, x)
	defer w.stop()
	for {
		switch {
		case t.Status.Final():
			return t.outcome()
		case t.Status == mcp.TaskInputRequired && e.reserveAsking(t.ID):
			err = e.ask(ctx, x, t)
			e.freeAsking(t.ID)
		default:
			err = w.next(ctx)
		}
		if err != nil {
			return nil, err
		}
		if t, err = e.current(ctx, t.ID); err != nil {
			if errors.Is(err, taskstore.ErrNotFound) {
				err = unknownTask(subject(x))
			}
			return nil, err
		}
	}
}
