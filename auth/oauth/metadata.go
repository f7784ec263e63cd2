package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"

	"github.com/parley-mcp/parley/internal/wellknown"
)

// serverMetadata is the metadata of an authorization server (RFC 8414, section
// 2).
type serverMetadata struct {
	Issuer                string   `json:"issuer"`
	AuthorizationEndpoint string   `json:"authorization_endpoint"`
	TokenEndpoint         string   `json:"token_endpoint"`
	RegistrationEndpoint  string   `json:"registration_endpoint"`
	RevocationEndpoint    string   `json:"revocation_endpoint"`
	ScopesSupported       []string `json:"scopes_supported"`
	AuthMethods           []string `json:"token_endpoint_auth_methods_supported"`
	SigningAlgs           []string `json:"token_endpoint_auth_signing_alg_values_supported"`
	ChallengeMethods      []string `json:"code_challenge_methods_supported"`
	DPoPAlgs              []string `json:"dpop_signing_alg_values_supported"`
	IssParameter          bool     `json:"authorization_response_iss_parameter_supported"`
	ClientIDMetadata      bool     `json:"client_id_metadata_document_supported"`
	guessed               bool     // there is no document
}

func (m *serverMetadata) endpoints() endpoints {
	return endpoints{m.TokenEndpoint, m.RevocationEndpoint, m.AuthMethods, m.SigningAlgs}
}

// serverMetadata fetches the metadata of an authorization server. It is
// fetched for each authorization, because servers change.
func (c *Client) serverMetadata(ctx context.Context, issuer string) (*serverMetadata, error) {
	places, err := issuerPlaces(issuer)
	if err != nil {
		return nil, err
	}
	err = fmt.Errorf("the authorization server %q has no metadata document", issuer)
	for _, place := range places {
		m, fetching := c.metadataAt(ctx, place, "")
		switch {
		case errors.Is(fetching, errAbsent):
		case unreachable(fetching):
			return nil, fetching
		case fetching != nil:
			err = fetching // some servers answer like this where they have nothing
		// Spec: 2026-07-28 basic/authorization/authorization-server-discovery#authorization-server-metadata-discovery.
		case m.Issuer != issuer:
			err = wrongIssuer(issuer, m.Issuer) // another issuer's; its own may be at the next place
		default:
			return m, c.checkEndpoints(m)
		}
	}
	return nil, err
}

func (c *Client) metadataAt(ctx context.Context, place, version string) (*serverMetadata, error) {
	var m serverMetadata
	if err := c.fetch(ctx, place, version, &m); err != nil {
		return nil, err
	}
	return &m, nil
}

func wrongIssuer(want, got string) error {
	return fmt.Errorf("the metadata of the authorization server %q is that of another, %q; they have to be the same to the letter", want, plain(got))
}

// issuerPlaces returns the URLs at which the metadata of an issuer may be, in
// the order in which to try them.
func issuerPlaces(issuer string) ([]string, error) {
	u, err := url.Parse(issuer)
	if err != nil || u.Host == "" || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return nil, fmt.Errorf("%q is not an issuer identifier of an authorization server", plain(issuer))
	}
	return wellknown.Issuers(u), nil
}

// checkEndpoints refuses endpoints that are not on a web server that may be
// contacted; a browser would follow the authorization endpoint anywhere.
//
// Spec: 2026-07-28 basic/authorization/security-considerations#communication-security.
func (c *Client) checkEndpoints(m *serverMetadata) error {
	if m.TokenEndpoint == "" {
		return fmt.Errorf("the authorization server %q has no token endpoint", m.Issuer)
	}
	for _, e := range []struct{ name, url string }{
		{"authorization", m.AuthorizationEndpoint},
		{"token", m.TokenEndpoint},
		{"registration", m.RegistrationEndpoint},
		{"revocation", m.RevocationEndpoint},
	} {
		if err := c.checkEndpoint(e.url); err != nil {
			return fmt.Errorf("the %s endpoint of %q: %w", e.name, m.Issuer, err)
		}
	}
	return nil
}

func (c *Client) checkEndpoint(endpoint string) error {
	if endpoint == "" {
		return nil
	}
	u, err := url.Parse(endpoint)
	if err != nil {
		return errors.New("it is not a URL")
	}
	if u.Fragment != "" {
		return errors.New("it has a fragment")
	}
	return c.policy.Check(u)
}

// checkPKCE refuses a server that does not declare PKCE with S256: it might
// ignore it.
//
// Spec: 2026-07-28 basic/authorization/security-considerations#authorization-code-protection.
func (m *serverMetadata) checkPKCE() error {
	if m.guessed || slices.Contains(m.ChallengeMethods, "S256") {
		return nil
	}
	return fmt.Errorf("the authorization server %q does not say that it supports PKCE with S256 (code_challenge_methods_supported), without which codes are not safe", m.Issuer)
}
