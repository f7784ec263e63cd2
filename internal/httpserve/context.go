package httpserve

import "context"

// Within returns a context that lives as long as lifetime and has the values of
// values. What a request of a session does goes on when its HTTP request has ended,
// but what middleware has put into the context of that request still holds. lifetime
// has no values of its own.
func Within(lifetime, values context.Context) context.Context {
	return &within{lifetime, context.WithoutCancel(values)}
}

type within struct {
	context.Context //nolint:containedctx // it is one
	values          context.Context
}

// Value implements context.Context. Package context asks for what cancels a context
// by a key of its own, so lifetime goes first.
func (w *within) Value(key any) any {
	if v := w.Context.Value(key); v != nil {
		return v
	}
	return w.values.Value(key)
}
