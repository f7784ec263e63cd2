package stats_test

import (
	"slices"
	"testing"

	"github.com/parley-mcp/parley/bench/internal/stats"
)

func TestPercentile(t *testing.T) {
	hundred := make([]int, 100)
	for i := range hundred {
		hundred[i] = i + 1
	}
	for _, tt := range []struct {
		name   string
		values []int
		p      float64
		want   int
	}{
		{"of nothing", nil, 50, 0},
		{"of one", []int{7}, 99, 7},
		{"the least", hundred, 0, 1},
		{"the median", hundred, 50, 50},
		{"a high one", hundred, 99, 99},
		{"between two ranks takes the upper", []int{1, 2, 3}, 50, 2},
		{"the greatest", hundred, 100, 100},
	} {
		if got := stats.Percentile(tt.values, tt.p); got != tt.want {
			t.Errorf("%s: percentile %v = %d, want %d", tt.name, tt.p, got, tt.want)
		}
	}
}

func TestOf(t *testing.T) {
	for _, tt := range []struct {
		name   string
		values []float64
		want   stats.Spread
	}{
		{"nothing", nil, stats.Spread{}},
		{"one", []float64{3}, stats.Spread{Median: 3, Min: 3, Max: 3}},
		{"odd, unsorted", []float64{5, 1, 3}, stats.Spread{Median: 3, Min: 1, Max: 5}},
		{"even", []float64{4, 1, 2, 3}, stats.Spread{Median: 2.5, Min: 1, Max: 4}},
	} {
		if got := stats.Of(tt.values); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

func TestOfKeepsItsArgument(t *testing.T) {
	v := []float64{3, 1, 2}
	stats.Of(v)
	if !slices.Equal(v, []float64{3, 1, 2}) {
		t.Errorf("the values were reordered: %v", v)
	}
}

func TestRatios(t *testing.T) {
	got := stats.Ratios([]float64{10, 30, 7, 9}, []float64{5, 10, 0})
	if want := []float64{2, 3}; !slices.Equal(got, want) {
		t.Errorf("ratios = %v, want %v: round by round, without rounds that the floor lacks", got, want)
	}
}
