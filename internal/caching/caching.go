// Package caching is what a client's cache and the transports of this module need of
// each other. The client passes a Link to mcp.Transport.Connect; the transport fills
// it in before Connect returns, and it does not change after that.
package caching

import (
	"context"
	"encoding/json"
)

// Link is the connection of a cache to one transport's connection.
type Link struct {
	// Credentials says with whose authority a call with this context would be made
	// now. id identifies that; "" is the authority of the connection itself, which
	// does not change while it lasts. nil, like known being false, means that it is
	// not known: then nothing is kept that is meant for one authority only.
	Credentials func(ctx context.Context) (id string, known bool)
	// Listed tells the transport of a page of tools that the cache has served in its
	// stead. nil means that the transport need not know.
	Listed func(page json.RawMessage)
}

// Who is Credentials, which may be nil.
func (l *Link) Who(ctx context.Context) (id string, known bool) {
	if l.Credentials == nil {
		return "", false
	}
	return l.Credentials(ctx)
}

type key struct{}

// With returns a context for Connect, whose transport fills in l.
func With(ctx context.Context, l *Link) context.Context { return context.WithValue(ctx, key{}, l) }

// Of returns the Link to fill in. If no cache wants to know, it is one that nobody
// reads.
func Of(ctx context.Context) *Link {
	if l, ok := ctx.Value(key{}).(*Link); ok {
		return l
	}
	return new(Link)
}

// OneAuthority fills in the Link of a transport whose connection has one authority,
// for as long as it lasts.
func OneAuthority(ctx context.Context) {
	Of(ctx).Credentials = func(context.Context) (string, bool) { return "", true }
}
