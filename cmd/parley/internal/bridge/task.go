package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/internal/era"
	"github.com/parley-mcp/parley/internal/related"
	"github.com/parley-mcp/parley/internal/toolresult"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// task is a call whose client asks for its result later, where the other server has no
// task for that in the form of the client. The call goes on here; what the server makes
// of it, a task of its own perhaps, is not seen by the client.
type task struct {
	tasks   *tasks
	p       *passing
	id      string
	owner   owner
	created time.Time
	ttl     time.Duration
	timer   *time.Timer // ends it with its time
	weighs  int         // bytes that it counts for; tasks.mu guards it

	mu        sync.Mutex
	updated   time.Time
	message   string // what the server has said of its progress
	cancelled bool
	asking    bool // an exchange puts the questions to the client
	change    chan struct{}
	watchers  map[*func(mcp.Change)]bool
}

// poll is how often clients are to ask for the state of a task. They are notified of
// changes, if they want to be.
const poll = 500 * time.Millisecond

var errCancelled = errors.New("the task was cancelled by request")

// changed tells those who wait that something is new. t may be nil.
func (t *task) changed() {
	if t == nil {
		return
	}
	t.mu.Lock()
	t.updated = time.Now()
	close(t.change)
	t.change = make(chan struct{})
	watchers := make([]func(mcp.Change), 0, len(t.watchers))
	for deliver := range t.watchers {
		watchers = append(watchers, *deliver)
	}
	t.mu.Unlock()
	for _, deliver := range watchers {
		deliver(mcp.Change{Kind: mcp.TaskChanged, URI: t.id})
	}
}

// ended is called when the call is over. t may be nil.
func (t *task) ended() {
	if t == nil {
		return
	}
	t.changed()
	over := *t.p.x.Load() // whoever asks for the result comes in another exchange
	over.Params, over.Meta, over.Answers, over.State = nil, nil, nil, nil
	t.p.x.Store(&over)
	t.tasks.weigh(t)
}

// next returns what is closed with the next change.
func (t *task) next() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.change
}

// tell keeps a message as that of the task.
func (t *task) tell(message string) {
	t.mu.Lock()
	same := message == t.message
	t.message = message
	t.mu.Unlock()
	if !same {
		t.changed()
	}
}

// status says how far the task has come. In a session a tool that failed is a failed task.
//
// Spec: 2025-11-25 basic/utilities/tasks#task-status.
// Spec: ext-tasks/draft tasks#task-status.
func (t *task) status(x *mcp.Exchange) mcp.TaskStatus {
	t.mu.Lock()
	cancelled := t.cancelled
	t.mu.Unlock()
	switch {
	case cancelled:
		return mcp.TaskCancelled
	case !t.p.over():
		if t.p.open() != nil {
			return mcp.TaskInputRequired
		}
		return mcp.TaskWorking
	case errors.Is(t.p.err, client.ErrTaskCancelled):
		return mcp.TaskCancelled
	case t.p.err != nil, !era.StatelessRevision(x.Peer.Revision) && toolresult.Failed(t.p.result):
		return mcp.TaskFailed
	}
	return mcp.TaskCompleted
}

// state returns the state of the task for a client.
func (t *task) state(ctx context.Context, x *mcp.Exchange) (json.RawMessage, error) {
	s := &mcp.TaskState{Task: t.brief(t.status(x))}
	switch s.Status {
	case mcp.TaskInputRequired:
		s.InputRequests = map[string]*mcp.InputRequest{}
		if ask := t.p.open(); ask != nil {
			for _, q := range ask.Requests {
				s.InputRequests[q.Key] = &q
			}
		}
	case mcp.TaskCompleted:
		s.Result = t.p.result
	case mcp.TaskFailed:
		if t.p.err != nil {
			s.Error = t.failure(ctx, x)
			s.StatusMessage = s.Error.Message
		}
	case mcp.TaskCancelled:
		s.StatusMessage = errCancelled.Error()
	case mcp.TaskWorking:
	}
	return wire.Marshal(s)
}

// brief is the state without what belongs to it.
func (t *task) brief(status mcp.TaskStatus) mcp.Task {
	t.mu.Lock()
	defer t.mu.Unlock()
	return mcp.Task{
		ID: t.id, Status: status, StatusMessage: t.message,
		CreatedAt: related.Time(t.created), LastUpdatedAt: related.Time(t.updated),
		TTLMs: new(t.ttl.Milliseconds()), PollIntervalMs: new(poll.Milliseconds()),
	}
}

// handOut answers the call that has become a task.
//
// Spec: 2025-11-25 basic/utilities/tasks#creating-tasks.
// Spec: ext-tasks/draft tasks#task-creation.
func (t *task) handOut() (json.RawMessage, error) {
	r := &mcp.CreateTaskResult{Task: t.brief(mcp.TaskWorking)}
	r.ResultType = mcp.ResultTask
	return wire.Marshal(r)
}

// failure is the error with which the call has ended.
func (t *task) failure(ctx context.Context, x *mcp.Exchange) *jsonrpc.Error {
	err := t.p.link.b.failure(ctx, x, t.p.err)
	if rpc, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return rpc
	}
	return jsonrpc.Errorf(jsonrpc.CodeInternalError, "%v", err)
}

// outcome is what the call would have returned without a task.
//
// Spec: 2025-11-25 basic/utilities/tasks#result-retrieval.
func (t *task) outcome(ctx context.Context, x *mcp.Exchange) (any, error) {
	switch {
	case t.status(x) == mcp.TaskCancelled:
		return nil, jsonrpc.Errorf(jsonrpc.CodeInternalError, "%s", errCancelled)
	case t.p.err != nil:
		return nil, t.failure(ctx, x)
	}
	return t.p.result, nil
}
