package httpserve

import (
	"context"
	"net/http"

	"github.com/parley-mcp/parley/internal/era"
	"github.com/parley-mcp/parley/mcp"
)

// Sender returns who sent a request: what was verified of it before, and the
// name that principal has for that; nil is Authorization.Principal.
func Sender(r *http.Request, principal func(*http.Request) string) era.Via {
	via := era.Via{Authorization: mcp.AuthorizationFrom(r.Context())}
	if principal != nil {
		via.Principal = principal(r)
	} else {
		via.Principal = via.Authorization.Principal()
	}
	return via
}

// UntilExpiry returns a context that ends with an authorization, which may be
// nil, with the cause era.ErrExpired: what a client only listens to must not
// outlive its right to hear it.
func UntilExpiry(ctx context.Context, a *mcp.Authorization) (context.Context, context.CancelFunc) {
	if a == nil || a.Expires.IsZero() {
		return ctx, func() {}
	}
	return context.WithDeadlineCause(ctx, a.Expires, era.ErrExpired)
}
