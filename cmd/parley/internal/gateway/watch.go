package gateway

import (
	"context"
	"sync"

	"github.com/parley-mcp/parley/cmd/parley/internal/bridge"
	"github.com/parley-mcp/parley/mcp"
)

// watch serves a subscription: changes of lists come from the hub, and those of resources
// and tasks from the backends that have them.
func (v *View) watch(ctx context.Context, s *setup, p *part, x *mcp.Exchange) (any, error) {
	asked := x.Watch.Filter
	lists := asked
	lists.ResourceSubscriptions, lists.TaskIDs = nil, nil
	open := newWatching(v, x)
	if err := open.backends(ctx, s, p, asked); err != nil {
		open.stop()
		now := v.g.current.Load()
		v = v.of(now, x.Peer.Principal)
		if p = v.part(now, x.Peer.Principal); now != s && p != nil { // what is about to leave says no more than that
			return v.watch(ctx, now, p, x)
		}
		return nil, err
	}
	granted := open.granted(lists)
	remove := v.g.hub.add(&watcher{view: v.asked, peer: x.Peer, filter: lists, deliver: x.Watch.Deliver, moved: open.move})
	if now := v.g.current.Load(); now != s { // which did not know of it when it took the place of s
		open.move(now) //nolint:contextcheck // the subscription outlives the exchange
	}
	peer, opens := x.Peer, x.Method == mcp.NoteInitialized
	return &mcp.Watching{Filter: granted, Stop: sync.OnceFunc(func() {
		remove()
		open.stop()
		if opens {
			v.g.over(&peer)
		}
	})}, nil
}

// over ends what a session had for itself at the backends.
func (g *Gateway) over(peer *mcp.Peer) {
	s := g.current.Load()
	for _, m := range s.members {
		m.backend.Over(peer)
		if m.share == bridge.ShareSession {
			s.catalogue.Forget(m.backend.Name(), peer)
		}
	}
}
