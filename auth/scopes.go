package auth

import (
	"fmt"
	"slices"
	"strings"
)

// checkScopes refuses what is not a scope-token (RFC 6749, section 3.3), and
// the scope that a resource must not ask for.
//
// Spec: 2026-07-28 basic/authorization#refresh-tokens.
func checkScopes(scopes []string) error {
	for _, s := range scopes {
		if s == "" || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == '\\' }) {
			return fmt.Errorf("%q is not a scope: it must be visible ASCII without quotes and backslashes", s)
		}
		if s == "offline_access" {
			return fmt.Errorf("%q is between clients and the authorization server; a resource does not ask for it", s)
		}
	}
	return nil
}

// hierarchy says which scopes each scope includes, directly or not.
type hierarchy map[string][]string

// newHierarchy computes everything that each scope implies. Cycles are
// harmless.
func newHierarchy(implies map[string][]string) hierarchy {
	h := make(hierarchy, len(implies))
	for scope := range implies {
		all := []string{scope}
		for i := 0; i < len(all); i++ {
			for _, next := range implies[all[i]] {
				if !slices.Contains(all, next) {
					all = append(all, next)
				}
			}
		}
		h[scope] = all
	}
	return h
}

// grants reports whether a scope is granted, by itself or by a broader one.
//
// Spec: 2026-07-28 basic/authorization#step-up-authorization-flow.
func (h hierarchy) grants(granted []string, scope string) bool {
	return slices.ContainsFunc(granted, func(g string) bool { return g == scope || slices.Contains(h[g], scope) })
}

// grantsAll reports whether all scopes are granted.
func (h hierarchy) grantsAll(granted, needed []string) bool {
	return !slices.ContainsFunc(needed, func(s string) bool { return !h.grants(granted, s) })
}
