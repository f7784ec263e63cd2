package auth

import (
	"crypto/sha256"
	"errors"
	"sync"
	"time"
)

// badAge is how long a rejected token is remembered. It is short because the
// token may have been used a moment before it became valid.
const badAge = 5 * time.Second

// tokenKey stands for a token, so that what is kept is of no use to anybody who
// gets hold of it.
type tokenKey [sha256.Size]byte

func keyOf(token string) tokenKey { return sha256.Sum256([]byte(token)) }

// cache keeps the results of verifying tokens for a while.
type cache struct {
	age time.Duration // not positive: nothing is kept
	max int

	mu      sync.Mutex
	entries map[tokenKey]entry
	swept   time.Time
}

type entry struct {
	token *Token
	err   error
	until time.Time
}

func newCache(age time.Duration, limit int) cache {
	if age == 0 {
		age = 30 * time.Second
	}
	if limit <= 0 {
		limit = 10_000
	}
	return cache{age: age, max: limit, entries: map[tokenKey]entry{}}
}

func (c *cache) get(k tokenKey, now time.Time) (entry, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.entries[k]
	return e, ok && now.Before(e.until)
}

// put keeps a result. An error that is not about the token is not kept.
func (c *cache) put(k tokenKey, t *Token, err error, now time.Time) {
	age := c.age
	if err != nil {
		if _, ok := errors.AsType[*TokenError](err); !ok {
			return
		}
		age = min(age, badAge)
	}
	until := now.Add(age)
	if t != nil && !t.Expires.IsZero() && t.Expires.Before(until) {
		until = t.Expires
	}
	if !now.Before(until) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.room(now)
	c.entries[k] = entry{t, err, until}
}

// room makes room for one entry: expired entries go first, then any. It only
// looks for expired ones once in a while, so that a flood of tokens does not
// make each of them expensive.
func (c *cache) room(now time.Time) {
	if len(c.entries) < c.max {
		return
	}
	if now.Sub(c.swept) >= time.Second {
		c.swept = now
		for k, e := range c.entries {
			if !now.Before(e.until) {
				delete(c.entries, k)
			}
		}
	}
	for k := range c.entries {
		if len(c.entries) < c.max {
			return
		}
		delete(c.entries, k)
	}
}
