package era

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"sync"

	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

const (
	maxRecent     = 256
	maxRecentText = 4 << 10 // bytes
)

// recent remembers the decoded form of texts that come again and again: what a
// client says of itself is in every request of the stateless era, word for word.
//
// With decoding each time, a small call in the stateless era takes 9 % more
// processor time, over stdio with 16 in flight and over HTTP with 16 connections, of a
// client that declares nothing (measured 2026-11-22,
// docs/decisions/0008-hot-path.md). When it is wrong, a request is served as if
// another client had sent it: so a text is found by all of its bytes, and nobody
// gets what is remembered. decode returns a copy, in which a handler may write.
//
// The zero value is ready, and safe for concurrent use.
type recent[T any] struct {
	mu   sync.RWMutex
	seen map[string]T
}

// decode returns what text says, for the caller alone. clone makes a copy that
// shares no memory with the original that can be written to.
func (r *recent[T]) decode(text []byte, clone func(T) T) (T, error) {
	r.mu.RLock()
	v, ok := r.seen[string(text)]
	r.mu.RUnlock()
	if ok {
		return clone(v), nil
	}
	return r.learn(text, clone)
}

// learn is apart from decode because its value is on the heap, which one that is
// found need not be.
func (r *recent[T]) learn(text []byte, clone func(T) T) (T, error) {
	var v T
	if err := wire.Unmarshal(text, &v); err != nil || len(text) > maxRecentText {
		return v, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seen == nil || len(r.seen) >= maxRecent { // who is still there is soon known again
		r.seen = make(map[string]T)
	}
	r.seen[string(text)] = clone(v)
	return v, nil
}

func cloneCapabilities(c mcp.ClientCapabilities) mcp.ClientCapabilities {
	c.Roots, c.Sampling, c.Elicitation = clonePointer(c.Roots), clonePointer(c.Sampling), clonePointer(c.Elicitation)
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
