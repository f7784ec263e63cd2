package login

import (
	"net/http"
	"net/url"
	"slices"

	"github.com/parley-mcp/parley/auth"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/plain"
	"github.com/parley-mcp/parley/internal/httpcall"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// Pass passes the tokens of clients on, which is to be avoided: the server gets a token
// with which it can use the gateway as the client could. So a token has to say that it is
// for the server, too.
//
// Spec: 2026-07-28 basic/authorization/security-considerations#access-token-privilege-restriction.
type Pass struct {
	server   *url.URL
	audience string
	base     http.RoundTripper
}

var _ Account = (*Pass)(nil)

// NewPass returns what passes tokens on to the server at a URL. They must be for
// audience, or for the URL if that is "".
func NewPass(address, audience string) (*Pass, error) {
	u, err := httpcall.ParseURL(address)
	if err != nil {
		return nil, err
	}
	if audience == "" {
		audience = address
	}
	return &Pass{u, audience, http.DefaultTransport}, nil
}

// For implements Account.
func (p *Pass) For(peer *mcp.Peer) http.RoundTripper { return &passing{p, newCaller(peer)} }

// Close implements Account.
func (p *Pass) Close() error { return nil }

// passing is Pass on one connection.
type passing struct {
	*Pass

	caller *caller
}

// RoundTrip implements http.RoundTripper.
func (p *passing) RoundTrip(r *http.Request) (*http.Response, error) {
	if !httpcall.SameOrigin(r.URL, p.server) || r.Header.Get("Authorization") != "" {
		return p.base.RoundTrip(r)
	}
	a, err := p.caller.now(r.Context())
	if err == nil {
		err = p.fits(a)
	}
	if err != nil {
		closeBody(r)
		return nil, err
	}
	own := r.Clone(r.Context())
	own.Header.Set("Authorization", "Bearer "+auth.AccessToken(a))
	return p.base.RoundTrip(own)
}

// fits returns why a token cannot be passed on, or nil.
func (p *Pass) fits(a *mcp.Authorization) error {
	var claims struct {
		Confirm struct {
			Thumbprint string `json:"jkt"`
		} `json:"cnf"`
	}
	switch err := wire.Unmarshal(a.Claims, &claims); {
	case err != nil:
		return plain.Errorf(mcp.ErrUnauthorized, "it is not known whom the client's token is for, so it cannot be passed on")
	case claims.Confirm.Thumbprint != "":
		return plain.Errorf(mcp.ErrUnauthorized, "the client's token is bound to a key of the client (DPoP), so it cannot be passed on; exchange it")
	case !slices.ContainsFunc(audience(a.Claims), func(to string) bool { return auth.SameAudience(to, p.audience) }):
		return plain.Errorf(mcp.ErrUnauthorized, "the client's token is not for the server, so it is not passed on: its audience (aud) must have %q as well as the gateway", p.audience)
	}
	return nil
}

// audience is whom a token is for (RFC 7519, section 4.1.3).
func audience(claims []byte) []string {
	raw := wire.Find(claims, "aud")
	if one, ok := wire.Text(raw); ok {
		return []string{one}
	}
	var all []string
	if err := wire.Unmarshal(raw, &all); err != nil {
		return nil
	}
	return all
}
