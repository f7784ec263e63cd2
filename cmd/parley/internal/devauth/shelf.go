package devauth

import (
	"crypto/sha256"
	"sync"
	"time"
)

// shelf keeps a bounded number of values, each until a given time. Keys may be
// secrets: only their hashes are kept. It is safe for concurrent use.
type shelf[V any] struct {
	most int

	mu    sync.Mutex
	items map[[sha256.Size]byte]item[V]
	swept time.Time
}

type item[V any] struct {
	value V
	until time.Time
}

func newShelf[V any](most int) *shelf[V] {
	return &shelf[V]{most: most, items: map[[sha256.Size]byte]item[V]{}}
}

// put stores a value until a given time. It returns whether there was room.
func (s *shelf[V]) put(key string, v V, until time.Time) bool {
	return s.keep(key, v, until, true)
}

// putNew is put for a key that must not exist yet.
func (s *shelf[V]) putNew(key string, v V, until time.Time) bool {
	return s.keep(key, v, until, false)
}

func (s *shelf[V]) keep(key string, v V, until time.Time, replace bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, k := time.Now(), sha256.Sum256([]byte(key))
	if len(s.items) >= s.most || now.Sub(s.swept) > time.Minute {
		s.sweep(now)
	}
	old, known := s.items[k]
	if !known && len(s.items) >= s.most || known && !replace && now.Before(old.until) {
		return false
	}
	s.items[k] = item[V]{v, until}
	return true
}

func (s *shelf[V]) get(key string) (v V, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x, ok := s.items[sha256.Sum256([]byte(key))]
	if !ok || !time.Now().Before(x.until) {
		return v, false
	}
	return x.value, true
}

func (s *shelf[V]) drop(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.items, sha256.Sum256([]byte(key)))
}

func (s *shelf[V]) sweep(now time.Time) {
	s.swept = now
	for k, x := range s.items {
		if !now.Before(x.until) {
			delete(s.items, k)
		}
	}
}
