package auth

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/parley-mcp/parley/internal/access"
	"github.com/parley-mcp/parley/internal/dpop"
	"github.com/parley-mcp/parley/mcp"
)

// Guard protects an MCP endpoint. It is safe for concurrent use, and need not
// be closed.
type Guard struct {
	opts        Options
	resource    *url.URL
	audiences   []string // in their normal form
	metadataURL string
	metadata    []byte
	scopes      hierarchy
	rules       *rules
	proofs      *dpop.Verifier
	nonces      *dpop.Nonces // nil if proofs need no nonce
	relay       *relay
	log         *slog.Logger
}

// New returns a Guard. opts is copied; its required fields must be set. An error
// says which option is missing or wrong.
func New(opts *Options) (*Guard, error) {
	o := *cmp.Or(opts, &Options{})
	u, err := o.check()
	if err != nil {
		return nil, err
	}
	g := &Guard{opts: o, resource: u, metadataURL: metadataURL(u), scopes: newHierarchy(o.Implies), log: o.Logger}
	if g.log == nil {
		g.log = slog.Default()
	}
	for _, a := range append([]string{o.Resource}, o.Audiences...) {
		g.audiences = append(g.audiences, normalAudience(a))
	}
	if g.rules, err = newRules(&o.Rules); err != nil {
		return nil, err
	}
	if o.DPoPNonces {
		g.nonces = dpop.NewNonces(0)
	}
	g.proofs = dpop.NewVerifier(dpop.Options{Nonces: g.nonces})
	if g.relay, err = newRelay(o.HTTP, o.AuthorizationServers[0]); err != nil {
		return nil, err
	}
	g.metadata, err = newMetadata(&o)
	return g, err
}

// Resource returns Options.Resource, the URL of the endpoint that it protects.
func (g *Guard) Resource() string { return g.opts.Resource }

// String keeps secrets that the Verifier may hold out of logs.
func (g *Guard) String() string { return "guard of " + g.opts.Resource }

// GoString implements fmt.GoStringer.
func (g *Guard) GoString() string { return g.String() }

// Protect passes requests with a good access token on to next, and answers all
// others: 401 with a challenge, 400 when the credentials are malformed, 403 when
// the token lacks a scope of Options.Scopes, 503 when tokens cannot be verified
// at the moment. In a request that is passed on, mcp.AuthorizationFrom of the
// context says who sent it, and the headers Authorization and DPoP are removed.
//
// It makes no exception for OPTIONS. CORS is left to middleware around it,
// which answers preflights itself and lets pages read the header
// WWW-Authenticate of refusals.
//
// Spec: 2026-07-28 basic/authorization#token-handling.
func (g *Guard) Protect(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a, no := g.admit(r)
		if no != nil {
			g.refuse(w, r, no)
			return
		}
		if g.nonces != nil {
			w.Header().Set("DPoP-Nonce", g.nonces.New())
		}
		next.ServeHTTP(w, without(r, a))
	})
}

// AccessToken returns the token that a sender came with, if the Guard that let them in
// has Options.KeepTokens; otherwise "". It is for asking its issuer for a token for
// another server. The token itself is for this server, and must not be sent to others:
// whoever gets it can act here as the sender.
//
// Spec: 2026-07-28 basic/authorization/security-considerations#access-token-privilege-restriction.
func AccessToken(a *mcp.Authorization) string { return access.TokenOf(a) }

// without returns the request as it is passed on: as a rule, nothing behind the Guard
// can pass the token on to anybody else.
//
// Spec: 2026-07-28 basic/authorization/security-considerations#access-token-privilege-restriction.
func without(r *http.Request, a *mcp.Authorization) *http.Request {
	in := r.WithContext(mcp.WithAuthorization(r.Context(), a))
	in.Header = r.Header.Clone()
	in.Header.Del("Authorization")
	in.Header.Del("DPoP")
	return in
}

// admit returns the sender of a request, or why it is refused.
func (g *Guard) admit(r *http.Request) (*mcp.Authorization, *refusal) {
	c, no := readCredentials(r, g.opts.DPoP != DPoPOff)
	switch {
	case no != nil:
		no.scopes = g.opts.Scopes
		return nil, no
	case c == nil:
		return nil, &refusal{status: http.StatusUnauthorized, reason: "an access token is needed", scopes: g.opts.Scopes}
	}
	a, no := g.verify(r, c)
	if no != nil && no != trouble {
		no.dpop, no.scopes = c.dpop, g.opts.Scopes
	}
	return a, no
}

func (g *Guard) verify(r *http.Request, c *credentials) (*mcp.Authorization, *refusal) {
	t, no := g.ask(r.Context(), c.token)
	if no != nil {
		return nil, no
	}
	if reason := g.unfit(t); reason != "" {
		return nil, badToken(reason)
	}
	if no := g.checkBinding(r, c, t); no != nil {
		return nil, no
	}
	if !g.scopes.grantsAll(t.Scopes, g.opts.Scopes) {
		return nil, &refusal{status: http.StatusForbidden, code: codeScope, reason: "the token lacks a scope that every request needs"}
	}
	if g.opts.KeepTokens {
		access.KeepToken(&t.Authorization, c.token)
	}
	return &t.Authorization, nil
}

// ask has the Verifier look at a token.
func (g *Guard) ask(ctx context.Context, token string) (*Token, *refusal) {
	t, err := g.opts.Verifier.Verify(ctx, token)
	if bad, ok := errors.AsType[*TokenError](err); ok {
		return nil, badToken(bad.Reason)
	}
	if err == nil && t == nil {
		err = errors.New("the Verifier returned neither a token nor an error")
	}
	if err != nil {
		g.log.ErrorContext(ctx, "token not verified", "error", err)
		return nil, trouble
	}
	own := *t // a Verifier may have it from a cache
	if own.Issuer == "" && len(g.opts.AuthorizationServers) == 1 {
		own.Issuer = g.opts.AuthorizationServers[0]
	}
	return &own, nil
}

// unfit returns why a genuine token is not acceptable here, or "".
//
// Spec: 2026-07-28 basic/authorization/security-considerations#token-audience-binding-and-validation.
func (g *Guard) unfit(t *Token) string {
	switch {
	case !slices.Contains(g.opts.AuthorizationServers, t.Issuer):
		return "the token is of another issuer"
	case !g.isFor(t.Audience):
		return "the token is not for this resource; ask for one with resource=" + g.opts.Resource
	case !t.Expires.IsZero() && !time.Now().Before(t.Expires):
		return "the token has expired"
	case t.Principal() == "":
		return "the token names neither a user nor a client"
	}
	return ""
}

func (g *Guard) isFor(audience []string) bool {
	return slices.ContainsFunc(audience, func(a string) bool { return slices.Contains(g.audiences, normalAudience(a)) })
}
