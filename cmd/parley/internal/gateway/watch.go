package gateway

import (
	"context"
	"sync"
	"time"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// watch serves a subscription: changes of lists come from the hub, and those of resources
// and tasks from the backends that have them.
func (v *View) watch(ctx context.Context, s *setup, p *part, x *mcp.Exchange) (any, error) {
	asked := x.Watch.Filter
	lists := asked
	lists.ResourceSubscriptions, lists.TaskIDs = nil, nil
	open := &watching{view: v, s: s, x: x, honoured: lists}
	if err := open.backends(ctx, p, asked); err != nil {
		open.stop()
		return nil, err
	}
	remove := v.g.hub.add(&watcher{view: v.name, peer: x.Peer, filter: lists, deliver: x.Watch.Deliver})
	peer, opens := x.Peer, x.Method == mcp.NoteInitialized
	return &mcp.Watching{Filter: open.honoured, Stop: sync.OnceFunc(func() {
		remove()
		open.stop()
		if opens {
			v.g.over(&peer)
		}
	})}, nil
}

// over ends what a session had for itself at the backends.
func (g *Gateway) over(peer *mcp.Peer) {
	for _, m := range g.current.Load().members {
		m.backend.Over(peer)
	}
}

// watching is a subscription of a client, and the parts of it that backends have.
type watching struct {
	view *View
	s    *setup
	x    *mcp.Exchange

	mu       sync.Mutex
	honoured mcp.SubscriptionFilter
	stops    []func()
	refused  error
}

// waiting bounds how long a subscription waits for its backends. The connection of the
// client may not be read in the meantime.
const waiting = 3 * time.Second

// backends subscribes at all backends that have something of what was asked for. One that
// cannot be reached is subscribed to when it is there again. The error is why nothing at
// all was granted to a client that has asked for a single thing.
func (w *watching) backends(ctx context.Context, p *part, asked mcp.SubscriptionFilter) error {
	var group sync.WaitGroup
	for _, m := range p.members {
		filter := w.s.names.Filter(m.names, asked)
		filter.ToolsListChanged, filter.PromptsListChanged, filter.ResourcesListChanged = false, false, false
		filter.ResourceSubscriptions = w.allowed(ctx, m, filter.ResourceSubscriptions)
		if len(filter.ResourceSubscriptions)+len(filter.TaskIDs) > 0 {
			group.Go(func() { w.backend(ctx, m, filter) })
		}
	}
	group.Wait()
	granted := len(w.honoured.ResourceSubscriptions) + len(w.honoured.TaskIDs)
	if len(asked.ResourceSubscriptions)+len(asked.TaskIDs) == 1 && granted == 0 {
		return w.refused
	}
	return nil
}

// allowed returns the resources that all guards let the client subscribe to.
func (w *watching) allowed(ctx context.Context, m *member, uris []string) (kept []string) {
	for _, own := range uris {
		shown := m.names.Shown(mcp.ResourceFeature, own)
		op, err := w.view.find(ctx, w.s, &w.x.Peer, mcp.ResourceFeature, shown)
		if err == nil {
			op.Exchange, op.Method = w.x, mcp.MethodNamed(mcp.MethodSubscribe)
			op.Params, err = wire.Marshal(mcp.SubscribeParams{URI: own})
		}
		if err == nil {
			_, err = guard.Chain(w.s.guards, granted)(ctx, &op.Operation)
		}
		if err != nil {
			w.mu.Lock()
			w.refused = err
			w.mu.Unlock()
			continue
		}
		kept = append(kept, own)
	}
	return kept
}

// granted is the end of the chain where only the guards are asked.
func granted(context.Context, *guard.Operation) (any, error) { return struct{}{}, nil }

// backend subscribes at one backend, in its own names.
func (w *watching) backend(ctx context.Context, m *member, filter mcp.SubscriptionFilter) {
	x := behind(w.x, m.names, nil)
	x.Watch = &mcp.Watch{Filter: filter, Deliver: func(c mcp.Change) { w.x.Watch.Deliver(m.names.Change(c)) }}
	ctx, cancel := context.WithTimeout(ctx, waiting)
	defer cancel()
	got, err := m.backend.Watch(ctx, x)
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil {
		w.refused = failure(m.names, err)
		w.view.g.opts.Logger.InfoContext(ctx, "not subscribed", "backend", m.backend.Name(), "error", err)
		return
	}
	shown := m.names.Honoured(got.Filter)
	w.honoured.ResourceSubscriptions = append(w.honoured.ResourceSubscriptions, shown.ResourceSubscriptions...)
	w.honoured.TaskIDs = append(w.honoured.TaskIDs, shown.TaskIDs...)
	w.stops = append(w.stops, got.Stop)
}

// stop ends the subscriptions at the backends.
func (w *watching) stop() {
	var group sync.WaitGroup
	for _, stop := range w.stops {
		group.Go(stop)
	}
	group.Wait()
}
