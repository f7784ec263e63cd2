package backend

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/parley-mcp/parley/internal/backoff"
)

// breaker keeps a server that fails from being tried all the time, and its clients from
// waiting for it.
type breaker struct {
	failures int       // in a row
	until    time.Time // when it may be tried again
	at       time.Time // of the last failure
	why      error
}

// open reports whether the server must not be tried now.
func (b *breaker) open(now time.Time) bool { return now.Before(b.until) }

// failed counts a failure, and reports whether it is another one: those of attempts that
// were under way at the same time are one.
func (b *breaker) failed(why error) bool { return b.failedAfter(0, why) }

// failedAfter is failed for an attempt that took a time: the server is left alone for as
// long, so that most calls do not wait for such attempts in vain.
func (b *breaker) failedAfter(took time.Duration, why error) bool {
	now := time.Now()
	b.why, b.at = why, now
	if b.open(now) {
		return false
	}
	b.failures++
	b.until = now.Add(max(backoff.Pause(b.failures), min(took, longestPause)))
	return true
}

// longestPause bounds how long a server is left alone because an attempt has taken long.
const longestPause = time.Minute

// failedAgain is failed for what has failed a number of times, though it has worked in
// between.
func (b *breaker) failedAgain(times int, why error) bool {
	b.failures = max(b.failures, times-1)
	return b.failed(why)
}

// everybody is the key of what is about the server as such, and not about the process or
// the credentials of those who share a connection.
const everybody = ""

// breakers are those of a backend: one for the server as such, and one for each of those
// who share a connection and for whom it has failed. The zero value is ready.
type breakers struct {
	mu   sync.Mutex
	all  map[string]*breaker
	ends map[string][]time.Time // of their connections, within a minute
}

// maxBreakers is how many there may be before those are forgotten whose time is over.
const maxBreakers = 100

// A process that ends is replaced, because it may have had its reasons. spared is how often
// that is so within the time of recent; then, the server has failed.
const (
	spared = 3
	recent = time.Minute
)

// ended counts that a connection has ended by itself, early if the server had not answered
// anything there. It reports whether the server has failed with that.
func (b *breakers) ended(had *connection, why error, early bool) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	times := b.count(had)
	switch {
	case times > spared:
		return b.one(had.key).failedAgain(times-spared, &endsError{times, why})
	case early:
		return b.one(had.key).failed(why)
	}
	return false
}

// endsError says that a connection has ended again and again.
type endsError struct {
	times int
	why   error
}

// about says it, with what there is to say of the last time.
func (e *endsError) about(last string) string {
	return fmt.Sprintf("it has ended %d times within a minute: %s", e.times, last)
}

func (e *endsError) Error() string { return e.about(e.why.Error()) }
func (e *endsError) Unwrap() error { return e.why }

// count counts the end of a connection, and returns how many there were lately. Those that
// were there together, and end for one reason, count as one. The caller holds b.mu.
func (b *breakers) count(had *connection) int {
	now := time.Now()
	old := func(at time.Time) bool { return now.Sub(at) >= recent }
	if b.ends == nil {
		b.ends = map[string][]time.Time{}
	}
	if len(b.ends) >= maxBreakers {
		maps.DeleteFunc(b.ends, func(_ string, ends []time.Time) bool { return old(ends[len(ends)-1]) })
	}
	ends := slices.DeleteFunc(b.ends[had.key], old)
	if n := len(ends); n == 0 || !had.begun.Before(ends[n-1]) {
		ends = append(ends, now)
	}
	b.ends[had.key] = ends
	return len(ends)
}

// closed returns the breaker that keeps somebody from trying the server now, or nil. The
// caller holds b.mu.
func (b *breakers) closed(key string) *breaker {
	now := time.Now()
	for _, k := range [...]string{everybody, key} {
		if one := b.all[k]; one != nil && one.open(now) {
			return one
		}
	}
	return nil
}

// allows returns why somebody must not try the server now, or nil.
func (b *breakers) allows(key string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if one := b.closed(key); one != nil {
		return one.why
	}
	return nil
}

// retry returns when somebody may try the server again; zero means now.
func (b *breakers) retry(key string) time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	if one := b.closed(key); one != nil {
		return one.until
	}
	return time.Time{}
}

// failed counts a failure for everybody, or for those who share a connection, of an attempt
// that took a time. It reports whether it is another one.
func (b *breakers) failed(key string, took time.Duration, why error) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.one(key).failedAfter(took, why)
}

// one returns the breaker of a key, making it if there is none. The caller holds b.mu.
func (b *breakers) one(key string) *breaker {
	one := b.all[key]
	if one == nil {
		b.forget()
		one = new(breaker)
		b.all[key] = one
	}
	return one
}

// forget makes room for another one. The caller holds b.mu.
func (b *breakers) forget() {
	if b.all == nil {
		b.all = map[string]*breaker{}
	}
	if len(b.all) < maxBreakers {
		return
	}
	now := time.Now()
	for key, one := range b.all {
		if key != everybody && !one.open(now) {
			delete(b.all, key)
		}
	}
}

// worked says that the server has answered a request of somebody. What was sent before it
// failed says nothing of how it is now.
func (b *breakers) worked(key string, sent time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, k := range [...]string{everybody, key} {
		if one := b.all[k]; one != nil && !sent.Before(one.at) {
			delete(b.all, k)
		}
	}
}

// worst returns the one of everybody, if that has counted something, and otherwise the one
// that has counted the most. It counts nothing if there is none.
func (b *breakers) worst() breaker {
	b.mu.Lock()
	defer b.mu.Unlock()
	if one := b.all[everybody]; one != nil {
		return *one
	}
	var worst breaker
	for _, one := range b.all {
		if one.failures > worst.failures || one.failures == worst.failures && one.until.After(worst.until) {
			worst = *one
		}
	}
	return worst
}
