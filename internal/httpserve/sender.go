package httpserve

import (
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
