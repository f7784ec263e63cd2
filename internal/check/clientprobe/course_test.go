package clientprobe_test

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/parley-mcp/parley/internal/check/clientprobe"
	"github.com/parley-mcp/parley/internal/check/specimen"
)

// Verdicts do not show how many scenarios were played at once.
func TestAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		one, atMost := verdictsAtOnce(t, 0)
		if atMost != 1 {
			t.Errorf("%d scenarios were played at once, want 1", atMost)
		}
		many, atMost := verdictsAtOnce(t, 8)
		if atMost != 8 {
			t.Errorf("%d scenarios were played at once, want 8", atMost)
		}
		if !slices.Equal(one, many) {
			t.Errorf("one after the other:\n%s\neight at once:\n%s", strings.Join(one, "\n"), strings.Join(many, "\n"))
		}
	})
}

// verdictsAtOnce judges the specimen, and returns how many of it there were at
// most, too.
func verdictsAtOnce(t *testing.T, n int) (verdicts []string, atMost int) {
	t.Helper()
	var now, most atomic.Int64
	report, err := clientprobe.Check(t.Context(), func(ctx context.Context, p *clientprobe.Place) error {
		if n := now.Add(1); n > most.Load() {
			most.Store(n)
		}
		defer now.Add(-1)
		return specimen.Use(ctx, reach(p, nil, nil), nil)
	}, &clientprobe.Options{Revisions: []string{"2025-11-25"}, Lines: true, AtOnce: n})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range report.Runs[0].Verdicts {
		verdicts = append(verdicts, v.Row+" "+string(v.Outcome))
	}
	return verdicts, int(most.Load())
}
