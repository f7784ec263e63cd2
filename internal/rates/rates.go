// Package rates keeps the bounds that an mcp.Rate describes.
package rates

import (
	"math"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/parley-mcp/parley/mcp"
)

// Limit returns what r means as a limit and a burst of a rate.Limiter, where
// standard is the default. The limit is rate.Inf if there is no bound.
func Limit(r, standard mcp.Rate) (limit rate.Limit, burst int) {
	if r.PerSecond == 0 {
		r.PerSecond = standard.PerSecond
		if r.Burst <= 0 {
			r.Burst = standard.Burst
		}
	}
	if !(r.PerSecond >= 0 && r.PerSecond < float64(rate.Inf)) { // not a number is no bound either
		return rate.Inf, 0
	}
	if r.Burst <= 0 {
		r.Burst = int(max(1, math.Ceil(2*min(r.PerSecond, 1e6))))
	}
	return rate.Limit(r.PerSecond), r.Burst
}

// maxKeys bounds how many keys a Keyed remembers.
const maxKeys = 1 << 14

// Keyed bounds how often each of many keys does something. A nil Keyed bounds
// nothing. It is safe for concurrent use.
type Keyed[K comparable] struct {
	limit rate.Limit
	burst int

	mu    sync.Mutex
	keys  map[K]*rate.Limiter
	swept time.Time
}

// New returns a Keyed for a rate, or nil if that is no bound. standard is the
// default.
func New[K comparable](r, standard mcp.Rate) *Keyed[K] {
	limit, burst := Limit(r, standard)
	if limit == rate.Inf {
		return nil
	}
	return &Keyed[K]{limit: limit, burst: burst, keys: map[K]*rate.Limiter{}}
}

// PerSecond returns how often each key may, on average.
func (l *Keyed[K]) PerSecond() float64 { return float64(l.limit) }

// Take counts one time for a key and returns 0. If that is over the rate, it
// counts nothing, and returns how long it takes until there is room.
func (l *Keyed[K]) Take(key K) (wait time.Duration) {
	if l == nil {
		return 0
	}
	now := time.Now()
	limiter := l.of(key, now)
	if limiter.AllowN(now, 1) {
		return 0
	}
	missing := 1 - limiter.TokensAt(now)
	return max(1, time.Duration(missing/float64(l.limit)*float64(time.Second)))
}

func (l *Keyed[K]) of(key K, now time.Time) *rate.Limiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	limiter := l.keys[key]
	if limiter == nil {
		l.makeRoom(now)
		limiter = rate.NewLimiter(l.limit, l.burst)
		l.keys[key] = limiter
	}
	return limiter
}

// makeRoom forgets the keys whose bucket is full, which are no different from
// new ones, from time to time. If there are too many others, it forgets one of
// them: whoever has that many keys is not bounded by a rate for each.
func (l *Keyed[K]) makeRoom(now time.Time) {
	full := len(l.keys) >= maxKeys
	if since := now.Sub(l.swept); since > time.Minute || full && since > time.Second {
		l.swept = now
		for key, limiter := range l.keys {
			if limiter.TokensAt(now) >= float64(l.burst) {
				delete(l.keys, key)
			}
		}
	}
	for key := range l.keys {
		if len(l.keys) < maxKeys {
			break
		}
		delete(l.keys, key)
	}
}
