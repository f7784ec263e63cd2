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
// What opens, checks and configures a connection does not reach it: transports
// answer that. Middleware must pass on the *mcp.InputRequired errors that it
// gets. It sees the errors of handlers before they are replaced for the
// client.
type Middleware func(next mcp.ServeFunc) mcp.ServeFunc

// Use adds middleware inside of what was added before: the first one added is
// the outermost. It may be called while the server serves; exchanges that have
// begun keep the chain they began with.
func (s *Server) Use(mw ...Middleware) {
	s.chainMu.Lock()
	s.middleware = append(slices.Clip(s.middleware), mw...)
	all := s.middleware
	s.chainMu.Unlock()
	// Middleware is user code and composed without the lock. Whoever finds
	// that more was added meanwhile leaves the storing to the later call.
	chain := s.compose(all)
	s.chainMu.Lock()
	defer s.chainMu.Unlock()
	if len(all) == len(s.middleware) {
		s.chain.Store(&chain)
	}
}

// compose guards the innermost function, too, so that middleware sees the error
// of a handler that panicked. Serve guards all of it.
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

// rescue turns a panic into an internal error, unless panics are to crash. It is
// deferred.
func (s *Server) rescue(ctx context.Context, x *mcp.Exchange, result *any, err *error) {
	if s.opts.Panic == CrashOnPanic {
		return
	}
	if p := recover(); p != nil {
		s.log.ErrorContext(ctx, "panic in a handler", "method", x.Method, "id", x.ID.String(), "panic", p, "stack", string(debug.Stack()))
		*result, *err = nil, errInternal()
	}
}
