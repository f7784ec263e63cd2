package oauth

import (
	"context"
	"errors"
	"net/url"
	"strings"

	"github.com/parley-mcp/parley/internal/wellknown"
	"github.com/parley-mcp/parley/mcp"
)

// discoverOld is for servers of 2025-03-26, which have no protected resource
// metadata: they are their own authorization server. challenged says that the
// server has demanded authorization; otherwise nothing is guessed.
//
// Spec: 2025-03-26 basic/authorization#authorization-base-url.
func (c *Client) discoverOld(ctx context.Context, challenged bool) (*discovery, error) {
	base := originOf(c.server)
	found := &discovery{resource: canonical(c.server)}
	// Spec: 2025-03-26 basic/authorization#server-metadata-discovery-headers.
	m, err := c.metadataAt(ctx, base+wellknown.OAuth, mcp.Revision20250326.String())
	switch {
	case errors.Is(err, errAbsent) && !challenged:
		return nil, ErrNoAuthorization
	case errors.Is(err, errAbsent):
		found.server = guessed(base)
		return found, nil
	case err != nil:
		return nil, err
	// The issuer was not named, but derived from the server's URL, which is the
	// same with a slash at its end.
	case m.Issuer != base && m.Issuer != base+"/":
		return nil, wrongIssuer(base, m.Issuer)
	}
	found.server = m
	return found, c.checkEndpoints(m)
}

// guessed returns the default endpoints.
//
// Spec: 2025-03-26 basic/authorization#fallbacks-for-servers-without-metadata-discovery.
func guessed(base string) *serverMetadata {
	return &serverMetadata{
		Issuer: base, AuthorizationEndpoint: base + "/authorize", TokenEndpoint: base + "/token",
		RegistrationEndpoint: base + "/register", guessed: true,
	}
}

// canonical returns the resource identifier of a server that names none.
//
// Spec: 2026-07-28 basic/authorization#canonical-server-uri.
func canonical(server *url.URL) string {
	u := *server
	u.User, u.Fragment, u.RawFragment = nil, "", ""
	u.Host = strings.ToLower(u.Host)
	if u.Path == "/" {
		u.Path, u.RawPath = "", ""
	}
	return u.String()
}
