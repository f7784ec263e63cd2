package oauth

import (
	"slices"
	"strings"

	"github.com/parley-mcp/parley/internal/scope"
)

// split returns the scopes of a scope parameter, each once.
func split(param string) []string { return scope.Union(strings.Fields(param)) }

// covers reports whether all contains each of some.
func covers(all, some []string) bool {
	for _, s := range some {
		if !slices.Contains(all, s) {
			return false
		}
	}
	return true
}

// selectScopes returns the scopes to request: those that the server demands, or
// else those in the options, or else all that the server supports; and always
// those requested before, so that they are not lost.
//
// Spec: 2026-07-28 basic/authorization#scope-selection-strategy.
// Spec: 2026-07-28 basic/authorization#step-up-authorization-flow (2).
func (c *Client) selectScopes(demanded, supported, before []string) []string {
	if scopes := scope.Union(before, demanded, c.opts.Scopes); len(scopes) > 0 {
		return scopes
	}
	return scope.Union(supported)
}

const offlineAccess = "offline_access"

// withOfflineAccess adds the scope that some servers require for a refresh
// token.
//
// Spec: 2026-07-28 basic/authorization#refresh-tokens.
func withOfflineAccess(scopes []string, m *serverMetadata) []string {
	if slices.Contains(m.ScopesSupported, offlineAccess) {
		return scope.Union(scopes, []string{offlineAccess})
	}
	return scopes
}
