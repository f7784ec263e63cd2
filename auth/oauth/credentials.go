package oauth

import (
	"errors"
	"fmt"
	"slices"
)

// How a client authenticates at a token endpoint (RFC 7591, section 2).
const (
	// AuthBasic sends the secret in the Authorization header.
	AuthBasic = "client_secret_basic"
	// AuthPost sends the secret in the body.
	AuthPost = "client_secret_post"
	// AuthPrivateKeyJWT signs an assertion with a key (RFC 7523).
	AuthPrivateKeyJWT = "private_key_jwt"
	// AuthNone is for clients that cannot keep a secret.
	AuthNone = "none"
)

// AnyIssuer says that credentials may be sent to whatever authorization server
// an MCP server names. An untrusted server can obtain them that way.
const AnyIssuer = "*"

// Credentials identify a client at one authorization server.
type Credentials struct {
	// ClientID is the client's name there.
	ClientID string
	// Secret is the client's password, or "".
	Secret Secret
	// Key signs assertions instead of a secret, or is nil.
	Key *SigningKey
	// AuthMethod is one of the constants, or "" for whatever Secret, Key and
	// the authorization server allow.
	AuthMethod string
}

// method returns how the client authenticates to a server that supports some
// methods. A server that does not say which supports the first.
func (c *Credentials) method(supported []string) (string, error) {
	switch {
	case c.AuthMethod != "":
		return c.AuthMethod, c.checkMethod()
	case c.Key != nil:
		return AuthPrivateKeyJWT, nil
	case c.Secret == "":
		return AuthNone, nil
	case len(supported) == 0 || slices.Contains(supported, AuthBasic):
		return AuthBasic, nil
	case slices.Contains(supported, AuthPost):
		return AuthPost, nil
	}
	return "", fmt.Errorf("the authorization server takes no client secret, but %q", supported)
}

func (c *Credentials) checkMethod() error {
	switch c.AuthMethod {
	case AuthBasic, AuthPost:
		if c.Secret == "" {
			return fmt.Errorf("%s: client %q has no secret", c.AuthMethod, c.ClientID)
		}
	case AuthPrivateKeyJWT:
		if c.Key == nil {
			return fmt.Errorf("%s: client %q has no key", c.AuthMethod, c.ClientID)
		}
	case "", AuthNone:
	default:
		return fmt.Errorf("client %q: the authentication method %q is not supported", c.ClientID, c.AuthMethod)
	}
	return nil
}

// checkIssuer makes sure that credentials only go to the authorization server
// that they are for.
//
// Spec: 2026-07-28 basic/authorization/client-registration#authorization-server-binding.
func checkIssuer(want, got string) error {
	if want == AnyIssuer || want == got {
		return nil
	}
	return fmt.Errorf("the server names the authorization server %q, and the credentials are for %q", plain(got), want)
}

func requireIssuer(issuer string) error {
	if issuer == "" {
		return errors.New("the issuer that the credentials are for is missing; see AnyIssuer")
	}
	return nil
}
