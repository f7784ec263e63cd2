package server

import (
	"context"
	"slices"
	"sync"

	"github.com/parley-mcp/parley/mcp"
)

// Hub carries changes from where they happen to their watchers. NewHub makes
// one for a process. One that several nodes share makes a change on one node
// known to the clients of all. Its methods may be called concurrently.
type Hub interface {
	// Publish makes a change known. It must not block for long: it is called by
	// the code that changes a feature.
	Publish(change mcp.Change)
	// Subscribe calls deliver for each change that the filter asks for, until
	// stop is called. deliver does not block, and does not call stop; it may
	// be called concurrently, and never after stop has returned. stop may be
	// called more than once.
	Subscribe(filter mcp.SubscriptionFilter, deliver func(mcp.Change)) (stop func())
}

// NewHub returns a Hub for one process. The cost of a change grows with the
// number of its own watchers, not with the number of all watchers.
func NewHub() Hub {
	return &localHub{interested: map[mcp.Change]map[*subscriber]struct{}{}}
}

// localHub knows the subscribers of each change.
type localHub struct {
	mu         sync.RWMutex
	interested map[mcp.Change]map[*subscriber]struct{}
}

func (h *localHub) Publish(change mcp.Change) {
	for _, sub := range h.find(change) {
		if sub.enter() {
			sub.deliver(change)
			sub.leave()
		}
	}
}

func (h *localHub) find(change mcp.Change) []*subscriber {
	h.mu.RLock()
	defer h.mu.RUnlock()
	set := h.interested[change]
	subs := make([]*subscriber, 0, len(set))
	for sub := range set {
		subs = append(subs, sub)
	}
	return subs
}

func (h *localHub) Subscribe(filter mcp.SubscriptionFilter, deliver func(mcp.Change)) (stop func()) {
	sub := &subscriber{deliver: deliver}
	changes := changesOf(filter)
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, c := range changes {
		if h.interested[c] == nil {
			h.interested[c] = map[*subscriber]struct{}{}
		}
		h.interested[c][sub] = struct{}{}
	}
	return func() {
		h.forget(sub, changes)
		sub.stop()
	}
}

func (h *localHub) forget(sub *subscriber, changes []mcp.Change) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, c := range changes {
		delete(h.interested[c], sub)
		if len(h.interested[c]) == 0 {
			delete(h.interested, c)
		}
	}
}

// changesOf lists the changes that a filter asks for.
//
// Spec: 2026-07-28 basic/patterns/subscriptions#notification-filter.
func changesOf(f mcp.SubscriptionFilter) []mcp.Change {
	var changes []mcp.Change
	for _, kind := range []mcp.ChangeKind{mcp.ToolsChanged, mcp.PromptsChanged, mcp.ResourcesChanged} {
		if c := (mcp.Change{Kind: kind}); f.Matches(c) {
			changes = append(changes, c)
		}
	}
	for _, uri := range f.ResourceSubscriptions {
		changes = append(changes, mcp.Change{Kind: mcp.ResourceUpdated, URI: uri})
	}
	for _, id := range f.TaskIDs {
		changes = append(changes, mcp.Change{Kind: mcp.TaskChanged, URI: id})
	}
	return changes
}

// subscriber counts the deliveries under way, so that stop can wait for them
// without a lock held while deliver runs.
type subscriber struct {
	deliver func(mcp.Change)

	mu      sync.Mutex
	stopped bool
	active  int
	idle    []chan struct{} // closed when active falls to 0
}

func (s *subscriber) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return false
	}
	s.active++
	return true
}

func (s *subscriber) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.active--
	if s.active == 0 {
		for _, c := range s.idle {
			close(c)
		}
		s.idle = nil
	}
}

// stop returns once no delivery is under way, and none will follow.
func (s *subscriber) stop() {
	s.mu.Lock()
	s.stopped = true
	if s.active == 0 {
		s.mu.Unlock()
		return
	}
	idle := make(chan struct{})
	s.idle = append(s.idle, idle)
	s.mu.Unlock()
	<-idle
}

// watch subscribes the client of an exchange to changes. Resources that the
// client may not read are left out, and so are those that cannot be watched, and
// all resources without Options.Subscriptions, and tasks of others.
//
// Spec: 2026-07-28 basic/patterns/subscriptions#acknowledgment.
// Spec: 2026-07-28 basic/patterns/subscriptions#notification-filter.
func (s *Server) watch(ctx context.Context, x *mcp.Exchange) (any, error) {
	filter := x.Watch.Filter
	uris := slices.Clone(filter.ResourceSubscriptions)
	slices.Sort(uris)
	uris = slices.DeleteFunc(slices.Compact(uris), func(uri string) bool { return !s.watchable(ctx, x, uri) })
	filter.ResourceSubscriptions = uris
	var err error
	if filter.TaskIDs, err = s.tasks.watchable(ctx, x, filter.TaskIDs); err != nil {
		return nil, err
	}
	// Subscribing first makes sure that no change is missed while a watch
	// starts.
	unsubscribe := s.hub.Subscribe(filter, x.Watch.Deliver)
	if s.opts.WatchResource == nil {
		return &mcp.Watching{Filter: filter, Stop: unsubscribe}, nil
	}
	if watched := s.startWatches(uris); len(watched) < len(uris) {
		filter.ResourceSubscriptions, uris = watched, watched
		all := unsubscribe
		unsubscribe = s.hub.Subscribe(filter, x.Watch.Deliver)
		all()
	}
	var once sync.Once
	stop := func() {
		unsubscribe()
		release := false
		once.Do(func() { release = true })
		for i := 0; release && i < len(uris); i++ {
			s.watches.add(uris[i], -1)
		}
	}
	return &mcp.Watching{Filter: filter, Stop: stop}, nil
}

// startWatches begins to watch resources and returns those that can be watched.
// Nothing would ever be told of the others.
func (s *Server) startWatches(uris []string) []string {
	watched := make([]string, 0, len(uris))
	for _, uri := range uris {
		if s.watches.add(uri, 1) {
			watched = append(watched, uri)
		} else {
			s.watches.add(uri, -1)
		}
	}
	return watched
}

// watchable reports whether the client of an exchange may watch a resource. One
// that is hidden must not look different from one that does not exist.
func (s *Server) watchable(ctx context.Context, x *mcp.Exchange, uri string) bool {
	switch {
	case !s.opts.Subscriptions:
		return false
	case s.opts.Visible == nil:
		return true
	}
	_, ok := s.skills.file(&s.resources, uri)
	if (ok || s.skills.index().around(uri) != nil) && s.visible(ctx, x, mcp.ResourceFeature, uri) {
		return true
	}
	return slices.ContainsFunc(s.templates.load().plans, func(t *template) bool {
		return t.match(uri) != nil && s.visible(ctx, x, mcp.TemplateFeature, t.key())
	})
}
