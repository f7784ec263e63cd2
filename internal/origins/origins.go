// Package origins is how a transport says that its connection names the call that a
// message of the server belongs to, by the stream that the message comes on.
package origins

import (
	"context"
	"sync/atomic"
)

type key struct{}

// With returns a context for mcp.Transport.Connect, whose transport sets named if its
// connection names calls. It is set for good once the connection is open.
func With(ctx context.Context, named *atomic.Bool) context.Context {
	return context.WithValue(ctx, key{}, named)
}

// Of returns what to set. If nobody wants to know, it is something that nobody reads.
func Of(ctx context.Context) *atomic.Bool {
	if named, ok := ctx.Value(key{}).(*atomic.Bool); ok {
		return named
	}
	return new(atomic.Bool)
}
