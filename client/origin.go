package client

import (
	"context"
	"errors"

	"github.com/parley-mcp/parley/mcp"
)

// Origin is the call that a question of a server, or one of its notifications,
// belongs to. OriginOf reads it from the context of a function in Options, or
// of WithNotifications.
type Origin struct {
	// Request is the call, nil where it is not known. It must not be changed.
	Request *Request
	// Inferred says that the server did not name the call: it is the only one
	// in flight that can be meant. A program that shares a client between users
	// must decide whether that is good enough.
	Inferred bool
}

// OriginOf returns the call that ctx, which this package has given to a
// function of its user, belongs to.
//
// In the stateless era it is always known: a question is part of a call's
// result. In a session a server asks by requests of its own, which name no
// call. Over Streamable HTTP such a request usually comes on the stream of the
// call's answer, and is known by that. Otherwise, over standard input and
// output, over HTTP+SSE, and on the stream that belongs to no call, it is taken
// to belong to the call in flight if there is exactly one that may ask (any but
// lists, completion, subscriptions, the log level and ping), and this is
// Inferred; if there are several, it is not known.
//
// A context whose call is known carries the values of the context that the call
// was made with and ends with the call, with the connection, and when the
// server takes the question back. Any other ends with the connection, or when
// the server takes the question back.
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

// question is the context of what belongs to a call, but was said apart from
// it: it ends with its own, and has the values of the call's.
type question struct {
	context.Context //nolint:containedctx // it is one
	call            *watchdog
	inferred        bool
}

// Value asks its own context first: package context looks there for whose end
// is this one's, too.
func (q question) Value(key any) any {
	if key == (originKey{}) {
		return q
	}
	if v := q.Context.Value(key); v != nil {
		return v
	}
	return q.call.run.Value(key)
}

// errCallOver ends questions that have outlived their call.
var errCallOver = errors.New("the call that the question belongs to is over")

// callOf returns the call that a message belongs to; nil when it is not known.
// fits says which methods can be meant where the transport does not say it.
func (c *Client) callOf(ctx context.Context, fits func(method string) bool) (call *watchdog, inferred bool) {
	if d, ok := ctx.Value(originKey{}).(*watchdog); ok && d.req != nil {
		return d, false
	}
	return c.watchdogs.only(fits), true
}

// answering returns the context to answer a question of a session with. over has
// to be called when it is answered.
func (c *Client) answering(ctx context.Context) (_ context.Context, over func()) {
	call, inferred := c.callOf(ctx, mayAsk)
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

// mayAsk reports whether a server of sessions may ask its client something
// because of a request. Of methods that this package does not know any may.
func mayAsk(method string) bool {
	m := mcp.MethodNamed(method)
	return m == nil || m.MayAsk
}

// anyMethod is for notifications: every call may have some.
func anyMethod(string) bool { return true }
