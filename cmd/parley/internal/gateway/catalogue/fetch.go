package catalogue

import (
	"context"
	"encoding/json"
	"errors"
	"time"
	"weak"

	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// fetch asks the backend.
func (l *list) fetch(ctx context.Context, f *flight, k shareKey, s *share, peer *mcp.Peer) {
	ctx, cancel := context.WithTimeoutCause(ctx, l.catalogue.opts.Patience, errSlow)
	defer cancel()
	defer f.cancel()
	stop := context.AfterFunc(l.catalogue.ctx, cancel) //nolint:contextcheck // the catalogue ends its requests
	defer stop()
	pages, err := l.source.Lister.List(ctx, peer, l.method.Name)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if isAbsent(err) {
		pages, err = nil, nil
	}
	if l.settle(f, k, s, pages, err) {
		if !f.private {
			peer = nil
		}
		l.catalogue.opts.Late(l.source.Names.Name(), peer, l.method.Change)
	}
	close(f.done)
}

// isAbsent reports whether an error says that the backend does not have the list.
func isAbsent(err error) bool {
	var rpc *jsonrpc.Error
	var missing *mcp.MethodNotFoundError
	return errors.As(err, &missing) || errors.As(err, &rpc) && rpc.Code == jsonrpc.CodeMethodNotFound
}

// settle keeps an answer. It reports whether somebody who has gone without it has missed
// something.
func (l *list) settle(f *flight, k shareKey, s *share, pages []json.RawMessage, err error) (late bool) {
	took := time.Since(f.begun)
	var c *content
	if err == nil {
		c = l.contentOf(pages)
	}
	h := hintsOf(pages)
	notifies := l.source.notifies(l.method.Change)
	l.mu.Lock()
	defer l.mu.Unlock()
	s.running--
	s.slow = took > l.catalogue.opts.Timeout
	if s.flight == f {
		s.flight = nil
	}
	delete(l.flights, f)
	if f.forgotten {
		c, err = nil, errForgotten
	}
	f.content, f.err = c, err
	if err != nil {
		return false
	}
	f.private = h.scope != mcp.CachePublic
	had := s.content
	if k.public == f.private {
		s = l.move(!f.private, f.who)
	}
	if s.received.After(f.begun) { // another answer is newer
		return false
	}
	s.content, s.scope, s.received, s.changed = c, h.scope, time.Now(), f.outdated
	switch {
	case h.ttl >= 0:
		s.expires = s.received.Add(h.ttl)
	case notifies:
		s.expires = time.Time{}
	default:
		s.expires = s.received.Add(l.catalogue.opts.Default)
	}
	if least := s.received.Add(l.catalogue.opts.Default); s.slow && !s.expires.IsZero() && s.expires.Before(least) {
		s.expires = least // those who are told that it is there must find it
	}
	return f.left && c != had
}

// move returns where an answer is kept whose scope is another than that of the last one:
// for everybody, or for some alone. The caller holds l.mu.
func (l *list) move(public bool, whose who) *share {
	to := shareKey{public: public}
	if public {
		clear(l.shares)
	} else {
		delete(l.shares, shareKey{public: true})
		to.who = whose
	}
	s := l.shares[to]
	if s == nil {
		s = &share{used: time.Now()}
		l.shares[to] = s
	}
	return s
}

// contentOf returns what pages hold: what is there already, if they hold the same.
func (l *list) contentOf(pages []json.RawMessage) *content {
	sum := digestOf(l.method.Name, pages)
	l.mu.Lock()
	c := l.contents[sum].Value()
	l.mu.Unlock()
	if c != nil {
		return c
	}
	c = l.read(sum, pages)
	l.mu.Lock()
	defer l.mu.Unlock()
	if had := l.contents[sum].Value(); had != nil {
		return had
	}
	for sum, p := range l.contents {
		if p.Value() == nil {
			delete(l.contents, sum)
		}
	}
	if l.contents == nil {
		l.contents = map[digest]weak.Pointer[content]{}
	}
	l.contents[sum] = weak.Make(c)
	return c
}
