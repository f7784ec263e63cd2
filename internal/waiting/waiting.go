// Package waiting stops the clock of a call while this side's own user is busy.
package waiting

import "context"

type key struct{}

// With returns a context that carries what Begin calls.
func With(ctx context.Context, begin func() (end func())) context.Context {
	return context.WithValue(ctx, key{}, begin)
}

// Begin says that the call of ctx waits for the user of this side until end is
// called. Without a call in ctx it does nothing.
func Begin(ctx context.Context) (end func()) {
	if begin, ok := ctx.Value(key{}).(func() func()); ok {
		return begin()
	}
	return func() {}
}
