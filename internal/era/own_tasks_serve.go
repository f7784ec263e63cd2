package era

import (
	"context"
	"encoding/json"
	"time"

	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// answerTask answers a request of the server that makes a task, or is about one. ok is
// false for every other request, and if the client has not declared tasks for it.
//
// Spec: 2025-11-25 basic/utilities/tasks#task-support-and-handling (1).
func (c *SessionClient) answerTask(ctx context.Context, m *jsonrpc.Message) (_ any, ok bool, err error) {
	d := mcp.MethodNamed(m.Method)
	if d == nil || c.told.Tasks == nil || !c.Facts().Tasks {
		return nil, false, nil
	}
	switch {
	case isTaskMethod(d):
		value, err := c.aboutTask(ctx, m)
		return value, true, err
	case !covers(c.told.Tasks, m.Method):
		return nil, false, nil
	}
	offer, err := readTaskParam(m.Params)
	if offer == nil && err == nil {
		return nil, false, nil
	}
	if err != nil {
		return nil, true, err
	}
	value, err := c.beginTask(ctx, m, offer)
	return value, true, err
}

// aboutTask answers a request about a task of this client. What its _meta says of a
// task does not count.
//
// Spec: 2025-11-25 basic/utilities/tasks#associating-task-related-messages (2).
func (c *SessionClient) aboutTask(ctx context.Context, m *jsonrpc.Message) (any, error) {
	var p struct {
		ID     string  `json:"taskId"`
		Cursor *string `json:"cursor"`
	}
	if err := wire.Unmarshal(orEmpty(m.Params), &p); err != nil {
		return nil, mcp.InvalidParams("params: %v", err)
	}
	switch m.Method {
	case mcp.MethodGetTask:
		return c.own.get(p.ID)
	case mcp.MethodTaskResult:
		return c.own.result(ctx, p.ID)
	case mcp.MethodCancelTask:
		return c.own.cancel(p.ID)
	case mcp.MethodListTasks:
		return c.own.list(p.Cursor)
	}
	return nil, errUnsupported
}

// beginTask has a question answered apart from its request, which is answered at once.
// The work has the values of the request's context, and ends with the task or the
// connection.
//
// Spec: 2025-11-25 basic/utilities/tasks#result-retrieval (1).
func (c *SessionClient) beginTask(ctx context.Context, m *jsonrpc.Message, offer *mcp.TaskOffer) (any, error) {
	params := json.RawMessage(wire.Except(m.Params, memberTask))
	if _, err := readAsked(m.Method, params, &c.told, c.Facts()); err != nil {
		return nil, err
	}
	work, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	t, err := c.own.add(offer, stop)
	if err != nil {
		stop(err)
		return nil, err
	}
	c.own.mu.Lock()
	state, err := t.stateLocked()
	c.own.mu.Unlock()
	if err == nil && !c.spawn(func() { c.work(work, t, m.Method, params) }) {
		err = jsonrpc.ErrClosed
	}
	if err != nil {
		stop(err)
		return nil, err
	}
	_ = c.spawn(func() { c.guardTask(work, t) }) // if not, the connection ends, and ends the work
	return map[string]json.RawMessage{"task": state}, nil
}

// spawn starts a goroutine that ends with a task or the connection.
func (c *SessionClient) spawn(f func()) bool {
	if c.Go != nil {
		return c.Go(f)
	}
	go f()
	return true
}

// work answers the question of a task, and tells the server when that is done.
//
// Spec: 2025-11-25 basic/utilities/tasks#task-notifications.
func (c *SessionClient) work(ctx context.Context, t *ownTask, method string, params json.RawMessage) {
	defer t.stop(nil)
	value, err := ask(ctx, c.Answers, &c.told, method, params, c.Facts())
	var result json.RawMessage
	if err == nil {
		result, err = wire.Append(nil, value)
	}
	status, failed := mcp.TaskCompleted, (*jsonrpc.Error)(nil)
	if err != nil {
		status, failed = mcp.TaskFailed, refusalOf(err, method)
	}
	state := c.own.end(t, status, result, failed)
	if state == nil {
		return // cancelled
	}
	const patience = time.Minute
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	m := &jsonrpc.Message{Kind: jsonrpc.Notification, Method: mcp.NoteTaskStatus, Params: state}
	_ = c.Conn.Send(ctx, m) // the server asks for the state, too
}

// guardTask ends the work of a task that has expired, or whose server is gone.
func (c *SessionClient) guardTask(ctx context.Context, t *ownTask) {
	timer := time.NewTimer(t.ttl)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
		t.stop(errTaskExpired)
	case <-c.Conn.Done():
		t.stop(jsonrpc.ErrClosed)
	}
}
