package inspect

import "context"

// callKey is where the context of a call that was made on the page has its ID.
type callKey struct{}

// withCall returns a context for a call that was made on the page. Questions and
// notifications that belong to the call have its ID.
func withCall(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, callKey{}, id)
}

// callOf returns the ID of the call on the page that a context belongs to, or "".
func callOf(ctx context.Context) string {
	id, _ := ctx.Value(callKey{}).(string)
	return id
}
