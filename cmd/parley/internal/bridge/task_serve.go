package bridge

import (
	"context"

	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// aboutTask answers a request about a task of the bridge.
func (b *Bridge) aboutTask(ctx context.Context, x *mcp.Exchange, t *task) (any, error) {
	switch x.Method {
	case mcp.MethodGetTask:
		return t.state(ctx, x)
	case mcp.MethodCancelTask:
		return t.cancel(ctx, x)
	case mcp.MethodUpdateTask:
		return t.update(x)
	case mcp.MethodTaskResult:
		return t.result(ctx, x)
	}
	return nil, &mcp.MethodNotFoundError{Method: x.Method}
}

// cancel ends the call. What it still returns is dropped.
//
// Spec: 2025-11-25 basic/utilities/tasks#task-cancellation.
// Spec: ext-tasks/draft tasks#task-cancellation.
func (t *task) cancel(ctx context.Context, x *mcp.Exchange) (any, error) {
	if status := t.status(x); status.Final() {
		return nil, &mcp.TaskEndedError{ID: t.id, Status: status}
	}
	t.mu.Lock()
	t.cancelled = true
	t.mu.Unlock()
	t.p.cancel(errCancelled)
	t.changed()
	return t.state(ctx, x)
}

// update gives answers to open questions. What answers none is ignored.
//
// Spec: ext-tasks/draft tasks#task-update-requests.
func (t *task) update(x *mcp.Exchange) (any, error) {
	var params mcp.UpdateTaskParams
	if err := wire.Unmarshal(x.Params, &params); err != nil {
		return nil, mcp.InvalidParams("params: %v", err)
	}
	t.p.answer(params.InputResponses)
	t.changed()
	return &mcp.EmptyResult{}, nil
}

// result waits until the task has ended, and meanwhile puts its questions to the client
// of a session.
//
// Spec: 2025-11-25 basic/utilities/tasks#result-retrieval.
// Spec: 2025-11-25 basic/utilities/tasks#input-required-status.
func (t *task) result(ctx context.Context, x *mcp.Exchange) (any, error) {
	for {
		next := t.next()
		switch status := t.status(x); {
		case status.Final():
			return t.outcome(ctx, x)
		case status == mcp.TaskInputRequired && t.reserve():
			t.ask(ctx, x)
			t.free()
			if ctx.Err() == nil {
				continue
			}
		}
		select {
		case <-next:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// reserve makes sure that questions are asked once at a time.
func (t *task) reserve() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.asking {
		return false
	}
	t.asking = true
	return true
}

func (t *task) free() {
	t.mu.Lock()
	t.asking = false
	t.mu.Unlock()
	t.changed() // for those who have found it reserved
}

// ask puts the open questions to the client of an exchange, until they are answered or
// nobody wants to know any more. What the client refuses to answer is refused.
func (t *task) ask(ctx context.Context, x *mcp.Exchange) {
	ask := t.p.open()
	if ask == nil {
		return
	}
	asking, withdraw := context.WithCancel(ctx)
	defer withdraw()
	defer context.AfterFunc(t.p.ctx, withdraw)() //nolint:contextcheck // the call may end before the exchange
	keys := map[string]int{}
	for i := range ask.Requests {
		ask.Requests[i].Task = t.id
		keys[ask.Requests[i].Key] = i
	}
	answers, err := x.Back.Input(asking, ask.Requests...)
	if asking.Err() != nil {
		return
	}
	t.p.settle(func(q *question) (answered, bool) {
		i, asked := keys[q.request.Key]
		switch {
		case !asked:
			return answered{}, false
		case i < len(answers) && len(answers[i]) > 0 && answers[i][0] == '{':
			return answered{raw: answers[i]}, true
		case err == nil:
			return answered{err: errNoAnswer}, true
		}
		return answered{err: err}, true
	})
}
