package mcp

import (
	"context"
	"encoding/json"
	"time"
)

// Authorization is what is known of whoever sent a request, after its
// credentials were verified. It does not show the credentials themselves: they
// are for this server alone, and must not be passed on. It must not be changed
// once it is in use.
//
// Spec: 2026-07-28 basic/authorization#token-handling.
type Authorization struct {
	// Issuer is who issued the credentials: the issuer identifier of an
	// authorization server.
	Issuer string
	// Subject identifies the user among those of the issuer; "" when a client
	// acts for itself.
	Subject string
	// ClientID is the OAuth client that acts, or "".
	ClientID string
	// Scopes are what was granted.
	Scopes []string
	// Expires is when the credentials end; zero means never.
	Expires time.Time
	// Claims are all claims of the issuer, as a JSON object, or nil.
	Claims json.RawMessage

	// token is the access token, if whoever verified it has kept it. It is a function,
	// because packages fmt and log/slog print what is in fields without asking methods.
	token func() string
}

// Principal returns a name for the sender of a request that is unique across
// all issuers: sessions, state and limits are bound to it. It is "" when a is
// nil or names neither a user nor a client.
func (a *Authorization) Principal() string {
	switch {
	case a == nil:
		return ""
	case a.Subject != "":
		return a.Issuer + " user " + a.Subject
	case a.ClientID != "":
		return a.Issuer + " client " + a.ClientID
	}
	return ""
}

type authorizationKey struct{}

// WithAuthorization returns a copy of ctx that says who sent the HTTP request
// it belongs to. Whatever verifies the request's credentials calls it; the HTTP
// transports read the Authorization back from the context.
func WithAuthorization(ctx context.Context, a *Authorization) context.Context {
	return context.WithValue(ctx, authorizationKey{}, a)
}

// AuthorizationFrom returns the Authorization that WithAuthorization stored in
// ctx, or nil. Handlers find it in Peer.Authorization.
func AuthorizationFrom(ctx context.Context) *Authorization {
	a, _ := ctx.Value(authorizationKey{}).(*Authorization)
	return a
}
