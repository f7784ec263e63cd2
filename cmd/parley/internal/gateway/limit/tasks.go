package limit

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// tasks are the calls that go on as tasks and count until these have ended, as far as the
// gateway sees. The zero value is ready.
type tasks struct {
	guard.Tasks // also those that do not count

	mu   sync.Mutex
	held map[key]*task // by their IDs
}

const (
	// maxTasks bounds the tasks that count. Beyond it, the one whose time is over first
	// does not count any more.
	maxTasks = 10_000
	// longest is how long a task counts whose end nobody sees and whose server keeps it
	// for longer.
	longest = 24 * time.Hour
)

// made has a task count that an operation may have become: it keeps the places of the call,
// and is cancelled when the time of that is over. It reports whether it does.
func (k *tasks) made(call *served, result any) bool {
	id := k.Made(call.op, result)
	if id == "" || len(call.taken) == 0 && call.least == 0 {
		return false
	}
	t := newTask(call, id)
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.held == nil {
		k.held = map[key]*task{}
	}
	k.makeRoomLocked()
	if had := k.held[t.id]; had != nil { // a server uses IDs again
		had.end()
	}
	k.held[t.id] = t
	k.begin(t, call, keptFor(result))
	return true
}

// begin has the time of a task run, which its server keeps for a while.
func (k *tasks) begin(t *task, call *served, kept time.Duration) {
	now, least := time.Now(), call.least // and no more of the call stays
	t.until = now.Add(kept)
	switch left := call.begun.Add(least).Sub(now); {
	case least > 0 && left < kept:
		t.timer = time.AfterFunc(left, func() { k.due(t, least) })
	case kept < longest:
		t.timer = time.AfterFunc(kept, func() { k.expire(t) })
	default:
		t.timer = time.AfterFunc(kept, func() { k.forget(t) })
	}
}

// keptFor is how long a server keeps a task that it has handed out, and that so may run.
func keptFor(result any) time.Duration {
	raw, _ := result.(json.RawMessage)
	var t mcp.Task
	if wire.Unmarshal(raw, &t) != nil || t.TTLMs == nil {
		return longest
	}
	return time.Duration(min(max(*t.TTLMs, 0), longest.Milliseconds())) * time.Millisecond
}

func (k *tasks) makeRoomLocked() {
	if len(k.held) < maxTasks {
		return
	}
	first := slices.MinFunc(slices.Collect(maps.Values(k.held)), func(a, b *task) int { return a.until.Compare(b.until) })
	delete(k.held, first.id)
	first.end()
}

// find returns the task that an operation is about, or nil if it is about none that counts.
func (k *tasks) find(op *guard.Operation) *task {
	if op.Method.Feature != mcp.TaskFeature {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.held[sha256.Sum256([]byte(op.Shown))]
}

// forget has a task not count any more.
func (k *tasks) forget(t *task) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.held[t.id] == t {
		delete(k.held, t.id)
	}
	t.end()
}

// expire is called when a server need not keep a task any more. One that still works is
// cancelled, or clients could ask for a short time, and have as many at work as they like.
func (k *tasks) expire(t *task) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if ask := k.asker(t); !ask.ended(ctx) {
		_, _ = ask.about(ctx, mcp.MethodCancelTask)
	}
	k.forget(t)
}

// due is called when the time of a task is over: unless it has ended, it is cancelled, as by
// its client. Nothing comes of it then, whatever its server does.
func (k *tasks) due(t *task, least time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	ask := k.asker(t)
	if ask.ended(ctx) {
		k.forget(t)
		return
	}
	t.fail(late(least))
	t.leave()
	k.mu.Lock()
	if k.held[t.id] == t {
		t.timer = time.AfterFunc(time.Until(t.until), func() { k.forget(t) })
	}
	k.mu.Unlock()
	_, _ = ask.about(ctx, mcp.MethodCancelTask) // some servers cannot
}

// serve serves an operation about a task, and learns from it whether that has ended.
func (k *tasks) serve(ctx context.Context, t *task, op *guard.Operation, next guard.Next) (any, error) {
	if err := t.failed(); err != nil && op.Method.Name == mcp.MethodTaskResult {
		return nil, err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	if op.Method.Name == mcp.MethodTaskResult { // which waits for the end
		defer context.AfterFunc(t.ctx, func() { stop(t.failed()) })() //nolint:contextcheck // the task's own ends the operation
	}
	result, err := next(ctx, op)
	switch why := t.failed(); {
	case why == nil:
	case op.Method.Name == mcp.MethodTaskResult, hasResult(result):
		return nil, why
	default:
		return result, err
	}
	if shows(op.Method.Name, result, err) || isAnswer(err) && k.asker(t).ended(ctx) {
		k.forget(t)
	}
	return result, err
}

// shows reports whether what came of an operation about a task shows that this has ended.
// A client that cancels one waits for it no more than for a call that it cancels.
func shows(method string, result any, err error) bool {
	switch {
	case err != nil:
		return false
	case method == mcp.MethodGetTask:
		return isFinal(result)
	}
	return method == mcp.MethodTaskResult || method == mcp.MethodCancelTask
}

// left has tasks asked about without the session that has made them: it has ended, and must
// not get a connection again.
func (k *tasks) left(session string) {
	if session == "" {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, t := range k.held {
		if t.op.Exchange.Peer.SessionID == session {
			x := *t.op.Exchange
			x.Peer.SessionID = ""
			t.op.Exchange = &x
		}
	}
}

// asker returns what asks about a task.
func (k *tasks) asker(t *task) asker {
	k.mu.Lock()
	defer k.mu.Unlock()
	return asker{t.op, t.next}
}
