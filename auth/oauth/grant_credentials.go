package oauth

import (
	"context"
	"errors"
)

// ClientCredentials is the grant of a program that acts for itself, without a
// user.
//
// Spec: ext-auth/draft oauth-client-credentials#client-credentials-flow.
type ClientCredentials struct {
	// Issuer is the authorization server that knows the client. The credentials
	// are sent to no other server.
	Issuer string
	// Client is the client, with a Secret or a Key.
	Client Credentials
}

var _ Grant = (*ClientCredentials)(nil)

func (g *ClientCredentials) check() error {
	if g.Client.ClientID == "" || g.Client.Secret == "" && g.Client.Key == nil {
		return errors.New("client credentials need a client ID, and a secret or a key")
	}
	if err := g.Client.checkMethod(); err != nil {
		return err
	}
	return requireIssuer(g.Issuer)
}

func (g *ClientCredentials) interactive() bool { return false }

func (g *ClientCredentials) issuer() string { return g.Issuer }

func (g *ClientCredentials) obtain(ctx context.Context, a *attempt) (*credential, error) {
	if err := checkIssuer(g.Issuer, a.server.Issuer); err != nil {
		return nil, err
	}
	return a.request(ctx, g.Client, a.params(grantClient))
}
