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

// watched is a resource that the session subscribes to.
type watched struct {
	users int  // subscriptions
	on    bool // the server has agreed
	// turn is held by who speaks to the server of it: who comes second has to know what the
	// server has said to the first.
	turn chan struct{}
}

// take counts a subscription to a resource.
func (r *subscriptions) take(uri string) *watched {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := r.uris[uri]
	if w == nil {
		w = &watched{turn: make(chan struct{}, 1)}
		if r.uris == nil {
			r.uris = make(map[string]*watched)
		}
		r.uris[uri] = w
	}
	w.users++
	return w
}

// watching reports whether the server has agreed to tell of a resource, and whether
// somebody wants that.
func (r *subscriptions) watching(w *watched) (on, wanted bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return w.on, w.users > 0
}

// settle notes what the server has said, and forgets what nobody wants.
func (r *subscriptions) settle(uri string, w *watched, on bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if w.on = on; w.users == 0 && !on && r.uris[uri] == w {
		delete(r.uris, uri)
	}
}

// release is the end of a subscription to a resource. It returns what the server has to
// be told of, or nil.
func (r *subscriptions) release(uri string) *watched {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := r.uris[uri]
	if w == nil {
		return nil
	}
	if w.users--; w.users > 0 {
		return nil
	}
	if !w.on {
		delete(r.uris, uri)
		return nil
	}
	return w
}

// watchResource returns when the server has agreed to tell of a resource.
func (c *Client) watchResource(ctx context.Context, uri string) error {
	w := c.subs.take(uri)
	err := c.subscribe(ctx, w, uri)
	if err != nil {
		c.unwatchResource(uri)
	}
	return err
}

func (c *Client) subscribe(ctx context.Context, w *watched, uri string) error {
	select {
	case w.turn <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-w.turn }()
	if on, _ := c.subs.watching(w); on {
		return nil
	}
	_, err := c.Do(ctx, mcp.MethodSubscribe, mcp.SubscribeParams{URI: uri})
	if err == nil {
		c.subs.settle(uri, w, true)
	}
	return err
}

func (c *Client) unwatchResource(uri string) {
	w := c.subs.release(uri)
	if w == nil || c.ctx.Err() != nil {
		return
	}
	select {
	case w.turn <- struct{}{}:
	case <-c.ctx.Done():
		return
	}
	defer func() { <-w.turn }()
	on, wanted := c.subs.watching(w)
	if wanted {
		return
	}
	if on {
		if _, err := c.Do(c.ctx, mcp.MethodUnsubscribe, mcp.SubscribeParams{URI: uri}); err != nil {
			c.opts.Logger.Debug("resource not unsubscribed", "uri", uri, "error", err)
		}
	}
	c.subs.settle(uri, w, false)
}
