// Package stats is the arithmetic of the comparison.
package stats

import (
	"cmp"
	"math"
	"slices"
)

// Percentile returns the p-th percentile (0 to 100) of sorted values, by the
// nearest rank, or zero if there are none.
func Percentile[T cmp.Ordered](sorted []T, p float64) T {
	var zero T
	if len(sorted) == 0 {
		return zero
	}
	rank := int(math.Ceil(p / 100 * float64(len(sorted))))
	return sorted[min(max(rank, 1), len(sorted))-1]
}

// Spread is the median, the minimum and the maximum of some rounds.
type Spread struct{ Median, Min, Max float64 }

// Of returns the spread of values; all zero for none.
func Of(values []float64) Spread {
	if len(values) == 0 {
		return Spread{}
	}
	s := slices.Sorted(slices.Values(values))
	mid := s[len(s)/2]
	if len(s)%2 == 0 {
		mid = (s[len(s)/2-1] + mid) / 2
	}
	return Spread{mid, s[0], s[len(s)-1]}
}

// Ratios divides values by those of the floor in the same round. Rounds that
// either of them lacks, and rounds in which the floor took nothing, are left
// out.
func Ratios(values, floor []float64) []float64 {
	var r []float64
	for i := range min(len(values), len(floor)) {
		if floor[i] > 0 {
			r = append(r, values[i]/floor[i])
		}
	}
	return r
}
