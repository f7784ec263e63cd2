package auth

import (
	"context"
	"fmt"

	"github.com/parley-mcp/parley/mcp"
)

// Token is what a Verifier has found out about an access token.
type Token struct {
	// Authorization is who may do what, and until when. Its Issuer may be ""
	// where there is only one authorization server.
	mcp.Authorization
	// Audience is whom the token is for. The Guard refuses tokens that are not
	// for its resource, so it must not be empty.
	Audience []string
	// KeyThumbprint is the key that a client has to prove the possession of
	// (cnf.jkt of RFC 9449), or "" for a bearer token.
	KeyThumbprint string
}

// Verifier finds out whether an access token is genuine and what it says. The
// Guard itself checks audience, issuer, expiry, scopes, and the proof of a key.
// Implementations are safe for concurrent use.
type Verifier interface {
	// Verify returns what a token says. The error is a *TokenError when the
	// token is at fault; any other means that nothing can be said now, which
	// is logged and answered with 503. Errors must not hold the token.
	Verify(ctx context.Context, token string) (*Token, error)
}

// VerifierFunc is a function that is a Verifier.
type VerifierFunc func(ctx context.Context, token string) (*Token, error)

// Verify calls the function.
func (f VerifierFunc) Verify(ctx context.Context, token string) (*Token, error) { return f(ctx, token) }

// TokenError says that a token is not good. The answer to the client is a 401.
type TokenError struct {
	// Reason is for the client, and for the log. It must not hold the token.
	Reason string
}

// Error returns the reason.
func (e *TokenError) Error() string { return e.Reason }

// Invalid returns a *TokenError with a formatted reason.
func Invalid(format string, args ...any) error { return &TokenError{fmt.Sprintf(format, args...)} }

// AnyOf returns a Verifier that asks each of several in turn, until one takes
// the token: for several authorization servers. Where none does, an error that
// is not about the token comes first.
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
