// Package similar finds the names that somebody may have meant.
package similar

import (
	"cmp"
	"slices"
	"strings"
)

// most is how many names are suggested.
const most = 5

// Names returns those of some names that are most like what was typed.
func Names(typed string, names []string) []string {
	type ranked struct {
		name     string
		distance int
	}
	typed = strings.ToLower(typed)
	all := make([]ranked, 0, len(names))
	for _, name := range names {
		r := ranked{name, Edits(typed, strings.ToLower(name))}
		if typed != "" && strings.Contains(strings.ToLower(name), typed) {
			r.distance = 1 // part of a name is as near as a slip
		}
		all = append(all, r)
	}
	slices.SortStableFunc(all, func(a, b ranked) int { return cmp.Compare(a.distance, b.distance) })
	var found []string
	for _, r := range all[:min(most, len(all))] {
		found = append(found, r.name)
	}
	return found
}

// Edits counts the bytes to insert, drop, replace or swap with their neighbour to make b
// from a.
func Edits(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before, last, row = last, row, before
		row[0] = i + 1
		for j := range len(b) {
			replace := last[j]
			if a[i] != b[j] {
				replace++
			}
			row[j+1] = min(replace, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(b)]
}
