package backoff_test

import (
	"testing"
	"time"

	"github.com/parley-mcp/parley/internal/backoff"
)

func TestPause(t *testing.T) {
	for _, c := range []struct {
		failures    int
		least, most time.Duration
	}{
		{0, 250 * time.Millisecond, 500 * time.Millisecond},
		{1, 250 * time.Millisecond, 500 * time.Millisecond},
		{2, 500 * time.Millisecond, time.Second},
		{5, 4 * time.Second, 8 * time.Second},
		{8, 30 * time.Second, time.Minute},
		{1000, 30 * time.Second, time.Minute},
	} {
		if got := backoff.Pause(c.failures); got < c.least || got > c.most {
			t.Errorf("after %d failures: %s, want %s to %s", c.failures, got, c.least, c.most)
		}
	}
}
