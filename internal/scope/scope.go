// Package scope does sums with OAuth scopes.
package scope

import "slices"

// Union returns the scopes of several sets, in the order in which they come,
// each once; nil if there are none.
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
