package oauth

import (
	"context"
	"errors"
	"fmt"
)

// TokenExchange is the grant of a server that calls other servers for its users: the
// authorization server gives it a token for the other one in exchange for the token
// that the user's client came with (RFC 8693). So each token is for one server only.
//
// Spec: 2026-07-28 basic/authorization/security-considerations#access-token-privilege-restriction.
type TokenExchange struct {
	// Issuer is the authorization server that knows Client. Tokens and credentials are
	// sent to no other server.
	Issuer string
	// Client identifies this program there.
	Client Credentials
	// Subject returns the token of the user for whom this program acts, and its type;
	// "" means TokenTypeAccess. It is called for each exchange.
	Subject func(ctx context.Context) (token Secret, tokenType string, err error)
	// Actor returns a token of this program itself, for authorization servers that want
	// to know who acts for the user, and its type; "" means TokenTypeJWT. nil sends none.
	Actor func(ctx context.Context) (token Secret, tokenType string, err error)
	// Audience is the name that the authorization server has for the MCP server, if
	// its URL is not enough.
	Audience string
}

var _ Grant = (*TokenExchange)(nil)

func (g *TokenExchange) check() error {
	if g.Subject == nil {
		return errors.New("token exchange needs the function that returns subject tokens")
	}
	if err := g.Client.checkMethod(); err != nil {
		return err
	}
	return requireIssuer(g.Issuer)
}

func (g *TokenExchange) interactive() bool { return false }

func (g *TokenExchange) issuer() string { return g.Issuer }

func (g *TokenExchange) obtain(ctx context.Context, a *attempt) (*credential, error) {
	if err := checkIssuer(g.Issuer, a.server.Issuer); err != nil {
		return nil, err
	}
	params := a.params(grantExchange)
	params.Set("requested_token_type", TokenTypeAccess)
	if g.Audience != "" {
		params.Set("audience", g.Audience)
	}
	for _, party := range []struct {
		name, preset string
		token        func(context.Context) (Secret, string, error)
	}{{"subject_token", TokenTypeAccess, g.Subject}, {"actor_token", TokenTypeJWT, g.Actor}} {
		if party.token == nil {
			continue
		}
		token, kind, err := party.token(ctx)
		if err != nil {
			return nil, err
		}
		if kind == "" {
			kind = party.preset
		}
		params.Set(party.name, string(token))
		params.Set(party.name+"_type", kind)
	}
	r := tokenRequest{"token exchange", a.server.Issuer, a.server.endpoints(), g.Client, params, a.key}
	t, err := r.do(ctx, a.client)
	if err != nil {
		return nil, err
	}
	switch got := t.Extra("issued_token_type"); got {
	case TokenTypeAccess, TokenTypeJWT:
	default:
		return nil, fmt.Errorf("token exchange: %s gave a token of type %q, not an access token", a.server.Issuer, plain(fmt.Sprint(got)))
	}
	return a.accept(t, g.Client.ClientID)
}
