package bridge

import "fmt"

// makeRoom makes sure that there may be one more connection for a principal, or for
// somebody without one, if need be by closing an idle one. The caller holds p.mu.
//
// A connection in use cannot be taken away, and there is one for each set of capabilities
// that a client makes up. So a principal gets no more of them than are left for others:
// whatever one does, or several together, somebody who has none gets one. Clients without
// a principal are all the same user, who has nobody to leave any to.
func (p *pool) makeRoom(principal string) error {
	own, used, all := 0, 0, p.all()
	for _, l := range all {
		switch {
		case l.idle():
			continue
		case l.principal == principal:
			own++
		}
		used++
	}
	most := p.b.opts.MaxConnections
	switch left := most - used; {
	case left <= 0:
		return fmt.Errorf("all %d connections are in use%s; try again later", most, p.b.boundBy())
	case principal != "" && own >= left && own > 0:
		return fmt.Errorf("you have %d of %d connections%s in use, and the others are kept for other users; try again when some of your calls, subscriptions or sessions have ended",
			own, most, p.b.boundBy())
	}
	if len(all) >= most {
		p.discard(p.expendable())
	}
	return nil
}

// boundBy names what bounds the connections, for errors.
func (b *Bridge) boundBy() string {
	if b.opts.MaxConnectionsBy == "" {
		return ""
	}
	return " (" + b.opts.MaxConnectionsBy + ")"
}

// idle reports whether nobody minds when the connection is closed: a session that has not
// ended relies on its own. The caller holds pool.mu.
func (l *link) idle() bool { return l.users == 0 && !l.owned }

// expendable returns the connection that has been idle the longest, of whoever has the
// most. There must be one. The caller holds p.mu.
func (p *pool) expendable() (best *link) {
	has, all := map[string]int{}, p.all()
	for _, l := range all {
		has[l.principal]++
	}
	for _, l := range all {
		if l.idle() && (best == nil || has[l.principal] > has[best.principal] || has[l.principal] == has[best.principal] && l.since.Before(best.since)) {
			best = l
		}
	}
	return best
}

// gone are the keys of sessions that have ended lately: what they have left under way must
// not open a connection that nobody would ever end.
type gone struct {
	keys  map[string]bool
	order []string // the keys, from next on the oldest first
	next  int
}

// maxGone bounds these: what a session leaves under way takes no longer than until some
// hundred others have ended.
const maxGone = 1000

func (g *gone) add(key string) {
	if g.keys[key] {
		return
	}
	if g.keys == nil {
		g.keys = map[string]bool{}
	}
	g.keys[key] = true
	if len(g.order) < maxGone {
		g.order = append(g.order, key)
		return
	}
	delete(g.keys, g.order[g.next])
	g.order[g.next] = key
	g.next = (g.next + 1) % maxGone
}
