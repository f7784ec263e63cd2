// Package wellknown says where authorization metadata is found, for those who
// publish it and those who look for it.
package wellknown

import (
	"net/url"
	"strings"
)

// The path prefixes of the documents; the path of their subject follows (RFC
// 9728, section 3; RFC 8414, section 3; OpenID Connect Discovery, section 4).
const (
	Resource = "/.well-known/oauth-protected-resource"
	OAuth    = "/.well-known/oauth-authorization-server"
	OpenID   = "/.well-known/openid-configuration"
)

// Resources returns the URLs at which the metadata of an MCP server may be, in
// the order in which to try them.
//
// Spec: 2026-07-28 basic/authorization/authorization-server-discovery#protected-resource-metadata-discovery-requirements.
func Resources(server *url.URL) []string {
	root := origin(server) + Resource
	if path := server.EscapedPath(); path != "" && path != "/" {
		return []string{root + path, root}
	}
	return []string{root}
}

// Issuers returns the URLs at which the metadata of an authorization server may
// be, in the order in which to try them.
//
// Spec: 2026-07-28 basic/authorization/authorization-server-discovery#authorization-server-metadata-discovery.
func Issuers(issuer *url.URL) []string {
	root, path := origin(issuer), strings.TrimSuffix(issuer.EscapedPath(), "/")
	if path == "" {
		return []string{root + OAuth, root + OpenID}
	}
	return []string{root + OAuth + path, root + OpenID + path, root + path + OpenID}
}

func origin(u *url.URL) string { return (&url.URL{Scheme: u.Scheme, Host: u.Host}).String() }
