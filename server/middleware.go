package server

import (
	"context"
	"runtime/debug"
	"slices"

	"github.com/parley-mcp/parley/mcp"
)

// Middleware wraps the serving of every exchange that reaches the server:
// requests about tools, resources, prompts and completions, custom methods,
// notifications that are not the protocol's own, and the opening of
// subscriptions (Exchange.Watch is not nil then), whose filter it may narrow.
// Requests that open, check or configure a connection do not reach it:
// transports answer those; OnSession learns of sessions. Middleware must pass on the *mcp.InputRequired
// errors that it gets. It sees the errors of handlers before they are replaced
// for the client.
type Middleware func(next mcp.ServeFunc) mcp.ServeFunc

// Use adds middleware inside the middleware that was added before: the first
// one added is the outermost. It may be called while the server serves;
// exchanges that have begun keep the chain they began with.
func (s *Server) Use(mw ...Middleware) {
	s.chainMu.Lock()
	s.middleware = append(slices.Clip(s.middleware), mw...)
	all := s.middleware
	s.chainMu.Unlock()
	// Middleware is user code, so the chain is composed without the lock. If
	// more was added in the meantime, that later call stores the chain.
	chain := s.compose(all)
	s.chainMu.Lock()
	defer s.chainMu.Unlock()
	if len(all) == len(s.middleware) {
		s.chain.Store(&chain)
	}
}

// compose guards the innermost function too, so that middleware sees the error
// of a handler that panicked. Serve guards the whole chain.
func (s *Server) compose(all []Middleware) mcp.ServeFunc {
	if len(all) == 0 {
		return s.dispatch
	}
	chain := s.guarded
	for _, mw := range slices.Backward(all) {
		chain = mw(chain)
	}
	return chain
}

func (s *Server) guarded(ctx context.Context, x *mcp.Exchange) (result any, err error) {
	defer s.rescue(ctx, x, &result, &err)
	return s.dispatch(ctx, x)
}

// rescue turns a panic into an internal error, unless the policy is to crash. It
// must be deferred.
func (s *Server) rescue(ctx context.Context, x *mcp.Exchange, result *any, err *error) {
	if s.opts.Panic == CrashOnPanic {
		return
	}
	if p := recover(); p != nil {
		s.log.ErrorContext(ctx, "panic in a handler", "method", x.Method, "id", x.ID.String(), "panic", p, "stack", string(debug.Stack()))
		*result, *err = nil, errInternal()
	}
}
