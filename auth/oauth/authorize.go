package oauth

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"golang.org/x/oauth2"
)

// AuthorizationCode is the grant of a user: they log in with their browser and
// say what this program may do. It always uses PKCE with S256.
//
// Spec: 2026-07-28 basic/authorization#authorization-flow-steps.
type AuthorizationCode struct {
	// Receiver gets the answer. nil means &Loopback{}, which opens the browser
	// of this machine.
	Receiver Receiver
}

var _ Grant = (*AuthorizationCode)(nil)

func (g *AuthorizationCode) check() error { return nil }

func (g *AuthorizationCode) interactive() bool { return true }

func (g *AuthorizationCode) issuer() string { return "" }

func (g *AuthorizationCode) receiver() Receiver {
	if g.Receiver == nil {
		return &Loopback{}
	}
	return g.Receiver
}

func (g *AuthorizationCode) obtain(ctx context.Context, a *attempt) (*credential, error) {
	if a.server.AuthorizationEndpoint == "" {
		return nil, fmt.Errorf("the authorization server %q has no authorization endpoint", a.server.Issuer)
	}
	if err := a.server.checkPKCE(); err != nil {
		return nil, err
	}
	known, _ := a.client.registered(ctx, a.server)
	reception, err := g.receiver().Listen(ctx, known.redirects)
	if err != nil {
		return nil, fmt.Errorf("waiting for the answer to an authorization: %w", err)
	}
	defer reception.Close()
	if err := checkRedirectURI(reception.RedirectURI()); err != nil {
		return nil, err
	}
	client, err := a.client.register(ctx, a.server, reception.RedirectURI())
	if err != nil {
		return nil, err
	}
	p := newPending(a, client.ClientID, reception.RedirectURI())
	code, err := p.ask(ctx, a, reception)
	if err != nil {
		return nil, err
	}
	return p.redeem(ctx, a, client, code)
}

// checkRedirectURI makes sure that codes do not travel unencrypted.
//
// Spec: 2026-07-28 basic/authorization/security-considerations#communication-security (2).
func checkRedirectURI(s string) error {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.Scheme != "https" && (u.Scheme != "http" || !isLoopback(u)) {
		return errors.New("the receiver's redirect URI is neither https nor on the loopback")
	}
	return nil
}

// pending is what is remembered of an authorization request until its response
// arrives.
//
// Spec: 2026-07-28 basic/authorization#authorization-response-validation.
type pending struct {
	issuer      string
	issRequired bool
	state       string
	verifier    string
	redirect    string
	clientID    string
}

func newPending(a *attempt, clientID, redirect string) *pending {
	return &pending{
		issuer: a.server.Issuer, issRequired: a.server.IssParameter,
		state: rand.Text(), verifier: oauth2.GenerateVerifier(), redirect: redirect, clientID: clientID,
	}
}

// url returns the page that the user has to visit. A query that the endpoint
// already has is kept (RFC 6749, section 3.1).
func (p *pending) url(a *attempt) (string, error) {
	u, err := url.Parse(a.server.AuthorizationEndpoint)
	if err != nil {
		return "", errors.New("the authorization endpoint is not a URL")
	}
	q := u.Query()
	q.Set("response_type", "code")
	q.Set("client_id", p.clientID)
	q.Set("redirect_uri", p.redirect)
	q.Set("state", p.state)
	q.Set("code_challenge", oauth2.S256ChallengeFromVerifier(p.verifier))
	q.Set("code_challenge_method", "S256")
	q.Set("resource", a.resource)
	scopes := withOfflineAccess(a.scopes, a.server)
	if len(scopes) > 0 {
		q.Set("scope", strings.Join(scopes, " "))
	}
	if covers(scopes, []string{offlineAccess}) {
		q.Set("prompt", "consent") // OpenID Connect gives no refresh token otherwise
	}
	if a.key != nil {
		q.Set("dpop_jkt", a.key.Thumbprint())
	}
	u.RawQuery = q.Encode()
	return u.String(), nil
}

// ask returns the code that the authorization server issues when the user
// consents.
func (p *pending) ask(ctx context.Context, a *attempt, reception Reception) (string, error) {
	page, err := p.url(a)
	if err != nil {
		return "", err
	}
	a.client.opts.Logger.InfoContext(ctx, "waiting for the user to log in", "issuer", p.issuer, "scopes", a.scopes)
	a.asking()
	answer, err := reception.Receive(ctx, AuthorizationRequest{page, p.issuer, p.state})
	if err != nil {
		return "", fmt.Errorf("authorization at %s: %w", p.issuer, err)
	}
	return p.check(answer)
}

// redeem exchanges the code for a token.
func (p *pending) redeem(ctx context.Context, a *attempt, client registration, code string) (*credential, error) {
	params := a.params(grantCode)
	params.Set("code", code)
	params.Set("redirect_uri", p.redirect)
	params.Set("code_verifier", p.verifier)
	t, err := a.request(ctx, client.Credentials, params)
	var refused *ResponseError
	if client.dynamic != nil && errors.As(err, &refused) && (refused.Code == "invalid_client" || refused.Code == "unauthorized_client") {
		a.client.forget(ctx, p.issuer, client.ClientID)
	}
	if t != nil {
		t.Client = client.dynamic
	}
	return t, err
}
