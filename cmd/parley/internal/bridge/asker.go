package bridge

import (
	"encoding/json"
	"time"

	"github.com/parley-mcp/parley/internal/era"
	"github.com/parley-mcp/parley/internal/related"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// Many servers with sessions do not say which call a question belongs to. On a connection
// to one of these, calls of only one asker are under way at a time.

// asker is a client that can be asked something while its calls are under way: a session,
// the client of a connection, or, where there is neither, a program at an address. The zero
// value is nobody.
type asker struct {
	asks bool
	of   string
}

// askerOf returns who is asked if the server has a question about a request. That is
// nobody where it has none, where the client can answer none, and in questions of tasks,
// which name their task.
func (b *Bridge) askerOf(x *mcp.Exchange) asker {
	m := mcp.MethodNamed(x.Method)
	c := &x.Peer.Capabilities
	switch {
	case b.opts.Single, b.opts.Share == ShareAll, x.ID.IsZero():
		return asker{}
	case m != nil && (!m.MayAsk || m.Feature == mcp.TaskFeature), c.Elicitation == nil && c.Sampling == nil && c.Roots == nil:
		return asker{}
	case x.Peer.SessionID != "":
		return asker{asks: true, of: x.Peer.SessionID}
	case x.Header == nil: // the client has the transport's connection for itself
		return asker{asks: true, of: x.Peer.Source}
	}
	// It is one client as far as anybody can tell, and servers with sessions may remember
	// something of it: its calls stay together, also those that overlap.
	return asker{asks: true, of: x.Peer.Info.Name + "\x00" + x.Peer.Info.Version + "\x00" + x.Peer.Source}
}

// free reports whether calls of an asker can use the connection now, as far as that is
// known. The caller holds pool.mu.
func (l *link) free(by asker) bool {
	return l.admits(by) || !l.connected() && !l.b.vague.Load()
}

// admits reports whether no other asker would be confused with this one. The caller holds
// pool.mu.
func (l *link) admits(by asker) bool {
	_, there := l.askers[by]
	return !by.asks || there || len(l.askers) == 0 || l.connected() && l.names
}

// claim counts another call of an asker, if there is room for it. The caller holds
// pool.mu.
func (l *link) claim(by asker) bool {
	if !l.admits(by) {
		return false
	}
	if by.asks {
		if l.askers == nil {
			l.askers = map[asker]int{}
		}
		l.askers[by]++
	}
	return true
}

// unclaim is the end of a call of an asker. The caller holds pool.mu.
func (l *link) unclaim(by asker) {
	if !by.asks {
		return
	}
	if l.askers[by]--; l.askers[by] == 0 {
		delete(l.askers, by)
	}
}

// claim is link.claim for a caller that does not hold p.mu.
func (p *pool) claim(l *link, by asker) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return l.claim(by)
}

// haunting is how long a server may still have questions about a call that was given up.
const haunting = time.Minute

// haunted keeps the connection of a call that was given up from other askers for a while.
func (p *pool) haunted(l *link, by asker) {
	if !by.asks || !p.claim(l, by) {
		return
	}
	time.AfterFunc(haunting, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		l.unclaim(by)
		p.free()
	})
}

// asked returns the asker of the calls on a connection, and how many there are; it is any
// of them if there are several.
func (p *pool) asked(l *link) (by asker, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for by = range l.askers {
		break
	}
	return by, len(l.askers)
}

// connected reports whether the connection has been made, or could not be.
func (l *link) connected() bool {
	select {
	case <-l.ready:
		return true
	default:
		return false
	}
}

// open reports whether the connection has been made.
func (l *link) open() bool { return l.connected() && l.client != nil }

// learn remembers whether the connection says which call a question belongs to.
func (l *link) learn(streams bool) {
	l.names = streams || era.StatelessRevision(l.client.Revision())
	l.b.vague.Store(!l.names)
}

// ofOthers reports whether a question is one of a task that somebody else has made.
func (k *tasks) ofOthers(params json.RawMessage, p *passing) bool {
	id := related.Named(wire.Find(params, "_meta"))
	k.mu.Lock()
	defer k.mu.Unlock()
	at, known := k.theirs[id]
	return known && at.owner != ownedBy(&p.x.Load().Peer)
}
