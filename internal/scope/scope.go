// Package scope combines sets of OAuth scopes.
package scope

import "slices"

// Union returns the scopes of several sets, each once, in the order of their
// first occurrence; nil if there are none.
func Union(sets ...[]string) []string {
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
