package client

import (
	"container/list"
	"encoding/json"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// Cache keeps results for as long as servers say they stay fresh. Clients can
// share one: results that a server marks as public are served to all clients of that
// server, private ones only to the client that fetched them. Results are kept as
// bytes and decoded anew for each caller. It is safe for concurrent use.
//
// Spec: 2026-07-28 server/utilities/caching.
type Cache struct {
	limit int64

	mu      sync.Mutex
	size    int64
	entries map[string]*list.Element // of *entry
	recent  *list.List               // most recently used first
	changes map[string]uint64        // by server: the number of changes so far
	scopes  atomic.Int64
}

type entry struct {
	key     string
	topic   mcp.Change
	server  string
	result  json.RawMessage
	expires time.Time
}

// defaultCacheBytes is the default size of a Cache.
const defaultCacheBytes = 8 << 20

// NewCache returns a cache that holds results of at most maxBytes in total; the
// least recently used are evicted first. 0 means 8 MiB.
func NewCache(maxBytes int64) *Cache {
	if maxBytes <= 0 {
		maxBytes = defaultCacheBytes
	}
	return &Cache{limit: maxBytes, entries: map[string]*list.Element{}, recent: list.New(), changes: map[string]uint64{}}
}

// scope returns the view that one client of one server has of the cache.
func (c *Cache) scope(server string) *scopedCache {
	return &scopedCache{cache: c, server: server, own: strconv.FormatInt(c.scopes.Add(1), 10)}
}

type scopedCache struct {
	cache       *Cache
	server, own string
}

// cacheKey identifies a request whose result may be reused, and records the number
// of changes when it was sent. The zero key stands for a request that must not be
// cached.
type cacheKey struct {
	request string
	topic   mcp.Change
	changes uint64
}

// topicOf returns the change that makes the result of a request stale, and whether
// the result may be kept at all.
func topicOf(method string, params json.RawMessage) (mcp.Change, bool) {
	m := mcp.MethodNamed(method)
	if m == nil || !m.Cacheable {
		return mcp.Change{}, false
	}
	return mcp.Change{Kind: m.Change, URI: m.SubjectOf(params)}, true
}

// get returns the key of a request, and its result if there is a fresh one.
func (s *scopedCache) get(req *Request) (cacheKey, json.RawMessage) {
	if s == nil {
		return cacheKey{}, nil
	}
	topic, cacheable := topicOf(req.Method, req.Params)
	if !cacheable || hasMember(req.Params, "inputResponses") || hasMember(req.Params, "requestState") {
		return cacheKey{}, nil // Spec: 2026-07-28 server/utilities/caching#cache-key.
	}
	params := req.Params
	if params == nil {
		params = json.RawMessage("{}")
	}
	canonical, err := wire.Canonical(params)
	if err != nil {
		return cacheKey{}, nil
	}
	c := s.cache
	c.mu.Lock()
	defer c.mu.Unlock()
	key := cacheKey{
		request: s.server + "\x00" + req.Revision.String() + "\x00" + req.Method + "\x00" + string(canonical),
		topic:   topic,
		changes: c.changes[s.server],
	}
	if req.opts.fresh {
		return key, nil
	}
	if r := c.fresh(key.request + "\x00"); r != nil {
		return key, r
	}
	return key, c.fresh(key.request + "\x00" + s.own)
}

func (c *Cache) fresh(key string) json.RawMessage {
	el, ok := c.entries[key]
	if !ok {
		return nil
	}
	e := el.Value.(*entry) //nolint:forcetypeassert // the list holds nothing else
	if !time.Now().Before(e.expires) {
		c.drop(el)
		return nil
	}
	c.recent.MoveToFront(el)
	return e.result
}

// put keeps a result if the server allows it and has announced no change since the
// request was sent.
//
// Spec: 2026-07-28 server/utilities/caching#freshness-calculation.
func (s *scopedCache) put(key cacheKey, result json.RawMessage) {
	if s == nil || key.request == "" {
		return
	}
	var hints mcp.CacheFields
	if wire.Unmarshal(result, &hints) != nil || hints.TTLMs == nil || *hints.TTLMs <= 0 {
		return
	}
	e := &entry{key: key.request + "\x00" + s.own, topic: key.topic, server: s.server, result: append(json.RawMessage(nil), result...)}
	if hints.CacheScope == mcp.CachePublic {
		e.key = key.request + "\x00"
	}
	const longest = int64(24 * time.Hour / time.Millisecond)
	e.expires = time.Now().Add(time.Duration(min(*hints.TTLMs, longest)) * time.Millisecond)
	c := s.cache
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.changes[s.server] == key.changes {
		c.add(e)
	}
}

func (c *Cache) add(e *entry) {
	if old, ok := c.entries[e.key]; ok {
		c.drop(old)
	}
	if e.bytes() > c.limit {
		return
	}
	c.entries[e.key] = c.recent.PushFront(e)
	c.size += e.bytes()
	for c.size > c.limit {
		c.drop(c.recent.Back())
	}
}

func (e *entry) bytes() int64 { return int64(len(e.key) + len(e.result) + 128) }

func (c *Cache) drop(el *list.Element) {
	e := c.recent.Remove(el).(*entry) //nolint:forcetypeassert // the list holds nothing else
	delete(c.entries, e.key)
	c.size -= e.bytes()
}

// changed drops the cached results of a topic.
//
// Spec: 2026-07-28 server/utilities/caching#interaction-with-notifications.
func (s *scopedCache) changed(topic mcp.Change) {
	if s == nil {
		return
	}
	s.forget(func(e *entry) bool { return e.topic == topic })
	s.cache.mu.Lock()
	defer s.cache.mu.Unlock()
	s.cache.changes[s.server]++
}

// refused drops the cached pages of a list whose cursor the server no longer
// accepts: the cursor may have come from one of them.
//
// Spec: 2026-07-28 server/utilities/caching#interaction-with-pagination.
func (s *scopedCache) refused(req *Request, err error) {
	var rpc *jsonrpc.Error
	if s == nil || !errors.As(err, &rpc) || rpc.Code != jsonrpc.CodeInvalidParams || !hasMember(req.Params, "cursor") {
		return
	}
	if topic, cacheable := topicOf(req.Method, req.Params); cacheable {
		s.changed(topic)
	}
}

// hasMember reports whether a document is an object with a member. A document that
// is not valid JSON is refused later, when it is sent.
func hasMember(doc json.RawMessage, member string) bool {
	for name := range wire.Each(doc) {
		if string(name) == member {
			return true
		}
	}
	return false
}

// forgetAll drops everything cached from the server.
func (s *scopedCache) forgetAll() {
	if s != nil {
		s.forget(func(*entry) bool { return true })
	}
}

func (s *scopedCache) forget(which func(*entry) bool) {
	c := s.cache
	c.mu.Lock()
	defer c.mu.Unlock()
	for el := c.recent.Front(); el != nil; {
		next := el.Next()
		if e, ok := el.Value.(*entry); ok && e.server == s.server && which(e) {
			c.drop(el)
		}
		el = next
	}
}

// Len returns how many results the cache holds.
func (c *Cache) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.entries)
}
