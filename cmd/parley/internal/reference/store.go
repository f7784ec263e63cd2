package reference

import (
	"crypto/rand"
	"encoding/hex"
	"sync"
	"time"
)

// store keeps values under keys for as long as they are used. It is bounded:
// when it is full, the least recently used value is removed.
type store[T any] struct {
	ttl time.Duration
	max int

	mu      sync.Mutex
	entries map[string]*entry[T]
}

type entry[T any] struct {
	value T
	used  time.Time
}

func newStore[T any](ttl time.Duration, size int) *store[T] {
	return &store[T]{ttl: ttl, max: size, entries: map[string]*entry[T]{}}
}

// put adds or replaces a value.
func (s *store[T]) put(key string, value T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, replaced := s.entries[key]; !replaced && len(s.entries) >= s.max {
		s.makeRoom()
	}
	s.entries[key] = &entry[T]{value, time.Now()}
}

// makeRoom removes the expired entries or, if there are none, the least
// recently used one.
func (s *store[T]) makeRoom() {
	var oldest string
	for key, e := range s.entries {
		if s.expired(e) {
			delete(s.entries, key)
		} else if oldest == "" || e.used.Before(s.entries[oldest].used) {
			oldest = key
		}
	}
	if len(s.entries) >= s.max {
		delete(s.entries, oldest)
	}
}

// use calls f with the value under a key, which counts as using it, and reports
// whether there is one. Other callers wait meanwhile, so f must be quick.
func (s *store[T]) use(key string, f func(value *T)) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.entries[key]
	if !ok {
		return false
	}
	if s.expired(e) {
		delete(s.entries, key)
		return false
	}
	e.used = time.Now()
	f(&e.value)
	return true
}

func (s *store[T]) expired(e *entry[T]) bool { return time.Since(e.used) >= s.ttl }

// newID returns a prefix and 128 random bits, so that nobody can guess it.
func newID(prefix string) string {
	var random [16]byte
	_, _ = rand.Read(random[:]) // never fails
	return prefix + hex.EncodeToString(random[:])
}
