package oauth

import (
	"context"
	"net/url"
	"strings"

	"github.com/parley-mcp/parley/internal/dpop"
)

// Grant is how tokens are obtained: AuthorizationCode, ClientCredentials,
// EnterpriseManaged, TokenExchange or WorkloadIdentity.
type Grant interface {
	// check reports what is missing in the grant.
	check() error
	// interactive reports whether a user takes part.
	interactive() bool
	// issuer is the only authorization server that the grant is for, or "".
	issuer() string
	// obtain gets a token.
	obtain(ctx context.Context, a *attempt) (*credential, error)
}

// attempt is one try to get a token.
type attempt struct {
	client   *Client
	resource string
	scopes   []string
	server   *serverMetadata
	key      *dpop.Key // that the token is to be bound to, or nil
	asking   func()    // called before waiting for the user
}

// params returns the parameters of every token request.
//
// Spec: 2026-07-28 basic/authorization#resource-parameter-implementation (1).
func (a *attempt) params(grantType string) url.Values {
	v := url.Values{"grant_type": {grantType}, "resource": {a.resource}}
	if len(a.scopes) > 0 && grantType != grantCode {
		v.Set("scope", strings.Join(a.scopes, " "))
	}
	return v
}

// request sends a token request to the authorization server.
func (a *attempt) request(ctx context.Context, client Credentials, params url.Values) (*credential, error) {
	r := tokenRequest{"token", a.server.Issuer, a.server.endpoints(), client, params, a.key}
	t, err := r.do(ctx, a.client)
	if err != nil {
		return nil, err
	}
	return a.accept(t, client.ClientID)
}
