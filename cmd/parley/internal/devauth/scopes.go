package devauth

import (
	"maps"
	"slices"
	"strings"
)

// validScope reports whether s is a scope-token (RFC 6749, section 3.3).
func validScope(s string) bool {
	for _, r := range s {
		if r <= ' ' || r > '~' || r == '"' || r == '\\' {
			return false
		}
	}
	return s != ""
}

// splitScopes reads the parameter scope: names, each once.
func splitScopes(s string) []string {
	var all []string
	for name := range strings.FieldsSeq(s) {
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// scopeNames are the scopes of the server, without offline_access.
func (s *Server) scopeNames() []string { return slices.Sorted(maps.Keys(s.opts.Scopes)) }

// describe says what a scope allows, for the user.
func (s *Server) describe(scope string) string {
	if scope == offlineAccess {
		return "Keep this access without asking again, until it is revoked"
	}
	return s.opts.Scopes[scope]
}

// unknown returns the scopes that the server does not have.
func (s *Server) unknown(scopes []string) []string {
	return without(scopes, append(s.scopeNames(), offlineAccess))
}

// without returns what is in a and not in b, in the order of a.
func without(a, b []string) []string {
	var rest []string
	for _, x := range a {
		if !slices.Contains(b, x) {
			rest = append(rest, x)
		}
	}
	return rest
}

// both returns what is in a and in b, in the order of a.
func both(a, b []string) []string { return without(a, without(a, b)) }
