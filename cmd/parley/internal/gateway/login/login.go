// Package login is how a gateway logs in, for each of its users, at the servers behind it:
// with a token that it gets in exchange for the one of the user's client, with that token
// itself, or with one that the user has allowed it to have in their browser.
package login

import (
	"context"
	"net/http"
	"sync"

	"github.com/parley-mcp/parley/auth"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/plain"
	"github.com/parley-mcp/parley/mcp"
)

// Account is how connections to one server log in.
type Account interface {
	// For returns what sends the requests of a connection that is for peer. A request is
	// sent for whom its context names (mcp.AuthorizationFrom), if that is the same user.
	// Errors that have to do with the user wrap mcp.ErrUnauthorized.
	For(peer *mcp.Peer) http.RoundTripper
	// Close ends what is under way.
	Close() error
}

// caller is whose token a connection uses: that of the client whose request is passed on
// or, for what the connection itself needs, of the last one.
type caller struct {
	principal string

	mu   sync.Mutex
	last *mcp.Authorization
}

func newCaller(peer *mcp.Peer) *caller {
	return &caller{principal: peer.Principal, last: peer.Authorization}
}

// now returns who sends a request, with their token.
func (c *caller) now(ctx context.Context) (*mcp.Authorization, error) {
	a := mcp.AuthorizationFrom(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case a == nil:
		a = c.last
	case a.Principal() != c.principal:
		return nil, plain.Errorf(mcp.ErrUnauthorized, "the connection is another user's")
	default:
		c.last = a
	}
	if auth.AccessToken(a) == "" {
		return nil, plain.Errorf(mcp.ErrUnauthorized, "the client has no token that the gateway could use; clients have to log in at the gateway (auth.issuer, or --auth), from its start on")
	}
	return a, nil
}

// closeBody closes the body of a request that is not sent.
func closeBody(r *http.Request) {
	if r.Body != nil {
		_ = r.Body.Close() // nothing is read from it
	}
}
