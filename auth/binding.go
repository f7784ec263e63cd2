package auth

import (
	"errors"
	"net/http"
	"net/url"

	"github.com/parley-mcp/parley/internal/dpop"
)

// checkBinding checks that the sender of a token may use it: a token that is
// bound to a key is only valid with a proof of that key, and must not pass as a
// bearer token (RFC 9449, section 7).
func (g *Guard) checkBinding(r *http.Request, c *credentials, t *Token) *refusal {
	switch {
	case !c.dpop && t.KeyThumbprint != "":
		return badToken("the token is bound to a key; it is good with a DPoP proof only")
	case !c.dpop && g.opts.DPoP == DPoPRequired:
		return badToken("only tokens that are bound to a key are taken here")
	case !c.dpop:
		return nil
	case t.KeyThumbprint == "":
		return badToken("the token is not bound to a key; send it as a Bearer token")
	}
	_, err := g.proofs.Verify(c.proof, dpop.Request{Method: r.Method, URL: g.url(r), AccessToken: c.token, Key: t.KeyThumbprint})
	switch {
	case errors.Is(err, dpop.ErrNonce):
		return &refusal{status: http.StatusUnauthorized, code: codeUseNonce, reason: err.Error()}
	case errors.Is(err, dpop.ErrBusy):
		g.log.WarnContext(r.Context(), "proof not verified", "error", err)
		return trouble // another token or login would not help
	case err != nil:
		return badProof(err.Error())
	}
	return nil
}

// url returns the URL that a client sent a request to. The Host header is not
// used: the Guard's resource has one origin, and proxies put their own names
// into the header.
func (g *Guard) url(r *http.Request) string {
	if g.opts.URL != nil {
		return g.opts.URL(r)
	}
	at := url.URL{Scheme: g.resource.Scheme, Host: g.resource.Host, Path: r.URL.Path, RawPath: r.URL.RawPath}
	return at.String()
}
