// Package waiting stops the clock of a call while this side's own user is busy.
package waiting

import "context"

type key struct{}

// With returns a context for a call; Begin on that context calls begin.
func With(ctx context.Context, begin func() (end func())) context.Context {
	return context.WithValue(ctx, key{}, begin)
}

// Begin says that, until end is called, the call that ctx belongs to waits for
// the user of this side. If ctx belongs to no call, it does nothing.
func Begin(ctx context.Context) (end func()) {
	if begin, ok := ctx.Value(key{}).(func() func()); ok {
		return begin()
	}
	return func() {}
}
