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
	ctx     context.Context //nolint:containedctx // the subscription's lifetime: ended by stop
	end     context.CancelFunc

	// turn is held by who moves the subscription or ends it, and is about what follows.
	turn chan struct{}
	at   *setup
	// wanted is what the client has asked for and, once it knows, what it was granted, in
	// the names that it knows.
	wanted mcp.SubscriptionFilter

	mu      sync.Mutex // between the backends that are subscribed to at the same time
	parts   []watched
	refused error
}

// watched is what a client subscribes to at one backend.
type watched struct {
	member *member
	filter mcp.SubscriptionFilter // in the names that the client knows
	stop   func()
}

// place is where a client can subscribe: what it sees of a setup, and the guards that are
// asked.
type place struct {
	setup  *setup
	part   *part
	guards []guard.Guard
}

func newWatching(v *View, s *setup, x *mcp.Exchange) *watching {
	kept := mcp.Exchange{ID: x.ID, Method: x.Method, Peer: x.Peer, Back: x.Back}
	w := &watching{view: v, x: kept, deliver: x.Watch.Deliver, turn: make(chan struct{}, 1), at: s}
	w.wanted.ResourceSubscriptions, w.wanted.TaskIDs = x.Watch.Filter.ResourceSubscriptions, x.Watch.Filter.TaskIDs
	w.ctx, w.end = context.WithCancel(context.Background())
	return w
}

// backends subscribes at all backends that have something of what is wanted. One that
// cannot be reached in time is subscribed to when it is there again.
func (w *watching) backends(ctx context.Context, by time.Time, at *place, wanted mcp.SubscriptionFilter) {
	var group sync.WaitGroup
	for _, m := range at.part.members {
		if filter := w.may(ctx, at, m, wanted); size(&filter) > 0 {
			group.Go(func() { w.open(ctx, by, m, filter) })
		}
	}
	group.Wait()
}

// size is how many things a client has to subscribe to at backends.
func size(f *mcp.SubscriptionFilter) int { return len(f.ResourceSubscriptions) + len(f.TaskIDs) }

// refusal is why nothing is granted to a client that wants a single thing.
func (w *watching) refusal() error {
	if size(&w.wanted) == 1 && len(w.parts) == 0 {
		return w.refused
	}
	return nil
}

// may returns what the client can subscribe to at a backend of what is wanted, in the
// backend's names.
func (w *watching) may(ctx context.Context, at *place, m *member, wanted mcp.SubscriptionFilter) (own mcp.SubscriptionFilter) {
	all := at.setup.names.Filter(m.names, wanted)
	own.ResourceSubscriptions = w.allowed(ctx, at, m, all.ResourceSubscriptions)
	own.TaskIDs = slices.DeleteFunc(all.TaskIDs, func(id string) bool {
		return !w.view.g.owners.admits(m.names.Shown(mcp.TaskFeature, id), w.x.Peer.Principal)
	})
	return own
}

// allowed returns the resources that all guards let the client subscribe to.
func (w *watching) allowed(ctx context.Context, at *place, m *member, uris []string) (kept []string) {
	view := w.view.of(at.setup, w.x.Peer.Principal)
	for _, own := range uris {
		op, err := view.find(ctx, at.setup, &w.x.Peer, mcp.ResourceFeature, m.names.Shown(mcp.ResourceFeature, own))
		if err == nil {
			op.Exchange, op.Method = &w.x, mcp.MethodNamed(mcp.MethodSubscribe)
			op.Params, err = wire.Marshal(mcp.SubscribeParams{URI: own})
		}
		if err == nil {
			_, err = guard.Chain(at.guards, allow)(ctx, &op.Operation)
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
func (w *watching) open(ctx context.Context, by time.Time, m *member, filter mcp.SubscriptionFilter) {
	x := behind(&w.x, m.names, nil)
	x.Watch = &mcp.Watch{Filter: filter, Deliver: func(c mcp.Change) {
		if c.Kind == mcp.ResourceUpdated {
			w.view.g.reads.Changed(m.backend.Name(), c.URI)
		}
		w.deliver(m.names.Change(c))
	}}
	ctx, cancel := context.WithDeadline(ctx, by)
	defer cancel()
	got, err := m.backend.Watch(ctx, x)
	if err != nil {
		w.view.g.opts.Logger.InfoContext(ctx, "not subscribed", "backend", m.backend.Name(), "error", err)
		w.refuse(failure(m.names, err))
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.parts = append(w.parts, watched{m, m.names.Honoured(got.Filter), got.Stop})
}

// granted is what the backends have granted.
func (w *watching) granted() (f mcp.SubscriptionFilter) {
	for _, p := range w.parts {
		f.ResourceSubscriptions = append(f.ResourceSubscriptions, p.filter.ResourceSubscriptions...)
		f.TaskIDs = append(f.TaskIDs, p.filter.TaskIDs...)
	}
	return f
}

// stop ends the subscriptions at the backends.
func (w *watching) stop() {
	w.end()
	w.turn <- struct{}{} // who moves it lets go of it soon, since ctx has ended
	defer func() { <-w.turn }()
	var group sync.WaitGroup
	for _, part := range w.parts {
		group.Go(part.stop)
	}
	w.parts = nil
	group.Wait()
}
