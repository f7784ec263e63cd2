package gateway

import (
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/mcp"
)

// following bounds how many subscriptions follow to another setup at the same time.
const following = 64

// follow has all subscriptions follow to the setup that there is. It waits for them until
// a time; those that are late go on by themselves.
func (g *Gateway) follow(by time.Time) {
	followed := make(chan struct{})
	g.work.Go(func() { // ends soon after that time
		defer close(followed)
		var group errgroup.Group
		group.SetLimit(following)
		for _, w := range g.hub.all() {
			group.Go(func() error {
				w.moved(by)
				return nil
			})
		}
		_ = group.Wait() // always nil
	})
	timer := time.NewTimer(time.Until(by))
	defer timer.Stop()
	select {
	case <-followed:
	case <-timer.C:
	}
}

// begin has the subscription follow to where the gateway is by now, and returns what the
// client is granted, with lists.
func (w *watching) begin(by time.Time, lists mcp.SubscriptionFilter) (mcp.SubscriptionFilter, error) {
	w.turn <- struct{}{}
	defer func() { <-w.turn }()
	w.catchUp(by)
	if err := w.refusal(); err != nil {
		return mcp.SubscriptionFilter{}, err
	}
	w.wanted = w.granted()
	lists.ResourceSubscriptions, lists.TaskIDs = w.wanted.ResourceSubscriptions, w.wanted.TaskIDs
	return lists, nil
}

// follow has the subscription follow to the setup that there is.
func (w *watching) follow(by time.Time) {
	w.turn <- struct{}{} // who has it waits no longer than its own time
	defer func() { <-w.turn }()
	w.catchUp(by)
}

// catchUp moves the subscription until it is where the gateway is: that can have gone on
// meanwhile. The caller has the turn.
func (w *watching) catchUp(by time.Time) {
	for now := w.view.g.current.Load(); now != w.at && w.ctx.Err() == nil; now = w.view.g.current.Load() {
		if size(&w.wanted) > 0 {
			w.move(now, by)
		}
		w.at = now
	}
}

// move subscribes in another setup to what the client may still have and is not subscribed
// to there, and says that it may have changed. It has subscribed once: only the guards that
// decide are asked, since it has done nothing that others should count or record.
func (w *watching) move(s *setup, by time.Time) {
	at := &place{s, w.view.of(s, w.x.Peer.Principal).part(s, w.x.Peer.Principal), guard.Deciders(s.guards)}
	if at.part == nil {
		at.part = new(part)
	}
	changed := w.leave(at)
	stay := len(w.parts)
	w.backends(w.ctx, by, at, w.lacking())
	for _, part := range w.parts[stay:] {
		changed = append(changed, part.filter.ResourceSubscriptions...)
	}
	w.tell(changed)
}

// leave ends what does not stay as it is, and returns the resources of backends that are
// not there any more.
func (w *watching) leave(at *place) (gone []string) {
	var stay []watched
	var group sync.WaitGroup
	for _, part := range w.parts {
		m := at.part.member(part.member.backend.Name())
		if m != nil && w.stays(at, m, &part) {
			stay = append(stay, part)
			continue
		}
		if m == nil {
			gone = append(gone, part.filter.ResourceSubscriptions...)
		}
		group.Go(part.stop)
	}
	w.parts = stay
	group.Wait()
	return gone
}

// stays reports whether a member has the backend of a part, and the client may still
// subscribe to all of the part there.
func (w *watching) stays(at *place, m *member, part *watched) bool {
	if m.backend != part.member.backend {
		return false
	}
	own := w.may(w.ctx, at, m, part.filter)
	return size(&own) == size(&part.filter)
}

// lacking is what the client wants and is not subscribed to.
func (w *watching) lacking() (f mcp.SubscriptionFilter) {
	has := w.granted()
	f.ResourceSubscriptions = without(w.wanted.ResourceSubscriptions, has.ResourceSubscriptions)
	f.TaskIDs = without(w.wanted.TaskIDs, has.TaskIDs)
	return f
}

// without returns those of all that are not among some.
func without(all, some []string) []string {
	has := make(map[string]bool, len(some))
	for _, s := range some {
		has[s] = true
	}
	return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return has[s] })
}

// tell says that resources may have changed.
func (w *watching) tell(uris []string) {
	for _, uri := range uris {
		if w.ctx.Err() == nil {
			w.deliver(mcp.Change{Kind: mcp.ResourceUpdated, URI: uri})
		}
	}
}
