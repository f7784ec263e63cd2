package oauth

import (
	"context"
	"net/url"
)

// Receiver gets the answer that an authorization server sends by way of the
// user's browser. Loopback and Paste are receivers.
type Receiver interface {
	// Listen gets ready for one answer. registered are redirect URIs that the
	// authorization server knows from before, of which one should be used again
	// if that is possible.
	Listen(ctx context.Context, registered []string) (Reception, error)
}

// Reception is a receiver that is ready for one answer.
type Reception interface {
	// RedirectURI is where the answer has to be sent to. It is https, or on the
	// loopback.
	RedirectURI() string
	// Receive brings the user to the authorization server and returns the
	// parameters of its answer, which it need not check. It ends with ctx.
	Receive(ctx context.Context, r AuthorizationRequest) (url.Values, error)
	// Close ends it.
	Close() error
}

// AuthorizationRequest is what a Reception brings the user to.
type AuthorizationRequest struct {
	// URL is the page to open in the user's browser: https, or http on the
	// loopback.
	URL string
	// Issuer is the authorization server that the page is of, for the user.
	Issuer string
	// State is the value that the parameter state of the answer has to have.
	State string
}
