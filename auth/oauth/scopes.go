package oauth

import (
	"slices"
	"strings"

	"github.com/parley-mcp/parley/internal/scope"
)

// split returns the scopes of a scope parameter, each once.
func split(param string) []string { return scope.Union(strings.Fields(param)) }

// covers reports whether all of some are in all.
func covers(all, some []string) bool {
	for _, s := range some {
		if !slices.Contains(all, s) {
			return false
		}
	}
	return true
}

// selectScopes returns what to ask for: what is demanded, or else what the user
// of this package wants, or else all that the server supports; and what was
// asked for before, so that it is not lost.
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

// withOfflineAccess asks for a refresh token from a server that gives one only
// for that scope.
//
// Spec: 2026-07-28 basic/authorization#refresh-tokens.
func withOfflineAccess(scopes []string, m *serverMetadata) []string {
	if slices.Contains(m.ScopesSupported, offlineAccess) {
		return scope.Union(scopes, []string{offlineAccess})
	}
	return scopes
}
