package client

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/parley-mcp/parley/internal/caching"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// scope returns the view that one client of one server has of the cache.
func (c *Cache) scope(server string) *scopedCache { return &scopedCache{cache: c, server: server} }

type scopedCache struct {
	cache  *Cache
	server string
}

// cacheLink is what the cache knows of one connection.
type cacheLink struct {
	caching.Link
	own string // its name in the cache
}

// link returns a new link, for a connection that is about to be made.
func (s *scopedCache) link() *cacheLink {
	l := new(cacheLink)
	if s != nil {
		l.own = "connection " + strconv.FormatInt(s.cache.links.Add(1), 10)
	}
	return l
}

// asker returns who asks when a call with this context is made now; "" means that it
// is not known.
//
// Spec: 2026-07-28 server/utilities/caching#cache-scope-field.
func (l *cacheLink) asker(ctx context.Context) string {
	id, known := l.Who(ctx)
	switch {
	case !known:
		return ""
	case id == "":
		return l.own
	}
	return id
}

// cacheKey identifies a request whose result may be reused, and records who asked,
// and the number of changes, when it was sent. The zero key stands for a request that
// must not be cached.
type cacheKey struct {
	request string
	asker   string
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
	topic := mcp.Change{Kind: m.Change}
	if topic.Kind == mcp.ResourceUpdated {
		topic.URI = m.SubjectOf(params)
	}
	return topic, true
}

// get returns the key of a request, and its result if there is a fresh one.
func (s *scopedCache) get(ctx context.Context, req *Request, l *cacheLink) (cacheKey, json.RawMessage) {
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
	key := cacheKey{
		request: s.server + "\x00" + req.Revision.String() + "\x00" + req.Method + "\x00" + string(canonical),
		asker:   l.asker(ctx),
		topic:   topic,
	}
	e := s.find(&key, req.opts.fresh)
	if e == nil {
		return key, nil
	}
	if req.Method == mcp.MethodListTools && e.link != l.own && l.Listed != nil {
		l.Listed(e.result)
	}
	return key, e.result
}

// find returns the fresh entry for a request, or nil, and notes the number of changes.
func (s *scopedCache) find(key *cacheKey, anew bool) *entry {
	c := s.cache
	c.mu.Lock()
	defer c.mu.Unlock()
	key.changes = c.changes[s.server]
	if anew {
		return nil
	}
	if e := c.fresh(key.request + "\x00"); e != nil || key.asker == "" {
		return e
	}
	return c.fresh(key.request + "\x00" + key.asker)
}

// longestTTL bounds how long something may be kept, in milliseconds.
const longestTTL = int64(24 * time.Hour / time.Millisecond)

// put keeps a result if the server allows it and has announced no change since the
// request was sent. A result that is private must have been asked for by one who is
// known, and who has not become another in the meantime.
//
// Spec: 2026-07-28 server/utilities/caching#freshness-calculation.
func (s *scopedCache) put(ctx context.Context, key cacheKey, l *cacheLink, result json.RawMessage) {
	if s == nil || key.request == "" {
		return
	}
	var hints mcp.CacheFields
	if wire.Unmarshal(result, &hints) != nil || hints.TTLMs == nil || *hints.TTLMs <= 0 {
		return
	}
	e := &entry{key: key.request + "\x00", topic: key.topic, server: s.server, link: l.own, result: append(json.RawMessage(nil), result...)}
	if hints.CacheScope != mcp.CachePublic {
		if key.asker == "" || key.asker != l.asker(ctx) {
			return
		}
		e.key += key.asker
	}
	e.expires = time.Now().Add(time.Duration(min(*hints.TTLMs, longestTTL)) * time.Millisecond)
	c := s.cache
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.changes[s.server] != key.changes {
		return
	}
	if public, ok := c.entries[key.request+"\x00"]; ok {
		c.drop(public) // it is outdated, and would be found first
	}
	c.add(e)
}

// changed drops the cached results of a topic. A resource that was updated may be a
// part of one that is watched: watched are the resources of which it may be a part.
//
// Spec: 2026-07-28 server/utilities/caching#interaction-with-notifications.
// Spec: 2026-07-28 basic/patterns/subscriptions#notification-filter.
func (s *scopedCache) changed(topic mcp.Change, watched ...string) {
	if s == nil {
		return
	}
	if slices.ContainsFunc(watched, func(uri string) bool { return isPart(topic.URI, uri) }) {
		watched = nil // it is known of which it is a part
	}
	s.forget(func(e *entry) bool {
		if e.topic == topic {
			return true
		}
		return e.topic.Kind == topic.Kind && (isPart(topic.URI, e.topic.URI) || slices.Contains(watched, e.topic.URI))
	})
	s.cache.mu.Lock()
	defer s.cache.mu.Unlock()
	s.cache.changes[s.server]++
}

// isPart reports whether a URI is that of a resource, or is below it.
func isPart(uri, of string) bool {
	rest, below := strings.CutPrefix(uri, of)
	return below && (rest == "" || strings.HasSuffix(of, "/") || strings.ContainsRune("/?#", rune(rest[0])))
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
