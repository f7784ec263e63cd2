package bridge

import (
	"context"
	"slices"

	"github.com/parley-mcp/parley/mcp"
)

// A client may have several connections, but what it relies on is only at one of them, or
// at all.

// remove takes a connection from those that clients get, if it is one. The caller holds
// p.mu.
func (p *pool) remove(l *link) {
	of := p.links[l.key]
	i := slices.Index(of, l)
	switch {
	case i < 0:
	case len(of) == 1:
		delete(p.links, l.key)
	default:
		p.links[l.key] = slices.Delete(of, i, i+1)
	}
}

// all returns the connections that clients get. The caller holds p.mu.
func (p *pool) all() (all []*link) {
	for _, of := range p.links {
		all = append(all, of...)
	}
	return all
}

// of returns the connections of a client that are open.
func (p *pool) of(peer *mcp.Peer) []*link {
	key, _, _ := p.b.keyOf(peer) // without a key there are none
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(p.links[key]), func(l *link) bool { return !l.open() })
}

// instead returns a connection that may be in use no more, or another one if it is not.
func (p *pool) instead(l, other *link) *link {
	p.mu.Lock()
	defer p.mu.Unlock()
	if l != nil && slices.Contains(p.links[l.key], l) {
		return l
	}
	return other
}

// tell passes a notification of a client on to the server, on all its connections.
func (b *Bridge) tell(ctx context.Context, l *link, x *mcp.Exchange) error {
	err := l.client.Notify(ctx, x.Method, x.Params)
	for _, other := range b.pool.of(&x.Peer) {
		if other != l && err == nil {
			err = other.client.Notify(ctx, x.Method, x.Params)
		}
	}
	return err
}

// linkOf returns the connection on which a task of the other server was made, or nil.
func (k *tasks) linkOf(id string) *link {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.theirs[id].link
}

// about returns the connection of the task that a request is about, or nil.
func (k *tasks) about(x *mcp.Exchange) *link {
	if m := mcp.MethodNamed(x.Method); m != nil && m.Feature == mcp.TaskFeature {
		return k.linkOf(m.SubjectOf(x.Params))
	}
	return nil
}
