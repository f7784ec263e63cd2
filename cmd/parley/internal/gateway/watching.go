package gateway

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// watching is what a client subscribes to that backends have.
type watching struct {
	view    *View
	x       mcp.Exchange // the request, as far as it outlives its answer
	deliver func(mcp.Change)

	mu      sync.Mutex
	parts   []watched
	refused error
	stopped bool
}

// watched is what a client subscribes to at one backend.
type watched struct {
	member *member
	filter mcp.SubscriptionFilter // in the names that the client knows
	stop   func()
}

func newWatching(v *View, x *mcp.Exchange) *watching {
	kept := mcp.Exchange{ID: x.ID, Method: x.Method, Peer: x.Peer, Back: x.Back}
	return &watching{view: v, x: kept, deliver: x.Watch.Deliver}
}

// waiting bounds how long a subscription waits for its backends. The connection of the
// client may not be read in the meantime.
const waiting = 3 * time.Second

// backends subscribes at all backends that have something of what was asked for. One that
// cannot be reached is subscribed to when it is there again. The error is why nothing was
// granted to a client that has asked for a single thing.
func (w *watching) backends(ctx context.Context, s *setup, p *part, asked mcp.SubscriptionFilter) error {
	var group sync.WaitGroup
	for _, m := range p.members {
		filter := s.names.Filter(m.names, asked)
		filter.ToolsListChanged, filter.PromptsListChanged, filter.ResourcesListChanged = false, false, false
		filter.ResourceSubscriptions = w.allowed(ctx, s, m, filter.ResourceSubscriptions)
		filter.TaskIDs = slices.DeleteFunc(filter.TaskIDs, func(id string) bool {
			return !w.view.g.owners.admits(m.names.Shown(mcp.TaskFeature, id), w.x.Peer.Principal)
		})
		if len(filter.ResourceSubscriptions)+len(filter.TaskIDs) > 0 {
			group.Go(func() { w.open(ctx, m, filter) })
		}
	}
	group.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(asked.ResourceSubscriptions)+len(asked.TaskIDs) == 1 && len(w.parts) == 0 {
		return w.refused
	}
	return nil
}

// allowed returns the resources that all guards let the client subscribe to.
func (w *watching) allowed(ctx context.Context, s *setup, m *member, uris []string) (kept []string) {
	for _, own := range uris {
		op, err := w.view.of(s, w.x.Peer.Principal).find(ctx, s, &w.x.Peer, mcp.ResourceFeature, m.names.Shown(mcp.ResourceFeature, own))
		if err == nil {
			op.Exchange, op.Method = &w.x, mcp.MethodNamed(mcp.MethodSubscribe)
			op.Params, err = wire.Marshal(mcp.SubscribeParams{URI: own})
		}
		if err == nil {
			_, err = guard.Chain(s.guards, allow)(ctx, &op.Operation)
		}
		if err != nil {
			w.refuse(err)
			continue
		}
		kept = append(kept, own)
	}
	return kept
}

// allow is the end of the chain where only the guards are asked.
func allow(context.Context, *guard.Operation) (any, error) { return struct{}{}, nil }

func (w *watching) refuse(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.refused = err
}

// open subscribes at one backend, in its own names.
func (w *watching) open(ctx context.Context, m *member, filter mcp.SubscriptionFilter) {
	x := behind(&w.x, m.names, nil)
	x.Watch = &mcp.Watch{Filter: filter, Deliver: func(c mcp.Change) {
		if c.Kind == mcp.ResourceUpdated {
			w.view.g.reads.Changed(m.backend.Name(), c.URI)
		}
		w.deliver(m.names.Change(c))
	}}
	ctx, cancel := context.WithTimeout(ctx, waiting)
	defer cancel()
	got, err := m.backend.Watch(ctx, x)
	if err != nil {
		w.view.g.opts.Logger.InfoContext(ctx, "not subscribed", "backend", m.backend.Name(), "error", err)
		w.refuse(failure(m.names, err))
		return
	}
	w.mu.Lock()
	stopped := w.stopped
	if !stopped {
		w.parts = append(w.parts, watched{m, m.names.Honoured(got.Filter), got.Stop})
	}
	w.mu.Unlock()
	if stopped {
		got.Stop()
	}
}

// granted adds what the backends have granted to a filter.
func (w *watching) granted(f mcp.SubscriptionFilter) mcp.SubscriptionFilter {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.parts {
		f.ResourceSubscriptions = append(f.ResourceSubscriptions, p.filter.ResourceSubscriptions...)
		f.TaskIDs = append(f.TaskIDs, p.filter.TaskIDs...)
	}
	return f
}

// move subscribes anew what another setup has put behind other connections, and says that
// it may have changed.
func (w *watching) move(s *setup) {
	p := w.view.of(s, w.x.Peer.Principal).part(s, w.x.Peer.Principal)
	var left []watched
	w.mu.Lock()
	stay := w.parts[:0:0]
	for _, part := range w.parts {
		if p != nil && p.member(part.member.backend.Name()) != nil && p.member(part.member.backend.Name()).backend == part.member.backend {
			stay = append(stay, part)
		} else {
			left = append(left, part)
		}
	}
	w.parts = stay
	w.mu.Unlock()
	for _, part := range left {
		part.stop()
		if p != nil {
			_ = w.backends(context.Background(), s, p, part.filter) // what is gone is gone
		}
		w.tell(part.filter.ResourceSubscriptions)
	}
}

// tell says that resources may have changed.
func (w *watching) tell(uris []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, uri := range uris {
		if !w.stopped {
			w.deliver(mcp.Change{Kind: mcp.ResourceUpdated, URI: uri})
		}
	}
}

// stop ends the subscriptions at the backends.
func (w *watching) stop() {
	w.mu.Lock()
	w.stopped = true
	parts := w.parts
	w.parts = nil
	w.mu.Unlock()
	var group sync.WaitGroup
	for _, part := range parts {
		group.Go(part.stop)
	}
	group.Wait()
}
