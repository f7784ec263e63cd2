package httpserve

import (
	"net/http"

	"github.com/parley-mcp/parley/internal/era"
	"github.com/parley-mcp/parley/mcp"
)

// SenderOf returns who sent a request: the authorization that was verified before,
// the principal that the function returns, where nil means
// Authorization.Principal, and the address that limits count by, with the help of
// proxies.
func SenderOf(r *http.Request, principal func(*http.Request) string, proxies *Proxies) era.Sender {
	sender := era.Sender{Authorization: mcp.AuthorizationFrom(r.Context()), Source: network(proxies.Client(r)), Header: r.Header.Values}
	if principal != nil {
		sender.Principal = principal(r)
	} else {
		sender.Principal = sender.Authorization.Principal()
	}
	return sender
}
