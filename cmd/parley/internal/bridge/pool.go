package bridge

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
)

// pool has the connections, by who uses them.
type pool struct {
	b *Bridge

	mu    sync.Mutex
	links map[string]*link
	// spare was opened to learn what the server is. It is for nobody in particular.
	spare *link
	// retired are no longer in use, except for what is still under way there.
	retired map[*link]bool
	closed  bool
}

// get returns the connection of a client, opening it if there is none. The caller
// must release it.
func (p *pool) get(ctx context.Context, peer *mcp.Peer) (*link, error) {
	l, opens, err := p.reserve(peer)
	if err != nil {
		return nil, err
	}
	if opens {
		p.b.work.Go(func() { p.open(l) }) // it outlives the request; ends when connected
	}
	select {
	case <-l.ready:
		err = l.err
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if err != nil {
		p.release(l)
		return nil, err
	}
	return l, nil
}

// reserve finds or makes the connection of a client, and counts its caller as a user.
func (p *pool) reserve(peer *mcp.Peer) (l *link, opens bool, err error) {
	key, owned, err := p.b.keyOf(peer)
	if err != nil {
		return nil, false, err
	}
	whose := p.b.whose(peer)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, false, errClosed
	}
	if l = p.links[key]; l != nil && p.b.replaces(l) && l.over() {
		p.discard(l) // ended is about to
		l = nil
	}
	if l != nil {
		l.users++
		return l, false, nil
	}
	if err := p.makeRoom(); err != nil {
		return nil, false, err
	}
	if l = p.spare; l != nil && p.b.suits(l, &whose) {
		p.spare = nil
	} else {
		l, opens = newLink(p.b, whose), true
	}
	l.key, l.owned, l.users = key, owned, 1
	p.links[key] = l
	return l, opens, nil
}

// makeRoom closes the connection that has been idle the longest, if there are too
// many. The caller holds p.mu.
func (p *pool) makeRoom() error {
	if len(p.links) < p.b.opts.MaxConnections {
		return nil
	}
	var oldest *link
	for _, l := range p.links {
		if l.users == 0 && !l.owned && (oldest == nil || l.since.Before(oldest.since)) {
			oldest = l
		}
	}
	if oldest == nil {
		return fmt.Errorf("all %d connections are in use; try again later", p.b.opts.MaxConnections)
	}
	p.discard(oldest)
	return nil
}

// discard removes a connection, and closes it in the background. The caller holds
// p.mu.
func (p *pool) discard(l *link) {
	if p.links[l.key] == l {
		delete(p.links, l.key)
	}
	delete(p.retired, l)
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
	if l.err = l.connect(p.b.ctx); l.err == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.links[l.key] == l {
		delete(p.links, l.key) // the next request tries again
	}
}

// spares keeps a connection for the first client that it suits, unless there is one
// already.
func (p *pool) spares(l *link) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.spare != nil || p.closed {
		p.b.work.Go(l.close) // ends when the connection is closed
		return
	}
	p.spare = l
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
	for _, l := range p.links {
		if l.users > 0 {
			used++
		}
	}
	return len(p.links), used
}

func (p *pool) release(l *link) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l.users--
	l.since = time.Now()
	if l.users == 0 && p.retired[l] {
		p.discard(l)
	}
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
	for key, l := range p.links {
		select {
		case <-l.ready:
		default:
			continue
		}
		if l.client == nil { // it could not be made
			continue
		}
		delete(p.links, key)
		close(l.leave)
		all = append(all, l.client)
		p.retired[l] = true
		if l.users == 0 {
			p.discard(l)
		}
	}
	return all
}

// hold counts another user of a connection.
func (p *pool) hold(l *link) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l.users++
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
	used := p.links[l.key] == l
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

// over closes the connection of a session that has ended.
func (p *pool) over(key string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if l := p.links[key]; l != nil {
		p.discard(l)
	}
}

// sweep closes idle connections until the bridge is closed.
func (p *pool) sweep() {
	ticker := time.NewTicker(p.b.opts.Idle / 4)
	defer ticker.Stop()
	for {
		select {
		case <-p.b.ctx.Done():
			return
		case <-ticker.C:
		}
		p.mu.Lock()
		for _, l := range p.links {
			if l.users == 0 && time.Since(l.since) >= p.b.opts.Idle {
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
	for _, l := range p.links {
		p.discard(l)
	}
	for l := range p.retired {
		p.discard(l)
	}
	if p.spare != nil {
		p.discard(p.spare)
	}
}
