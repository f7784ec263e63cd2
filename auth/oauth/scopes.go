package oauth

import (
	"slices"
	"strings"
)

// split returns the scopes of a scope parameter, each once.
func split(scope string) []string { return union(strings.Fields(scope)) }

// union returns the scopes of several sets, in the order in which they come,
// each once; nil if there are none.
func union(sets ...[]string) []string {
	var all []string
	for _, set := range sets {
		for _, s := range set {
			if s != "" && !slices.Contains(all, s) {
				all = append(all, s)
			}
		}
	}
	return all
}

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
	if scopes := union(before, demanded, c.opts.Scopes); len(scopes) > 0 {
		return scopes
	}
	return union(supported)
}

const offlineAccess = "offline_access"

// withOfflineAccess asks for a refresh token from a server that gives one only
// for that scope.
//
// Spec: 2026-07-28 basic/authorization#refresh-tokens.
func withOfflineAccess(scopes []string, m *serverMetadata) []string {
	if slices.Contains(m.ScopesSupported, offlineAccess) {
		return union(scopes, []string{offlineAccess})
	}
	return scopes
}
