package rates

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/time/rate"

	"github.com/parley-mcp/parley/mcp"
)

func TestLimit(t *testing.T) {
	standard := mcp.Rate{PerSecond: 10, Burst: 50}
	for _, c := range []struct {
		what  string
		given mcp.Rate
		limit rate.Limit
		burst int
	}{
		{"the default", mcp.Rate{}, 10, 50},
		{"the default with another burst", mcp.Rate{Burst: 3}, 10, 3},
		{"a rate without a burst", mcp.Rate{PerSecond: 4}, 4, 8},
		{"a low rate without a burst", mcp.Rate{PerSecond: 0.1}, 0.1, 1},
		{"a huge rate without a burst", mcp.Rate{PerSecond: 1e9}, 1e9, 2e6},
		{"infinite", mcp.Rate{PerSecond: math.Inf(1), Burst: 3}, rate.Inf, 0},
		{"both", mcp.Rate{PerSecond: 4, Burst: 1}, 4, 1},
		{"a negative burst", mcp.Rate{PerSecond: 4, Burst: -1}, 4, 8},
		{"no bound", mcp.Rate{PerSecond: -1}, rate.Inf, 0},
		{"not a number", mcp.Rate{PerSecond: math.NaN()}, rate.Inf, 0},
	} {
		if limit, burst := Limit(c.given, standard); limit != c.limit || burst != c.burst {
			t.Errorf("%s: got %v with a burst of %d, want %v with %d", c.what, limit, burst, c.limit, c.burst)
		}
	}
}

func TestKeyed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New[string](mcp.Rate{PerSecond: 2, Burst: 3}, mcp.Rate{})
		for i := range 3 {
			if wait := l.Take("a"); wait != 0 {
				t.Fatalf("time %d of a burst of 3 has to wait %s", i+1, wait)
			}
		}
		if wait := l.Take("a"); wait != 500*time.Millisecond {
			t.Errorf("after the burst one has to wait %s, want 500ms", wait)
		}
		if wait := l.Take("b"); wait != 0 {
			t.Errorf("another key has to wait %s", wait)
		}
		<-time.NewTimer(500 * time.Millisecond).C
		if wait := l.Take("a"); wait != 0 {
			t.Errorf("after the time to wait one has to wait %s more", wait)
		}
	})
}

func TestNoBound(t *testing.T) {
	l := New[string](mcp.Rate{PerSecond: -1}, mcp.Rate{PerSecond: 1})
	for range 1000 {
		if wait := l.Take("a"); wait != 0 {
			t.Fatalf("without a bound one has to wait %s", wait)
		}
	}
}

func TestKeysAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New[int](mcp.Rate{PerSecond: 1, Burst: 1}, mcp.Rate{})
		for key := range 1000 {
			l.Take(key)
		}
		<-time.NewTimer(2 * time.Minute).C
		l.Take(-1)
		if n := len(l.keys); n != 1 {
			t.Errorf("%d keys are remembered when all but one are no different from new ones", n)
		}
		for key := range 2 * maxKeys {
			l.Take(key)
		}
		if n := len(l.keys); n > maxKeys {
			t.Errorf("%d keys are remembered, want at most %d", n, maxKeys)
		}
	})
}
