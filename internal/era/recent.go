package era

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

const (
	maxRecent     = 256
	maxRecentText = 4 << 10 // bytes

	// maxDeclared bounds the text of what a client declares about itself: a session
	// keeps it for as long as it lasts, and decoded it can be twenty times as large.
	maxDeclared = 64 << 10 // bytes
)

// recent caches the decoded form of texts that repeat: what a client declares about
// itself is in every request of the stateless era, word for word.
//
// With decoding each time, a small call in the stateless era takes 9 % more
// processor time, over stdio with 16 in flight and over HTTP with 16 connections, of a
// client that declares nothing (measured 2026-11-22,
// docs/decisions/0008-hot-path.md). A mistake here means that a request is served
// as if another client had sent it. So the key is the whole text, and cached values
// are never handed out: decode returns a copy, to which a handler may write.
//
// The zero value is ready, and safe for concurrent use.
type recent[T any] struct {
	mu   sync.RWMutex
	seen map[string]T
}

// decode returns the decoded text, for the caller alone. clone must make a copy
// that shares no writable memory with the original.
func (r *recent[T]) decode(text []byte, clone func(T) T) (T, error) {
	r.mu.RLock()
	v, ok := r.seen[string(text)]
	r.mu.RUnlock()
	if ok {
		return clone(v), nil
	}
	return r.learn(text, clone)
}

// learn is separate from decode because its value escapes to the heap, and one
// found in the cache need not.
func (r *recent[T]) learn(text []byte, clone func(T) T) (T, error) {
	var v T
	if err := boundDeclared(text); err != nil {
		return v, err
	}
	if err := wire.Unmarshal(text, &v); err != nil || len(text) > maxRecentText {
		return v, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seen == nil || len(r.seen) >= maxRecent { // clients that are still active are soon back
		r.seen = make(map[string]T)
	}
	r.seen[string(text)] = clone(v)
	return v, nil
}

// boundDeclared refuses what is not worth decoding.
func boundDeclared(text []byte) error {
	if len(text) > maxDeclared {
		return fmt.Errorf("the limit is %d bytes, and this has %d: declare less, and name icons by URL", maxDeclared, len(text))
	}
	return nil
}

func cloneCapabilities(c mcp.ClientCapabilities) mcp.ClientCapabilities {
	c.Roots, c.Sampling, c.Elicitation = clonePointer(c.Roots), clonePointer(c.Sampling), clonePointer(c.Elicitation)
	if c.Tasks = clonePointer(c.Tasks); c.Tasks != nil {
		r := &c.Tasks.Requests
		r.Tools, r.Sampling, r.Elicitation = clonePointer(r.Tools), clonePointer(r.Sampling), clonePointer(r.Elicitation)
	}
	c.Extensions, c.Experimental = cloneTexts(c.Extensions), cloneTexts(c.Experimental)
	return c
}

func cloneImplementation(i mcp.Implementation) mcp.Implementation {
	i.Icons = slices.Clone(i.Icons)
	for n := range i.Icons {
		i.Icons[n].Sizes = slices.Clone(i.Icons[n].Sizes)
	}
	return i
}

// clonePointer copies what p points to, but not what that points to.
func clonePointer[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}

func cloneTexts(m map[string]json.RawMessage) map[string]json.RawMessage {
	m = maps.Clone(m)
	for name, text := range m {
		m[name] = bytes.Clone(text)
	}
	return m
}
