package inspect

import "context"

// callKey is where the context of a call that was made on the page has what is known of it.
type callKey struct{}

// madeCall is a call that was made on the page.
type madeCall struct {
	id   string // "" if a task is asked for its questions without a call
	tool string // that is called, or whose task is followed; "" if it is none
}

// withCall returns a context for a call that was made on the page. Questions and
// notifications that belong to the call have its ID.
func withCall(ctx context.Context, id, tool string) context.Context {
	return context.WithValue(ctx, callKey{}, madeCall{id, tool})
}

// callOf returns the call on the page that a context belongs to, or the zero value.
func callOf(ctx context.Context) madeCall {
	made, _ := ctx.Value(callKey{}).(madeCall)
	return made
}
