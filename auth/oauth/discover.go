package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/parley-mcp/parley/internal/httpcall"
	"github.com/parley-mcp/parley/internal/wellknown"
)

// protectedResource is a protected resource's metadata (RFC 9728, section 2).
type protectedResource struct {
	Resource             string   `json:"resource"`
	AuthorizationServers []string `json:"authorization_servers"`
	ScopesSupported      []string `json:"scopes_supported"`
	DPoPRequired         bool     `json:"dpop_bound_access_tokens_required"`
}

// discovery is what was found out about a server's authorization.
type discovery struct {
	resource string
	scopes   []string // that the resource supports
	dpop     bool     // demanded
	server   *serverMetadata
}

// ErrNoAuthorization says that a server names no authorization server, and that
// nothing indicates that it has one.
var ErrNoAuthorization = errors.New("the server says nothing about authorization")

// discover finds the authorization server. metadataURL is the challenge's, or
// ""; challenged says that there was one.
//
// Spec: 2026-07-28 basic/authorization/authorization-server-discovery#protected-resource-metadata-discovery-requirements.
func (c *Client) discover(ctx context.Context, metadataURL string, challenged bool) (*discovery, error) {
	resource, err := c.protectedResource(ctx, metadataURL)
	if errors.Is(err, errAbsent) {
		return c.discoverOld(ctx, challenged)
	}
	if err != nil {
		return nil, err
	}
	if len(resource.AuthorizationServers) == 0 {
		return nil, errors.New("the server's metadata names no authorization server")
	}
	issuer := c.choose(ctx, resource)
	server, err := c.serverMetadata(ctx, issuer)
	if err != nil {
		return nil, err
	}
	return &discovery{resource.Resource, resource.ScopesSupported, resource.DPoPRequired, server}, nil
}

// protectedResource fetches the metadata of the server from the URL in the
// challenge, or else from the well-known places, and checks that it is the
// server's.
func (c *Client) protectedResource(ctx context.Context, metadataURL string) (*protectedResource, error) {
	places := wellknown.Resources(c.server)
	if metadataURL != "" {
		places = []string{metadataURL}
	}
	failed := errAbsent
	for _, place := range places {
		var r protectedResource
		err := c.fetch(ctx, place, "", &r)
		switch {
		case err == nil:
			return &r, checkResource(r.Resource, c.server)
		case errors.Is(err, errAbsent) && metadataURL != "":
			return nil, errors.New("there is no metadata document where the server's challenge says")
		case unreachable(err):
			return nil, fmt.Errorf("protected resource metadata: %w", err)
		case !errors.Is(err, errAbsent): // some servers answer like this where they have nothing
			failed = fmt.Errorf("protected resource metadata: %w", err)
		}
	}
	return nil, failed
}

// checkResource refuses metadata of a resource other than the server: tokens
// for it could be used elsewhere. The resource may be less specific than the
// server's URL: the origin, or a parent path.
//
// Spec: 2026-07-28 basic/authorization#canonical-server-uri.
func checkResource(resource string, server *url.URL) error {
	u, err := url.Parse(resource)
	if err != nil || u.Host == "" {
		return errors.New("the server's metadata names no resource")
	}
	above := strings.TrimSuffix(u.EscapedPath(), "/")
	path := server.EscapedPath()
	within := path == above || strings.HasPrefix(path, above+"/") || strings.TrimSuffix(path, "/") == above
	u.Scheme = strings.ToLower(u.Scheme)
	if !httpcall.SameOrigin(u, server) || !within || u.Fragment != "" || u.User != nil || u.RawQuery != "" && u.RawQuery != server.RawQuery {
		return fmt.Errorf("the server's metadata is of another resource, %q, than the server, %q", plain(u.Redacted()), server.Redacted())
	}
	return nil
}

// choose returns the authorization server to use: one that knows this client,
// or else the first. Authorization servers are independent: what one of them
// knows does not apply to the others.
//
// Spec: 2026-07-28 basic/authorization/authorization-server-discovery#authorization-server-location.
func (c *Client) choose(ctx context.Context, r *protectedResource) string {
	has := func(key string) bool {
		value, err := c.store.Load(ctx, key)
		return err == nil && value != nil
	}
	for _, known := range []func(issuer string) bool{
		func(issuer string) bool { return c.opts.Grant.issuer() == issuer },
		func(issuer string) bool { return has(tokenKey(issuer, r.Resource)) },
		func(issuer string) bool { return c.opts.PreRegistered[issuer].ClientID != "" },
		func(issuer string) bool { return has(clientKey(issuer)) },
	} {
		for _, issuer := range r.AuthorizationServers {
			if known(issuer) {
				return issuer
			}
		}
	}
	return r.AuthorizationServers[0]
}
