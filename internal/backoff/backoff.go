// Package backoff says how long a server that fails is left alone.
package backoff

import (
	"math/rand/v2"
	"time"
)

const (
	first   = 500 * time.Millisecond
	longest = time.Minute
)

// Pause returns how long to wait after a number of failures in a row: about half a second
// after the first, about twice as long after each that follows, and at most a minute.
func Pause(failures int) time.Duration {
	pause := min(longest, first<<min(max(failures-1, 0), 10))
	return pause/2 + rand.N(pause/2) //nolint:gosec // jitter needs no secure randomness
}
