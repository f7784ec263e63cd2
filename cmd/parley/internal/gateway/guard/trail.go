package guard

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"

	"github.com/parley-mcp/parley/auth"
	"github.com/parley-mcp/parley/internal/toolresult"
	"github.com/parley-mcp/parley/mcp"
)

// How an exchange can end. OutcomeFailed is that of a tool that says so itself.
const (
	OutcomeOK        = "ok"
	OutcomeFailed    = "failed"
	OutcomeAsked     = "asked" // the client has to answer a question first
	OutcomeDenied    = "denied"
	OutcomeCancelled = "cancelled"
	OutcomeError     = "error"
)

// Outcome says how an exchange has ended.
func Outcome(result any, err error) string {
	var (
		ask       *mcp.InputRequired
		forbidden *mcp.ForbiddenError
	)
	switch {
	case err == nil && toolresult.Failed(result):
		return OutcomeFailed
	case err == nil:
		return OutcomeOK
	case errors.As(err, &ask):
		return OutcomeAsked
	case errors.As(err, &forbidden):
		return OutcomeDenied
	case errors.Is(err, context.Canceled):
		return OutcomeCancelled
	}
	return OutcomeError
}

// TokenDigest tells access tokens apart, and does not give them away. It is "" where none
// is known, because no server behind the gateway needs one.
func TokenDigest(a *mcp.Authorization) string {
	token := auth.AccessToken(a)
	if token == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(token))
	return string(sum[:])
}

// Fingerprint tells sessions apart, and does not give them away.
func Fingerprint(session string) string {
	if session == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(session))
	return hex.EncodeToString(sum[:6])
}
