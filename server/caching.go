package server

import (
	"errors"
	"fmt"
	"time"

	"github.com/parley-mcp/parley/mcp"
)

// CacheHint says how long clients may reuse a result, and who may reuse it.
//
// Spec: 2026-07-28 server/utilities/caching#cacheable-model.
type CacheHint struct {
	// TTL is how long the result stays fresh; it is sent in milliseconds.
	TTL time.Duration
	// Scope is mcp.CachePublic or mcp.CachePrivate; empty means private.
	Scope mcp.CacheScope
}

// check refuses a public list that is not the same for everybody: caches
// would show it to the wrong people.
//
// Spec: 2026-07-28 server/utilities/caching#choosing-a-cache-scope.
func (h CacheHint) check(method string, filtered bool) error {
	m := mcp.MethodNamed(method)
	switch {
	case m == nil || !m.Cacheable:
		return errors.New("the results of this method are not cacheable")
	case h.TTL < 0:
		return fmt.Errorf("negative TTL %s", h.TTL)
	case h.Scope != "" && h.Scope != mcp.CachePublic && h.Scope != mcp.CachePrivate:
		return fmt.Errorf("unknown scope %q", h.Scope)
	case m.List && filtered && h.Scope == mcp.CachePublic:
		return errors.New("a list that Visible filters cannot be public")
	}
	return nil
}

// cacheFields returns the configured hint of a method, or the zero value if
// there is none.
func (s *Server) cacheFields(method string) mcp.CacheFields {
	hint, ok := s.opts.Cache[method]
	if !ok {
		return mcp.CacheFields{}
	}
	ttl := hint.TTL.Milliseconds()
	scope := hint.Scope
	if scope == "" {
		scope = mcp.CachePrivate
	}
	return mcp.CacheFields{TTLMs: &ttl, CacheScope: scope}
}

// readCache fills in the cache fields that a handler left open in its result. A
// scope is never widened: without a TTL of its own a result gets the server's
// default, and a TTL of its own without a scope is private.
//
// Spec: 2026-07-28 server/utilities/caching#time-to-live-ttl-field.
func (s *Server) readCache(method string, own mcp.CacheFields) mcp.CacheFields {
	if own.TTLMs == nil {
		fields := s.cacheFields(method)
		if own.CacheScope != "" {
			fields.CacheScope = own.CacheScope
		}
		return fields
	}
	if *own.TTLMs < 0 {
		own.TTLMs = new(int64)
	}
	if own.CacheScope == "" {
		own.CacheScope = mcp.CachePrivate
	}
	return own
}
