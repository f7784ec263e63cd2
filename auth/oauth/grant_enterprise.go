package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// Types of tokens that are exchanged (RFC 8693, section 3).
//
//nolint:gosec // these are names
const (
	TokenTypeAccess = "urn:ietf:params:oauth:token-type:access_token"
	TokenTypeID     = "urn:ietf:params:oauth:token-type:id_token"
	TokenTypeJWT    = "urn:ietf:params:oauth:token-type:jwt"
	TokenTypeSAML   = "urn:ietf:params:oauth:token-type:saml2"

	tokenTypeGrant = "urn:ietf:params:oauth:token-type:id-jag"
)

// EnterpriseManaged is the grant for companies: their identity provider, where
// the user is logged in already, decides which MCP servers the program may use.
//
// Spec: ext-auth/draft enterprise-managed-authorization#identity-assertion-authorization-grant-overview.
type EnterpriseManaged struct {
	// TokenEndpoint is the identity provider's token endpoint, as configured by
	// the company.
	TokenEndpoint string
	// Provider identifies this program at the identity provider.
	Provider Credentials
	// ProviderIssuer is the identity provider's issuer identifier; it is needed
	// only if Provider has a Key.
	ProviderIssuer string
	// Subject returns what the identity provider issued for the user at login:
	// an ID token, or, with TokenTypeSAML, an assertion.
	Subject func(ctx context.Context) (token Secret, tokenType string, err error)
	// Issuer is the MCP server's authorization server that knows Client.
	Issuer string
	// Client identifies this program at the MCP server's authorization server.
	// Without a ClientID, the client is one of Options.PreRegistered, or is
	// registered.
	Client Credentials
}

var _ Grant = (*EnterpriseManaged)(nil)

func (g *EnterpriseManaged) check() error {
	if g.TokenEndpoint == "" || g.Subject == nil {
		return errors.New("enterprise-managed authorization needs the token endpoint of the identity provider, and the function that returns subject tokens")
	}
	if g.Provider.Key != nil && g.ProviderIssuer == "" {
		return errors.New("the issuer identifier of the identity provider is missing")
	}
	if err := errors.Join(g.Provider.checkMethod(), g.Client.checkMethod()); err != nil {
		return err
	}
	if g.Client.ClientID != "" {
		return requireIssuer(g.Issuer)
	}
	return nil
}

func (g *EnterpriseManaged) interactive() bool { return false }

func (g *EnterpriseManaged) issuer() string { return g.Issuer }

func (g *EnterpriseManaged) obtain(ctx context.Context, a *attempt) (*credential, error) {
	client, err := g.client(ctx, a)
	if err != nil {
		return nil, err
	}
	assertion, err := g.exchange(ctx, a)
	if err != nil {
		return nil, err
	}
	params := a.params(grantJWT)
	params.Set("assertion", assertion)
	return a.request(ctx, client, params)
}

func (g *EnterpriseManaged) client(ctx context.Context, a *attempt) (Credentials, error) {
	if g.Client.ClientID != "" {
		return g.Client, checkIssuer(g.Issuer, a.server.Issuer)
	}
	r, err := a.client.register(ctx, a.server, "")
	return r.Credentials, err
}

// exchange gets the identity provider's grant for the user's access.
//
// Spec: ext-auth/draft enterprise-managed-authorization#token-exchange.
func (g *EnterpriseManaged) exchange(ctx context.Context, a *attempt) (string, error) {
	u, err := url.Parse(g.TokenEndpoint)
	if err != nil {
		return "", errors.New("the token endpoint of the identity provider is not a URL")
	}
	subject, kind, err := g.Subject(ctx)
	if err != nil {
		return "", err
	}
	if kind == "" {
		kind = TokenTypeID
	}
	issuer := g.ProviderIssuer
	if issuer == "" {
		issuer = originOf(u)
	}
	params := url.Values{
		"grant_type": {grantExchange}, "requested_token_type": {tokenTypeGrant},
		"audience": {a.server.Issuer}, "resource": {a.resource},
		"subject_token": {string(subject)}, "subject_token_type": {kind},
	}
	if len(a.scopes) > 0 {
		params.Set("scope", strings.Join(a.scopes, " "))
	}
	r := tokenRequest{"token exchange", issuer, endpoints{Token: g.TokenEndpoint}, g.Provider, params, nil}
	t, err := r.do(ctx, a.client)
	if err != nil {
		return "", err
	}
	// Spec: ext-auth/draft enterprise-managed-authorization#token-exchange-response.
	if got := t.Extra("issued_token_type"); got != tokenTypeGrant {
		return "", fmt.Errorf("token exchange: %s gave a token of type %q, not an identity assertion grant", issuer, plain(fmt.Sprint(got)))
	}
	return t.AccessToken, nil
}
