package client

import (
	"container/list"
	"encoding/json"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parley-mcp/parley/mcp"
)

// Cache keeps results for as long as servers say they stay fresh. Clients can
// share one: results that a server marks as public are served to all clients of that
// server, private ones only to calls with the credentials that they were fetched
// with. Calls without credentials of their own, over HTTP or over another transport,
// share private results with the calls of the same connection. Private results are not
// kept at all where the credentials are not known: see streamable.Client.HTTP, and
// transports that are not of this module. Results are kept as bytes and decoded anew
// for each caller. It is safe for concurrent use.
//
// Spec: 2026-07-28 server/utilities/caching.
type Cache struct {
	limit int64

	mu      sync.Mutex
	size    int64
	entries map[string]*list.Element // of *entry
	recent  *list.List               // most recently used first
	changes map[string]uint64        // by server: the number of changes so far
	links   atomic.Int64
}

type entry struct {
	key     string
	topic   mcp.Change
	server  string
	link    string // the connection that fetched it
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

func (c *Cache) fresh(key string) *entry {
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
	return e
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

// Len returns how many results the cache holds.
func (c *Cache) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.entries)
}
