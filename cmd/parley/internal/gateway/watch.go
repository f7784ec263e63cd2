package gateway

import (
	"context"
	"sync"
	"time"

	"github.com/parley-mcp/parley/mcp"
)

// waiting bounds how long a subscription waits for its backends, and how long those that
// are replaced wait for the subscriptions to leave. The connection of a client that
// subscribes may not be read in the meantime.
const waiting = 3 * time.Second

// watch serves a subscription: changes of lists come from the hub, and those of resources
// and tasks from the backends that have them.
func (v *View) watch(ctx context.Context, s *setup, p *part, x *mcp.Exchange) (any, error) {
	by := time.Now().Add(waiting)
	open, lists := newWatching(v, s, x), x.Watch.Filter
	lists.ResourceSubscriptions, lists.TaskIDs = nil, nil
	open.backends(ctx, by, &place{s, p, s.guards}, open.wanted)
	if err := open.refusal(); err != nil && v.g.current.Load() == s {
		open.stop()
		return nil, err
	}
	remove := v.g.hub.add(&watcher{view: v.asked, peer: x.Peer, filter: lists, deliver: x.Watch.Deliver, moved: open.follow})
	stop := sync.OnceFunc(func() {
		remove()
		open.stop()
	})
	granted, err := open.begin(by, lists)
	if err != nil {
		stop()
		return nil, err
	}
	return &mcp.Watching{Filter: granted, Stop: stop}, nil
}
