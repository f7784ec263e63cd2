package cli

import (
	"context"
	"testing"

	"github.com/parley-mcp/parley/auth/oauth"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/config"
)

// What a configuration says of exchanging tokens is what is asked for.
func TestGrantOf(t *testing.T) {
	subject := func(context.Context) (oauth.Secret, string, error) { return "the user's", oauth.TokenTypeAccess, nil }
	own := config.Credentials{Issuer: "https://i.example", Client: oauth.Credentials{ClientID: "gateway", Secret: "s"}}
	plain, ok := grantOf(&config.Exchange{Credentials: own, Audience: "shop", Actor: "the gateway's"}, subject).(*oauth.TokenExchange)
	if !ok || plain.Issuer != own.Issuer || plain.Client != own.Client || plain.Audience != "shop" {
		t.Fatalf("%+v", plain)
	}
	if token, kind, err := plain.Actor(t.Context()); token != "the gateway's" || kind != oauth.TokenTypeJWT || err != nil {
		t.Errorf("actor %q, %q, %v", string(token), kind, err)
	}
	idp := &config.Provider{TokenEndpoint: "https://idp.example/token", Issuer: "https://idp.example", Client: oauth.Credentials{ClientID: "there"}}
	managed, ok := grantOf(&config.Exchange{Credentials: own, Provider: idp}, subject).(*oauth.EnterpriseManaged)
	if !ok || managed.TokenEndpoint != idp.TokenEndpoint || managed.ProviderIssuer != idp.Issuer || managed.Provider != idp.Client || managed.Issuer != own.Issuer || managed.Client != own.Client {
		t.Errorf("%+v", managed)
	}
	if token, _, err := managed.Subject(t.Context()); token != "the user's" || err != nil {
		t.Errorf("subject %q, %v", string(token), err)
	}
}
