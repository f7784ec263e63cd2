// Package reads keeps what resources were read, for as long as their backends allow:
// for everybody, or for those alone who asked as the same. It is bounded in bytes. What
// several ask for at the same time is fetched once.
package reads

import (
	"container/list"
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/parley-mcp/parley/mcp"
)

// Asked is a request for a resource.
type Asked struct {
	Backend string
	// Key identifies those who may share what is for its reader alone.
	Key string
	URI string
}

// Cache keeps what was read. Its methods may be called concurrently.
type Cache struct {
	mu      sync.Mutex
	most    int64
	size    int64
	entries map[place]*list.Element // of *entry
	used    list.List               // the latest first
	flights map[place]*flight
	changes map[string]uint64 // by the backend
}

// place is where an answer is kept.
type place struct {
	backend, uri string
	public       bool
	key          string // if not public
}

// entry is an answer. One without a result stands for a resource that cannot be kept.
type entry struct {
	at      place
	result  json.RawMessage
	expires time.Time
}

// flight is a request that others wait for.
type flight struct {
	at   place
	done chan struct{}
}

const (
	// overhead is about what an entry takes beside its texts.
	overhead = 200
	// share is how much of the cache one result may take.
	share = 8
)

// New returns a cache of that many bytes; 0 keeps nothing.
func New(most int64) *Cache {
	return &Cache{most: most, entries: map[place]*list.Element{}, flights: map[place]*flight{}, changes: map[string]uint64{}}
}

// Resize changes how many bytes the cache may have.
func (c *Cache) Resize(most int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.most = most
	c.makeRoom()
}

// Size returns how many bytes the cache has.
func (c *Cache) Size() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.size
}

// Read returns what was read not long ago, or fetches it. The time for which a client may
// keep what was read is what is left of it.
//
// Spec: 2026-07-28 server/utilities/caching#cache-scope-field.
func (c *Cache) Read(ctx context.Context, a Asked, fetch func(context.Context) (any, error)) (any, error) {
	for waited := false; ; waited = true {
		kept, f, mine := c.look(a, waited)
		switch {
		case kept != nil:
			return kept, nil
		case f == nil:
			return c.fetch(ctx, a, fetch)
		case mine:
			defer c.land(f)
			return c.fetch(ctx, a, fetch)
		}
		select {
		case <-f.done:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// look returns what is kept, or the request to wait for, which is mine if there was none.
// Nobody waits twice, nor for what cannot be kept.
func (c *Cache) look(a Asked, waited bool) (kept json.RawMessage, f *flight, mine bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := place{backend: a.Backend, uri: a.URI, public: true}
	e := c.entry(at)
	if e == nil {
		at.public, at.key = false, a.Key
		e = c.entry(at)
	}
	if e != nil {
		if kept = e.left(time.Now()); kept != nil {
			return kept, nil, false
		}
	}
	if waited || c.most <= 0 || e != nil && e.result == nil {
		return nil, nil, false
	}
	if f = c.flights[at]; f != nil {
		return nil, f, false
	}
	f = &flight{at, make(chan struct{})}
	c.flights[at] = f
	return nil, f, true
}

func (c *Cache) entry(at place) *entry {
	element := c.entries[at]
	if element == nil {
		return nil
	}
	c.used.MoveToFront(element)
	return of(element)
}

func of(element *list.Element) *entry {
	e, _ := element.Value.(*entry) // there is nothing else
	return e
}

// land ends a request that others wait for.
func (c *Cache) land(f *flight) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.flights, f.at)
	close(f.done)
}

// fetch asks the backend, and keeps what it may, unless something has changed meanwhile.
func (c *Cache) fetch(ctx context.Context, a Asked, fetch func(context.Context) (any, error)) (any, error) {
	c.mu.Lock()
	before := c.changes[a.Backend]
	c.mu.Unlock()
	result, err := fetch(ctx)
	raw, ok := result.(json.RawMessage)
	if err != nil || !ok {
		return result, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.changes[a.Backend] == before && c.most > 0 {
		c.keep(a, raw)
	}
	return result, nil
}

// keep keeps a result, or that it cannot be kept. What was everybody's and is not any more
// is nobody's, and the other way round. The caller holds c.mu.
func (c *Cache) keep(a Asked, raw json.RawMessage) {
	ttl, scope := hintsOf(raw)
	public := place{backend: a.Backend, uri: a.URI, public: true}
	at := place{backend: a.Backend, uri: a.URI, key: a.Key}
	c.remove(public)
	c.remove(at)
	e := &entry{at: at}
	if ttl > 0 && int64(len(raw)) <= c.most/share {
		e.result, e.expires = append(json.RawMessage(nil), raw...), time.Now().Add(ttl)
		if scope == mcp.CachePublic {
			e.at = public
		}
	}
	c.entries[e.at] = c.used.PushFront(e)
	c.size += e.size()
	c.makeRoom()
}

// makeRoom forgets what has not been asked for the longest. The caller holds c.mu.
func (c *Cache) makeRoom() {
	for c.size > c.most && c.used.Len() > 0 {
		c.remove(of(c.used.Back()).at)
	}
}

func (c *Cache) remove(at place) {
	if element := c.entries[at]; element != nil {
		delete(c.entries, at)
		c.used.Remove(element)
		c.size -= of(element).size()
	}
}

// Changed forgets a resource of a backend, or with "" all of them. What is being read now
// is not kept.
//
// Spec: 2026-07-28 server/utilities/caching#interaction-with-notifications.
func (c *Cache) Changed(backend, uri string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changes[backend]++
	for at := range c.entries {
		if at.backend == backend && (uri == "" || at.uri == uri) {
			c.remove(at)
		}
	}
}
