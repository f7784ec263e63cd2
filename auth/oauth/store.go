package oauth

import (
	"context"
	"sync"
)

// Store keeps tokens and registrations as small JSON documents, under keys that
// say what they belong to. It must keep them as confidential as passwords. Its
// methods must be safe for concurrent use, and by several processes if the
// documents outlive one.
//
// Spec: 2026-07-28 basic/authorization/security-considerations#token-theft.
type Store interface {
	// Load returns the document of a key, or nil if there is none.
	Load(ctx context.Context, key string) ([]byte, error)
	// Update replaces the document of a key by what change makes of it; nil
	// stands for no document, before and after. No other update of the same key
	// may run in between: change may talk to an authorization server that
	// issues each refresh token once. If change returns an error, the document
	// stays, and Update returns that error.
	Update(ctx context.Context, key string, change func(ctx context.Context, value []byte) ([]byte, error)) error
}

// replace stores a document, whatever was stored before.
func replace(ctx context.Context, s Store, key string, value []byte) error {
	return s.Update(ctx, key, func(context.Context, []byte) ([]byte, error) { return value, nil })
}

// memoryStore keeps documents as long as the process runs.
type memoryStore struct {
	mu     sync.Mutex
	values map[string][]byte
	locks  map[string]chan struct{}
}

// NewMemoryStore returns a Store whose contents end with the process.
func NewMemoryStore() Store {
	return &memoryStore{values: map[string][]byte{}, locks: map[string]chan struct{}{}}
}

// String keeps the contents out of logs.
func (s *memoryStore) String() string { return "memory store" }

// Load implements Store.
func (s *memoryStore) Load(_ context.Context, key string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.values[key], nil
}

// Update implements Store.
func (s *memoryStore) Update(ctx context.Context, key string, change func(context.Context, []byte) ([]byte, error)) error {
	lock := s.lock(key)
	select {
	case lock <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-lock }()
	s.mu.Lock()
	old := s.values[key]
	s.mu.Unlock()
	value, err := change(ctx, old)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if value == nil {
		delete(s.values, key)
	} else {
		s.values[key] = value
	}
	return nil
}

// lock returns the channel that updates of a key use as a lock. There are as
// many as there are servers, which are few.
func (s *memoryStore) lock(key string) chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.locks[key] == nil {
		s.locks[key] = make(chan struct{}, 1)
	}
	return s.locks[key]
}
