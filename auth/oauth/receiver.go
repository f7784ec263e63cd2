package oauth

import (
	"context"
	"net/url"
)

// Receiver gets the response that an authorization server sends through the
// user's browser. Loopback and Paste are receivers.
type Receiver interface {
	// Listen gets ready for one response. registered are redirect URIs that the
	// authorization server already knows; one of them should be used again if
	// possible.
	Listen(ctx context.Context, registered []string) (Reception, error)
}

// Reception is a receiver that is ready for one response.
type Reception interface {
	// RedirectURI is where the response has to be sent. It is https, or on the
	// loopback.
	RedirectURI() string
	// Receive brings the user to the authorization server and returns the
	// parameters of its response, which it need not check. It ends with ctx.
	Receive(ctx context.Context, r AuthorizationRequest) (url.Values, error)
	// Close stops waiting for the response.
	Close() error
}

// AuthorizationRequest is the request that a Reception brings the user to.
type AuthorizationRequest struct {
	// URL is the page to open in the user's browser: https, or http on the
	// loopback.
	URL string
	// Issuer is the authorization server that the page belongs to, to be shown
	// to the user.
	Issuer string
	// State is the value that the state parameter of the response must have.
	State string
}
