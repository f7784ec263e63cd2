package era

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/parley-mcp/parley/internal/related"
	"github.com/parley-mcp/parley/internal/tap"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// asksAsTask reports whether the client answers a question as a task.
//
// Spec: 2025-11-25 basic/utilities/tasks#capability-negotiation.
func (b *sessionBack) asksAsTask(method string) bool {
	return b.session.opts.AskAsTasks && b.facts.Tasks && covers(b.peer.Capabilities.Tasks, method)
}

// demandingTask adds to the params of a question that it is to be answered as a task,
// which the client keeps for as long as its answer is waited for.
//
// Spec: 2025-11-25 basic/utilities/tasks#creating-tasks.
func (b *sessionBack) demandingTask(params any) (json.RawMessage, error) {
	doc, err := wire.Append(nil, params)
	if err != nil {
		return nil, err
	}
	return wire.Set(doc, memberTask, fmt.Appendf(nil, `{"ttl":%d}`, b.session.opts.AnswerTimeout.Milliseconds()))
}

// longestPoll bounds the time between two requests for the state of a task of the client.
const longestPoll = time.Minute

// await returns the answer to a question, which the client may have answered with a
// task. If it is no longer wanted, the task is cancelled.
//
// Spec: 2025-11-25 basic/utilities/tasks#task-augmented-sampling-request.
func (b *sessionBack) await(ctx context.Context, answer json.RawMessage) (json.RawMessage, error) {
	made := raiseCreated(answer)
	if !related.IsTask(made) {
		return answer, nil // the client has answered at once
	}
	t := new(mcp.Task)
	if err := wire.Unmarshal(made, t); err != nil {
		return nil, fmt.Errorf("the client answered with a malformed task: %w", err)
	}
	result, err := b.resultOf(ctx, t)
	if err != nil && ctx.Err() != nil {
		b.cancelTask(ctx, t.ID)
	}
	return result, err
}

// resultOf waits for a task of the client. Notifications make it ask for the state
// sooner; it does without them.
//
// Spec: 2025-11-25 basic/utilities/tasks#task-notifications (2).
func (b *sessionBack) resultOf(ctx context.Context, t *mcp.Task) (json.RawMessage, error) {
	news := b.session.hear(t.ID)
	defer b.session.unhear(t.ID)
	for t.Status == mcp.TaskWorking {
		timer := time.NewTimer(related.PollAfter(t.PollIntervalMs, longestPoll))
		select {
		case <-ctx.Done():
		case <-news:
		case <-timer.C:
		}
		timer.Stop()
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		raw, err := b.request(ctx, mcp.MethodGetTask, mcp.TaskParams{ID: t.ID})
		if err != nil {
			return nil, err
		}
		now := new(mcp.Task)
		if err := wire.Unmarshal(raiseTask(raw), now); err != nil || now.ID != t.ID || now.Status == "" {
			return nil, fmt.Errorf("the client sent a malformed state of a task: %w", errors.Join(err, errTaskState))
		}
		t = now
	}
	return b.request(ctx, mcp.MethodTaskResult, mcp.TaskParams{ID: t.ID})
}

var errTaskState = errors.New("it must have the taskId that was asked for, and a status")

// cancelTask tells the client that the answer is no longer wanted. Nobody waits for
// what it says to that.
//
// Spec: 2025-11-25 basic/utilities/tasks#cancelling-tasks.
func (b *sessionBack) cancelTask(ctx context.Context, id string) {
	if b.peer.Capabilities.Tasks.Cancel == nil {
		return
	}
	call, err := b.session.calls.New()
	if err != nil {
		return
	}
	call.Forget()
	m, err := jsonrpc.NewRequest(call.ID, mcp.MethodCancelTask, mcp.TaskParams{ID: id})
	if err != nil {
		return
	}
	frame, err := jsonrpc.Append(nil, m)
	if err != nil {
		return
	}
	if err := b.out.Message(context.WithoutCancel(ctx), frame); err != nil { // the client may be gone, as well
		b.seen.DropFrame(mcp.Sent, tap.ReasonOf(err), mcp.MethodCancelTask, frame, err)
	}
}

// hear returns a channel that receives when the client says that the state of its task
// has changed.
func (s *Session) hear(id string) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.awaited == nil {
		s.awaited = make(map[string]chan struct{})
	}
	news := make(chan struct{}, 1)
	s.awaited[id] = news
	return news
}

func (s *Session) unhear(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.awaited, id)
}

// heard takes a notification about a task of the client, and reports whether anybody
// waits for that task. What it says is not looked at.
//
// Spec: 2025-11-25 basic/utilities/tasks#task-status-notification.
func (s *Session) heard(m *jsonrpc.Message) bool {
	id, _ := wire.Text(wire.Find(m.Params, "taskId"))
	s.mu.Lock()
	defer s.mu.Unlock()
	news, ok := s.awaited[id]
	if ok {
		select {
		case news <- struct{}{}:
		default: // it is about to ask
		}
	}
	return ok
}
