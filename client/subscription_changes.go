package client

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/parley-mcp/parley/internal/era"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// subscriptions routes notifications to the subscriptions they belong to.
type subscriptions struct {
	mu       sync.Mutex
	byID     map[jsonrpc.ID]*Subscription // stateless: by the listen request
	sessions map[*Subscription]bool
	uris     map[string]*watched // session: the resources that are subscribed to
}

func (r *subscriptions) route(id jsonrpc.ID, s *Subscription) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.byID == nil {
		r.byID = make(map[jsonrpc.ID]*Subscription)
	}
	r.byID[id] = s
}

func (r *subscriptions) unroute(id jsonrpc.ID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.byID, id)
}

// owner finds the subscription that a notification is tagged with. One without a tag
// belongs to the subscription on whose stream it came, or else to the only one that
// fits; tagged is false then.
func (r *subscriptions) owner(ctx context.Context, m *jsonrpc.Message, fits func(*Subscription) bool) (s *Subscription, tagged bool) {
	var meta struct {
		ID *jsonrpc.ID `json:"io.modelcontextprotocol/subscriptionId"`
	}
	tagged = m.Meta != nil && wire.Unmarshal(m.Meta, &meta) == nil && meta.ID != nil
	r.mu.Lock()
	defer r.mu.Unlock()
	if tagged {
		if number, ok := era.Number(*meta.ID); ok {
			meta.ID = &number // as a careless server returns it
		}
		return r.byID[*meta.ID], true
	}
	if s, ok := ctx.Value(streamKey{}).(*Subscription); ok {
		return s, false
	}
	for _, candidate := range r.byID {
		switch {
		case !fits(candidate):
		case s != nil:
			return nil, false
		default:
			s = candidate
		}
	}
	return s, false
}

// streamKey is where the context of a listen request has its subscription.
type streamKey struct{}

func (r *subscriptions) acknowledged(ctx context.Context, m *jsonrpc.Message) mcp.DropReason {
	s, _ := r.owner(ctx, m, (*Subscription).waits)
	var p mcp.AcknowledgedParams
	switch {
	case s == nil:
		return mcp.DropNoSubscription
	case unmarshal(m.Params, &p) != nil:
		return mcp.DropMalformed
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.honoured = p.Notifications
	if s.acked != nil {
		close(s.acked)
		s.acked = nil
	}
	return 0
}

// changed invalidates the cache and reports a change to the subscription that the
// notification is tagged with, or, in a session, to all whose filter matches. It
// returns the reason if no subscription gets the change, or 0.
func (c *Client) changed(ctx context.Context, m *jsonrpc.Message, change mcp.Change) mcp.DropReason {
	wants := func(s *Subscription) bool { return s.wants(change) }
	s, tagged := c.subs.owner(ctx, m, wants)
	c.cache.changed(change, c.subs.watched(s)...)
	if change.Kind == mcp.ToolsChanged {
		c.tools.forget()
	}
	if s != nil {
		if !tagged {
			c.opts.Logger.Warn("the server reports a change without saying for which subscription", "server", c.transport.Name(), "method", m.Method)
		}
		if !s.wants(change) {
			return mcp.DropNoTaker
		}
		return s.tell(Event{Change: change})
	}
	reason := mcp.DropNoTaker
	c.subs.mu.Lock()
	defer c.subs.mu.Unlock()
	if wire.Find(m.Meta, mcp.MetaSubscriptionID) != nil || c.subs.wanted(wants) {
		reason = mcp.DropNoSubscription
	}
	for s := range c.subs.sessions {
		if !s.filter.Matches(change) {
			continue
		}
		if why := s.tell(Event{Change: change}); why == 0 || reason != 0 {
			reason = why
		}
	}
	return reason
}

// watched returns the resources that a subscription watches; nil stands for all that
// sessions have.
func (r *subscriptions) watched(s *Subscription) []string {
	if s != nil {
		return s.filter.ResourceSubscriptions
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Collect(maps.Keys(r.uris))
}

// wanted reports whether any subscription of the stateless era fits. The caller holds
// r.mu.
func (r *subscriptions) wanted(fits func(*Subscription) bool) bool {
	for _, s := range r.byID {
		if fits(s) {
			return true
		}
	}
	return false
}

// waits reports whether the subscription waits for the server to acknowledge it.
func (s *Subscription) waits() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.acked != nil
}

// wants reports whether the subscription asked for a change. The URI of a changed
// resource need not be in the filter: it may be that of a sub-resource.
//
// Spec: 2026-07-28 basic/patterns/subscriptions#notification-filter.
func (s *Subscription) wants(change mcp.Change) bool {
	if change.Kind == mcp.ResourceUpdated {
		return len(s.filter.ResourceSubscriptions) > 0
	}
	return s.filter.Matches(change)
}
