package client

import (
	"context"

	"github.com/parley-mcp/parley/internal/era"
	"github.com/parley-mcp/parley/mcp"
)

// openSession subscribes in a session: changes of lists are announced there anyway,
// and resources are subscribed to one by one.
func (s *Subscription) openSession(ctx context.Context, l *live) error {
	s.honoured = era.Honoured(s.filter, &l.offered().caps)
	c := s.c
	if isClosed(l.unheard()) {
		c.opts.Logger.Warn("the server announces changes and refuses to stream them", "server", c.transport.Name())
		s.honoured = mcp.SubscriptionFilter{}
	}
	c.subs.mu.Lock()
	if c.subs.sessions == nil {
		c.subs.sessions = make(map[*Subscription]bool)
	}
	c.subs.sessions[s] = true
	c.subs.mu.Unlock()
	for i, uri := range s.honoured.ResourceSubscriptions {
		if err := c.watchResource(ctx, uri); err != nil {
			s.leaveSession(s.honoured.ResourceSubscriptions[:i])
			return err
		}
	}
	started := c.spawn(func() { // ends with the subscription or the client
		s.outlive(l)
		s.leaveSession(s.honoured.ResourceSubscriptions)
		close(s.done)
	})
	if !started {
		return ErrClosed
	}
	return nil
}

func (s *Subscription) leaveSession(uris []string) {
	s.c.subs.mu.Lock()
	delete(s.c.subs.sessions, s)
	s.c.subs.mu.Unlock()
	for _, uri := range uris {
		s.c.unwatchResource(uri)
	}
}

func (c *Client) watchResource(ctx context.Context, uri string) error {
	c.subs.mu.Lock()
	if c.subs.uris == nil {
		c.subs.uris = make(map[string]int)
	}
	c.subs.uris[uri]++
	first := c.subs.uris[uri] == 1
	c.subs.mu.Unlock()
	if !first {
		return nil
	}
	_, err := c.Do(ctx, mcp.MethodSubscribe, mcp.SubscribeParams{URI: uri})
	if err != nil {
		c.subs.release(uri) // the next subscription asks the server again
	}
	return err
}

// release removes one subscription to a resource from the count, and reports whether
// it was the last.
func (r *subscriptions) release(uri string) (last bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.uris[uri]--
	if last = r.uris[uri] == 0; last {
		delete(r.uris, uri)
	}
	return last
}

func (c *Client) unwatchResource(uri string) {
	if last := c.subs.release(uri); !last || c.ctx.Err() != nil {
		return
	}
	if _, err := c.Do(c.ctx, mcp.MethodUnsubscribe, mcp.SubscribeParams{URI: uri}); err != nil {
		c.opts.Logger.Debug("resource not unsubscribed", "uri", uri, "error", err)
	}
}
