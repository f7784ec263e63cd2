package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"github.com/parley-mcp/parley/internal/dpop"
)

const (
	grantCode     = "authorization_code"
	grantRefresh  = "refresh_token"
	grantClient   = "client_credentials"
	grantExchange = "urn:ietf:params:oauth:grant-type:token-exchange"
	grantJWT      = "urn:ietf:params:oauth:grant-type:jwt-bearer"
	assertionJWT  = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
)

// tokenRequest is one request to a token endpoint.
type tokenRequest struct {
	step      string // for errors
	issuer    string
	endpoints endpoints
	client    Credentials
	params    url.Values
	key       *dpop.Key // proves possession, or nil
}

// do sends the request.
func (r *tokenRequest) do(ctx context.Context, c *Client) (*oauth2.Token, error) {
	config := clientcredentials.Config{TokenURL: r.endpoints.Token, EndpointParams: r.params}
	if err := r.authenticate(&config); err != nil {
		return nil, err
	}
	hc := c.http
	if r.key != nil {
		own := *hc
		own.Transport = &provingTransport{hc.Transport, r.key, &c.nonces}
		hc = &own
	}
	t, err := config.Token(context.WithValue(ctx, oauth2.HTTPClient, hc))
	if err != nil {
		return nil, tokenError(r.step, r.issuer, err, r.secrets())
	}
	return t, nil
}

// authenticate adds the client's credentials.
func (r *tokenRequest) authenticate(config *clientcredentials.Config) error {
	method, err := r.client.method(r.endpoints.AuthMethods)
	if err != nil {
		return err
	}
	config.ClientID, config.AuthStyle = r.client.ClientID, oauth2.AuthStyleInParams
	switch method {
	case AuthBasic:
		config.AuthStyle = oauth2.AuthStyleInHeader
		config.ClientSecret = string(r.client.Secret)
	case AuthPost:
		config.ClientSecret = string(r.client.Secret)
	case AuthPrivateKeyJWT:
		config.ClientID = "" // the assertion names it
		return r.sign()
	}
	return nil
}

// sign adds an assertion.
//
// Spec: ext-auth/draft oauth-client-credentials#jwt-authentication-example.
func (r *tokenRequest) sign() error {
	key := r.client.Key
	if algs := r.endpoints.SigningAlgs; len(algs) > 0 && !slices.Contains(algs, key.alg) {
		return fmt.Errorf("the authorization server %q takes assertions signed with %q, not with %s", r.issuer, algs, key.alg)
	}
	assertion, err := key.assertion(r.client.ClientID, r.issuer)
	if err != nil {
		return err
	}
	r.params.Set("client_assertion_type", assertionJWT)
	r.params.Set("client_assertion", assertion)
	return nil
}

// secrets returns the parts of the request that no error may repeat.
func (r *tokenRequest) secrets() []string {
	all := []string{string(r.client.Secret)}
	for _, name := range []string{"code", "code_verifier", "refresh_token", "assertion", "client_assertion", "subject_token", "actor_token"} {
		all = append(all, r.params.Get(name))
	}
	return all
}

// accept makes a credential from the response to a token request.
func (a *attempt) accept(t *oauth2.Token, client string) (*credential, error) {
	cred := &credential{record: record{
		Issuer: a.server.Issuer, Resource: a.resource, ClientID: client,
		Access: t.AccessToken, Type: t.TokenType, Refresh: t.RefreshToken, Obtained: time.Now(), Expires: t.Expiry,
		Requested: a.scopes, Granted: granted(t, a.scopes), Endpoints: a.server.endpoints(),
	}, key: a.key}
	if err := cred.checkType(); err != nil {
		return nil, err
	}
	return cred, nil
}

// checkType refuses a token of a kind other than the requested one: a token
// that is not bound could be used by anybody who gets hold of it.
func (c *credential) checkType() error {
	switch {
	case strings.EqualFold(c.Type, "DPoP") && c.key != nil:
		return nil
	case (strings.EqualFold(c.Type, "Bearer") || c.Type == "") && c.key == nil:
		return nil
	case c.key != nil:
		return errors.New("the authorization server gave a token that is not bound to the DPoP key")
	}
	return fmt.Errorf("the authorization server gave a token of type %q, which is not supported", plain(c.Type))
}

// granted returns the scopes of a token: those requested, unless the server
// says otherwise (RFC 6749, section 5.1).
func granted(t *oauth2.Token, asked []string) []string {
	if scope, ok := t.Extra("scope").(string); ok && scope != "" {
		return split(scope)
	}
	return asked
}

// plainRequest returns a request to an endpoint that issues no tokens.
func (r *tokenRequest) plainRequest(ctx context.Context, endpoint string) (*http.Request, error) {
	var config clientcredentials.Config
	if err := r.authenticate(&config); err != nil {
		return nil, err
	}
	if config.AuthStyle == oauth2.AuthStyleInParams && config.ClientID != "" {
		r.params.Set("client_id", config.ClientID)
		if config.ClientSecret != "" {
			r.params.Set("client_secret", config.ClientSecret)
		}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint, strings.NewReader(r.params.Encode()))
	if err != nil {
		return nil, requestError(r.step, err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "application/json")
	if config.AuthStyle == oauth2.AuthStyleInHeader {
		req.SetBasicAuth(url.QueryEscape(config.ClientID), url.QueryEscape(config.ClientSecret))
	}
	return req, nil
}
