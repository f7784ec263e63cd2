package limit

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// task is a call that goes on as one.
type task struct {
	id    key
	asker // tasks.mu guards its op
	taken places
	leave func() // gives the places back, once
	until time.Time
	timer *time.Timer

	// ctx ends with the cause that nothing comes of the task any more.
	ctx  context.Context //nolint:containedctx // the task's own
	fail context.CancelCauseFunc
}

func newTask(call *served, id string) *task {
	t := &task{id: sha256.Sum256([]byte(id)), asker: asker{askOf(call.op, id), call.next}, taken: call.taken, leave: sync.OnceFunc(call.taken.leave)}
	t.ctx, t.fail = context.WithCancelCause(context.Background())
	return t
}

// end has the task not count any more.
func (t *task) end() {
	t.timer.Stop()
	t.leave()
}

// failed is why nothing comes of the task any more, or nil.
func (t *task) failed() error { return context.Cause(t.ctx) }

// asker asks a server about a task, in the place of its client.
type asker struct {
	op   guard.Operation
	next guard.Next
}

// patience is how long an answer may take.
const patience = 10 * time.Second

// askOf returns what requests about a task have in common, of the call that has become it:
// no more than that, because the exchange is over.
func askOf(call *guard.Operation, id string) guard.Operation {
	x := &mcp.Exchange{ID: call.Exchange.ID, Peer: call.Exchange.Peer, Back: nobody{}}
	own := strings.TrimPrefix(id, call.Backend+":")
	params := append(wire.AppendText([]byte(`{"taskId":`), own), '}')
	return guard.Operation{Exchange: x, View: call.View, Backend: call.Backend, Subject: own, Shown: id, Params: params}
}

// about makes a request about the task.
func (a asker) about(ctx context.Context, method string) (any, error) {
	op, x := a.op, *a.op.Exchange
	op.Method, op.Exchange = mcp.MethodNamed(method), &x
	x.Method = method
	if x.Peer.Authorization != nil {
		ctx = mcp.WithAuthorization(ctx, x.Peer.Authorization)
	}
	return a.next(ctx, &op)
}

// ended asks whether the task has ended, or is not there any more.
func (a asker) ended(ctx context.Context) bool {
	result, err := a.about(ctx, mcp.MethodGetTask)
	return err == nil && isFinal(result) || isUnknown(err)
}

// isFinal reports whether a state is that of a task that has ended.
func isFinal(state any) bool {
	raw, _ := state.(json.RawMessage)
	status, _ := wire.Text(wire.Find(raw, "status"))
	return mcp.TaskStatus(status).Final()
}

// hasResult reports whether a state has the result of its task.
func hasResult(state any) bool {
	raw, _ := state.(json.RawMessage)
	return wire.Find(raw, "result") != nil
}

// isAnswer reports whether an error may be what a server has answered.
func isAnswer(err error) bool {
	_, ok := errors.AsType[*jsonrpc.Error](err)
	return ok || isUnknown(err)
}

// isUnknown reports whether an error says that there is no such task.
func isUnknown(err error) bool {
	_, invalid := errors.AsType[*mcp.InvalidParamsError](err)
	rpc, ok := errors.AsType[*jsonrpc.Error](err)
	return invalid || ok && rpc.Code == jsonrpc.CodeInvalidParams
}

// nobody is the way back where there is no client.
type nobody struct{}

var errNobody = errors.New("nobody is there to be asked")

// Notify implements mcp.Backchannel.
func (nobody) Notify(context.Context, string, any) error { return nil }

// LogEnabled implements mcp.Backchannel.
func (nobody) LogEnabled(mcp.LoggingLevel) bool { return false }

// Input implements mcp.Backchannel.
func (nobody) Input(context.Context, ...mcp.InputRequest) ([]json.RawMessage, error) {
	return nil, errNobody
}

// Once implements mcp.Backchannel.
func (nobody) Once(ctx context.Context, _ string, f func(context.Context) (json.RawMessage, error)) (json.RawMessage, error) {
	return f(ctx)
}
