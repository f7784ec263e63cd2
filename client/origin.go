package client

import (
	"context"
	"errors"

	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// Origin is the call that a server's question or notification belongs to. OriginOf
// reads it from the context that a function in Options or of WithNotifications gets.
type Origin struct {
	// Request is the call, or nil if it is not known. It must not be changed.
	Request *Request
	// Inferred says that the server did not say which call it means, but only one
	// call in flight qualifies. A program that shares a client between users must
	// decide whether that is good enough.
	Inferred bool
}

// OriginOf returns the call that ctx belongs to. ctx must come from this package, as
// the argument of a callback.
//
// A question of a task belongs to the call that waits for the task; for Task.Wait of
// a task that was started elsewhere, Request is a call of tasks/result. What names a task
// that no call waits for is attributed to no call but one that may have begun it.
//
// In the stateless era the call is always known: a question is part of a call's
// result. In a session a server asks with requests of its own, which do not name a
// call. Over Streamable HTTP such a request usually comes on the stream of the call's
// answer, which identifies the call. Otherwise (over standard input and output, over
// HTTP+SSE, and on the stream that belongs to no call) the question is attributed to
// the call in flight if there is exactly one whose method allows questions (any
// method but lists, completion, subscriptions, the log level and ping), and Inferred
// is set. If there are several, the call is not known.
//
// A context whose call is known has the values of the context that the call was made
// with, and ends with the call. Every context ends with the connection, and when the
// server withdraws the question.
//
// Spec: 2025-11-25 basic/transports#sending-messages-to-the-server (6).
func OriginOf(ctx context.Context) Origin {
	call, inferred := callIn(ctx)
	if call == nil {
		return Origin{}
	}
	return Origin{Request: call.req, Inferred: inferred}
}

// callIn returns the call that a context belongs to, or nil.
func callIn(ctx context.Context) (call *watchdog, inferred bool) {
	switch at := ctx.Value(originKey{}).(type) {
	case *watchdog:
		return at, false
	case question:
		return at.call, at.inferred
	}
	return nil, false
}

type originKey struct{}

// question is the context of a question or notification that belongs to a call, but
// came as a message of its own: it ends with the embedded context, and also has the
// values of the call's.
type question struct {
	context.Context //nolint:containedctx // it is one
	call            *watchdog
	inferred        bool
}

// Value asks the embedded context first: there package context finds the parent
// whose cancellation this one shares.
func (q question) Value(key any) any {
	if key == (originKey{}) {
		return q
	}
	if v := q.Context.Value(key); v != nil {
		return v
	}
	return q.call.run.Value(key)
}

// errCallOver is why a question ends that has outlived its call.
var errCallOver = errors.New("the call that the question belongs to is over")

// callOf returns the call that a message belongs to, or nil if it is not known. One of
// a task belongs to the call that waits for the task. If neither that nor the transport
// says it, fits reports which methods qualify.
func (c *Client) callOf(ctx context.Context, m *jsonrpc.Message, fits func(method string) bool) (call *watchdog, inferred bool) {
	task := taskOf(m)
	if call = c.waitsFor(task); call != nil {
		return call, false
	}
	if d, ok := ctx.Value(originKey{}).(*watchdog); ok && d.req != nil {
		return d, false
	}
	return c.watchdogs.only(func(r *Request) bool { return fits(r.Method) && (task == "" || mayBegin(r)) }), true
}

// waitsFor returns the call that waits for a task: one that follows it, or that asks for
// its result. "" is no task.
func (c *Client) waitsFor(task string) *watchdog {
	if task == "" {
		return nil
	}
	if call := c.follows.callOf(task); call != nil {
		return call
	}
	method := mcp.MethodNamed(mcp.MethodTaskResult)
	return c.watchdogs.only(func(r *Request) bool { return r.Method == method.Name && method.SubjectOf(r.Params) == task })
}

// mayBegin reports whether a call may be about to become a task whose ID is not known yet.
func mayBegin(r *Request) bool {
	m := mcp.MethodNamed(r.Method)
	return m != nil && m.AsTask
}

// answering returns the context for answering a question of a session. over must be
// called when it is answered.
func (c *Client) answering(ctx context.Context, m *jsonrpc.Message) (_ context.Context, over func()) {
	call, inferred := c.callOf(ctx, m, mayAsk)
	if call == nil {
		return ctx, func() {}
	}
	own, cancel := context.WithCancelCause(question{ctx, call, inferred})
	stop := context.AfterFunc(call.run, func() {
		if cause := context.Cause(call.run); !errors.Is(cause, context.Canceled) {
			cancel(cause)
		}
		cancel(errCallOver)
	})
	return own, func() {
		stop()
		cancel(nil)
	}
}

// mayAsk reports whether a request of a method allows a server with sessions to ask
// its client something. Any method that this package does not know does.
func mayAsk(method string) bool {
	m := mcp.MethodNamed(method)
	return m == nil || m.MayAsk
}

// anyMethod qualifies every method, for notifications: any call may have some.
func anyMethod(string) bool { return true }
