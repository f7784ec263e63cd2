package bridge

import (
	"slices"
	"sync"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
)

// pool has the connections, by who uses them.
type pool struct {
	b *Bridge

	mu    sync.Mutex
	links map[string][]*link // the oldest first
	// spare was opened to learn what the server is. It is for nobody in particular.
	spare *link
	// retired are no longer in use, except for what is still under way there.
	retired map[*link]bool
	gone    gone
	freed   chan struct{} // closed when a connection is let go of; nil if nobody waits for that
	closed  bool
}

// discard removes a connection, and closes it in the background. The caller holds
// p.mu.
func (p *pool) discard(l *link) {
	p.remove(l)
	delete(p.retired, l)
	p.free()
	p.b.work.Go(l.close) // ends when the connection is closed
}

// open connects a link. The spare one is closed first: some servers cannot run twice.
func (p *pool) open(l *link) {
	defer close(l.ready)
	p.mu.Lock()
	spare := p.spare
	p.spare = nil
	p.mu.Unlock()
	if spare != nil {
		spare.close()
	}
	defer l.giveUp(nil)
	if l.err = l.connect(l.trying); l.err == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.remove(l) // the next request tries again
	p.free()
}

// spares keeps a connection for the first client that it suits. It reports false if there
// is one already, or nobody comes any more.
func (p *pool) spares(l *link) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.spare != nil || p.closed {
		return false
	}
	p.spare = l
	return true
}

// has reports whether a client has a connection.
func (p *pool) has(peer *mcp.Peer) bool {
	key, _, err := p.b.keyOf(peer)
	p.mu.Lock()
	defer p.mu.Unlock()
	return err == nil && p.links[key] != nil
}

// size returns how many connections there are, and how many somebody uses.
func (p *pool) size() (open, used int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := p.all()
	for _, l := range all {
		if l.users > 0 {
			used++
		}
	}
	return len(all), used
}

// hold counts another user of a connection, for whom somebody may be asked something.
func (p *pool) hold(l *link, by asker) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l.users++
	l.claim(by)
}

// release is the end of a use.
func (p *pool) release(l *link, by asker) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l.users--
	l.since = time.Now()
	l.unclaim(by)
	if l.users == 0 && p.retired[l] {
		p.discard(l)
	}
	p.free()
}

// retire takes all connections out of use. Those that are being made have yet to find out
// how the server is.
func (p *pool) retire() (all []*client.Client) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.spare != nil {
		p.discard(p.spare)
		p.spare = nil
	}
	for _, l := range p.all() {
		if !l.open() {
			continue
		}
		p.remove(l)
		close(l.leave)
		all = append(all, l.client)
		p.retired[l] = true
		if l.users == 0 {
			p.discard(l)
		}
	}
	return all
}

// ended removes a connection whose server has gone, if it may be replaced.
func (p *pool) ended(l *link, why error) {
	p.mu.Lock()
	if p.spare == l {
		p.spare = nil
	}
	if p.retired[l] {
		p.discard(l)
	}
	used := slices.Contains(p.links[l.key], l)
	if used && p.b.replaces(l) {
		p.discard(l)
	}
	p.mu.Unlock()
	if !used {
		return
	}
	p.b.opts.Logger.Error("the connection to the server has ended", "error", why)
	select {
	case p.b.lost <- why:
	default: // it is known already
	}
}

// over closes the connection of a session that has ended. It gets no other one.
func (p *pool) over(key string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.gone.add(key)
	for _, l := range slices.Clone(p.links[key]) {
		p.discard(l)
	}
}

// surplus is how long a connection is kept idle if its clients have another one.
const surplus = time.Minute

// sweep closes idle connections until the bridge is closed.
func (p *pool) sweep() {
	ticker := time.NewTicker(min(p.b.opts.Idle, surplus) / 4)
	defer ticker.Stop()
	for {
		select {
		case <-p.b.ctx.Done():
			return
		case <-ticker.C:
		}
		p.mu.Lock()
		for _, l := range p.all() {
			if idle := time.Since(l.since); l.users == 0 && (idle >= p.b.opts.Idle || idle >= surplus && p.links[l.key][0] != l) {
				p.discard(l)
			}
		}
		if l := p.spare; l != nil && time.Since(l.since) >= p.b.opts.Idle {
			p.spare = nil
			p.b.work.Go(l.close) // ends when the connection is closed
		}
		p.mu.Unlock()
	}
}

// close closes all connections.
func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, l := range p.all() {
		p.discard(l)
	}
	for l := range p.retired {
		p.discard(l)
	}
	if p.spare != nil {
		p.discard(p.spare)
		p.spare = nil
	}
}
