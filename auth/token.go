package auth

import (
	"context"
	"fmt"

	"github.com/parley-mcp/parley/mcp"
)

// Token is what a Verifier has found out about an access token.
type Token struct {
	// Authorization is who may do what, and until when. Its Issuer may be "" if
	// there is only one authorization server.
	mcp.Authorization
	// Audience names those that the token is for. The Guard refuses tokens that
	// are not for its resource, so it must not be empty.
	Audience []string
	// KeyThumbprint identifies the key that the client must prove possession of
	// (cnf.jkt of RFC 9449), or is "" for a bearer token.
	KeyThumbprint string
}

// Verifier finds out whether an access token is genuine and what it says. The
// Guard itself checks audience, issuer, expiry, scopes, and the proof of a key.
// Implementations are safe for concurrent use.
type Verifier interface {
	// Verify returns what a token says. The error is a *TokenError when the
	// token is at fault; any other error means that the token cannot be
	// verified now, which is logged and answered with 503. Errors must not
	// contain the token.
	Verify(ctx context.Context, token string) (*Token, error)
}

// VerifierFunc adapts a function to a Verifier.
type VerifierFunc func(ctx context.Context, token string) (*Token, error)

// Verify calls f.
func (f VerifierFunc) Verify(ctx context.Context, token string) (*Token, error) { return f(ctx, token) }

// TokenError says that a token is not good. It is answered with a 401.
type TokenError struct {
	// Reason is shown to the client and logged. It must not contain the token.
	Reason string
}

// Error returns the reason.
func (e *TokenError) Error() string { return e.Reason }

// Invalid returns a *TokenError with a formatted reason.
func Invalid(format string, args ...any) error { return &TokenError{fmt.Sprintf(format, args...)} }

// AnyOf returns a Verifier that asks several in turn until one accepts the
// token, for several authorization servers. If none does, an error that is not
// about the token takes precedence.
func AnyOf(verifiers ...Verifier) Verifier {
	return VerifierFunc(func(ctx context.Context, token string) (*Token, error) {
		err := Invalid("the token is of none of the authorization servers")
		for _, v := range verifiers {
			t, failed := v.Verify(ctx, token)
			if failed == nil {
				return t, nil
			}
			err = worse(err, failed)
		}
		return nil, err
	})
}
