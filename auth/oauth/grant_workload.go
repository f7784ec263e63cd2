package oauth

import (
	"context"
	"errors"
)

// Audience says what an assertion is for.
type Audience struct {
	// Issuer is the authorization server; the claim aud must name it.
	Issuer string
	// Resource is the MCP server that the token is for.
	Resource string
	// Scopes are the scopes that are requested.
	Scopes []string
}

// WorkloadIdentity is the grant of a program whose platform vouches for it with
// a JWT (RFC 7523). Each token takes one request with one assertion; after a
// refusal, no other way is tried.
type WorkloadIdentity struct {
	// Issuer is the authorization server that trusts the platform. Assertions
	// are sent to no other server.
	Issuer string
	// Assertion returns a JWT for an audience. It is called for each token.
	Assertion func(ctx context.Context, audience Audience) (Secret, error)
	// Client identifies the client in addition to the assertion, if the
	// authorization server requires that. The zero value sends nothing.
	Client Credentials
}

var _ Grant = (*WorkloadIdentity)(nil)

func (g *WorkloadIdentity) check() error {
	if g.Assertion == nil {
		return errors.New("workload identity needs the function that returns assertions")
	}
	if err := g.Client.checkMethod(); err != nil {
		return err
	}
	return requireIssuer(g.Issuer)
}

func (g *WorkloadIdentity) interactive() bool { return false }

func (g *WorkloadIdentity) issuer() string { return g.Issuer }

func (g *WorkloadIdentity) obtain(ctx context.Context, a *attempt) (*credential, error) {
	if err := checkIssuer(g.Issuer, a.server.Issuer); err != nil {
		return nil, err
	}
	assertion, err := g.Assertion(ctx, Audience{a.server.Issuer, a.resource, a.scopes})
	if err != nil {
		return nil, err
	}
	params := a.params(grantJWT)
	params.Set("assertion", string(assertion))
	return a.request(ctx, g.Client, params)
}
