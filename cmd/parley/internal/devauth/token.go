package devauth

import (
	"crypto/rand"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// The grant types.
const (
	grantCode    = "authorization_code"
	grantRefresh = "refresh_token"
	grantClient  = "client_credentials"

	grantExchange = "urn:ietf:params:oauth:grant-type:token-exchange"
)

// tokens is what a client gets.
type tokens struct {
	Access  string `json:"access_token"`
	Issued  string `json:"issued_token_type,omitzero"`
	Type    string `json:"token_type"`
	Expires int64  `json:"expires_in"` // seconds
	Refresh string `json:"refresh_token,omitzero"`
	Scope   string `json:"scope"`
}

// demand is a request for tokens. Its client has authenticated, unless it is
// public.
type demand struct {
	client   *client
	form     url.Values
	proofKey string // thumbprint of the key of its DPoP proof, or ""
}

// token is the token endpoint.
func (s *Server) token(w http.ResponseWriter, r *http.Request) {
	got, e := s.trade(w, r)
	if e != nil {
		e.write(w)
		return
	}
	writeSecret(w, http.StatusOK, got)
}

func (s *Server) trade(w http.ResponseWriter, r *http.Request) (*tokens, *oauthError) {
	if e := form(w, r, "resource"); e != nil {
		return nil, e
	}
	c, e := s.authenticate(w, r)
	if e != nil {
		return nil, e
	}
	// This comes before anything is used up: a client that is given a nonce
	// repeats the request with the same code.
	key, e := s.proof(w, r)
	if e != nil {
		return nil, e
	}
	if key == "" && c.bound {
		return nil, fail("invalid_dpop_proof", "this client has registered that its tokens are bound to a key, so it has to send a DPoP proof")
	}
	d := &demand{c, r.PostForm, key}
	switch d.form.Get("grant_type") {
	case grantCode:
		return s.redeem(d)
	case grantRefresh:
		return s.refresh(d)
	case grantClient:
		return s.serveItself(d)
	case grantExchange:
		return s.exchange(d)
	}
	return nil, fail("unsupported_grant_type", "grant_type has to be "+strings.Join([]string{grantCode, grantRefresh, grantClient, grantExchange}, ", "))
}

// issue makes an access token for a grant, for some of its scopes, and a
// refresh token of the generation if there is to be one.
func (s *Server) issue(d *demand, g *grant, scopes []string, refresh bool) (*tokens, *oauthError) {
	now := time.Now()
	c := &claims{
		Issuer: s.opts.Issuer, Subject: g.user, Audience: g.resource, Client: g.client, Scope: strings.Join(scopes, " "),
		Issued: now.Unix(), Expires: s.until(now, false).Unix(), ID: g.id + "." + rand.Text(),
	}
	if g.user == "" {
		c.Subject = g.client // RFC 9068, section 2.2
	}
	if g.of != "" {
		c.Actor = &actor{g.client}
	}
	got := &tokens{Type: "Bearer", Expires: int64(s.opts.AccessLifetime / time.Second), Scope: c.Scope}
	if d.proofKey != "" {
		c.Confirm, got.Type = &confirmation{d.proofKey}, "DPoP"
	}
	access, err := s.signer.sign(c)
	if err != nil {
		return nil, &oauthError{http.StatusInternalServerError, "server_error", "the token cannot be signed"}
	}
	got.Access = access
	if refresh {
		got.Refresh = s.refreshToken(g.id, g.generation)
	}
	return got, nil
}

// until is when the tokens that are issued now end, all of them or the access
// token. Seconds are rounded up: a client counts from when it gets the token,
// and must not consider it valid for longer than it is.
func (s *Server) until(now time.Time, refresh bool) time.Time {
	lifetime := s.opts.AccessLifetime
	if refresh {
		lifetime = max(lifetime, s.opts.RefreshLifetime)
	}
	return time.Unix(now.Add(lifetime+time.Second-1).Unix(), 0)
}

// serveItself is the grant client_credentials.
func (s *Server) serveItself(d *demand) (*tokens, *oauthError) {
	if d.client.public() || d.client.own == nil {
		return nil, fail("unauthorized_client", "this client acts for users only")
	}
	resource, e := s.resource(d.form["resource"])
	if e != nil {
		return nil, e
	}
	scopes := splitScopes(d.form.Get("scope"))
	if len(scopes) == 0 {
		scopes = d.client.own
	}
	if len(without(scopes, d.client.own)) > 0 {
		return nil, fail("invalid_scope", "the scopes that this client can have for itself are: "+strings.Join(d.client.own, " "))
	}
	g := &grant{client: d.client.id, resource: resource, scopes: scopes, until: s.until(time.Now(), false)}
	if !s.grants.add(g) {
		return nil, full()
	}
	return s.issue(d, g, scopes, false)
}

func full() *oauthError {
	return &oauthError{http.StatusServiceUnavailable, "temporarily_unavailable", "the server holds too many grants"}
}
