package server

import (
	"cmp"
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
	case !knownScope(h.Scope):
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

// readCache returns the cache fields of what x reads. It fills in what the
// handler left open in its own. A scope is never widened: without a TTL of its
// own a result gets the server's default, and a TTL of its own without a scope is
// private. What a client reads with the answers to earlier questions depends on
// them, so nobody may reuse it.
//
// Spec: 2026-07-28 server/utilities/caching#time-to-live-ttl-field.
// Spec: 2026-07-28 server/utilities/caching#cache-key.
func (s *Server) readCache(x *mcp.Exchange, own mcp.CacheFields) (mcp.CacheFields, error) {
	switch {
	case own.TTLMs != nil && *own.TTLMs < 0:
		return own, fmt.Errorf("negative ttlMs %d", *own.TTLMs)
	case !knownScope(own.CacheScope):
		return own, fmt.Errorf("unknown cacheScope %q", own.CacheScope)
	case x.Answers != nil || x.State != nil:
		return mcp.CacheFields{TTLMs: new(int64), CacheScope: mcp.CachePrivate}, nil
	case own.TTLMs == nil:
		fields := s.cacheFields(x.Method)
		fields.CacheScope = cmp.Or(own.CacheScope, fields.CacheScope)
		return fields, nil
	}
	own.CacheScope = cmp.Or(own.CacheScope, mcp.CachePrivate)
	return own, nil
}

// knownScope reports whether a scope exists; "" leaves the choice to the server.
func knownScope(scope mcp.CacheScope) bool {
	return scope == "" || scope == mcp.CachePublic || scope == mcp.CachePrivate
}
