package mcp

import "context"

type waitingKey struct{}

// WithWaiting returns a context that carries what Waiting calls. The client
// gives it to its transport.
func WithWaiting(ctx context.Context, begin func() (end func())) context.Context {
	return context.WithValue(ctx, waitingKey{}, begin)
}

// Waiting says that the call of ctx waits for the user of this side, for
// example to log in, until end is called: that time does not count as the
// server's. A transport calls it. Without a call in ctx it does nothing.
func Waiting(ctx context.Context) (end func()) {
	if begin, ok := ctx.Value(waitingKey{}).(func() func()); ok {
		return begin()
	}
	return func() {}
}
