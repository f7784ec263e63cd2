package bridge

import (
	"context"
	"errors"
	"time"

	"github.com/parley-mcp/parley/mcp"
)

// want is what somebody wants a connection for.
type want struct {
	peer *mcp.Peer
	by   asker // who is asked if the server has a question
	at   *link // the connection that it is about, or nil
}

var errSessionOver = errors.New("the session has ended")

// takenError says that all connections of a client are taken by others, and why there is
// no other one.
type takenError struct {
	why   error
	freed <-chan struct{} // closed when it is worth another try
}

func (e *takenError) Error() string { return e.why.Error() }

// patience is how long a call waits for a connection that others have taken.
const patience = 10 * time.Second

// get returns a connection of a client, opening one if need be. The caller must release
// it.
func (p *pool) get(ctx context.Context, w want) (*link, error) {
	var end time.Time
	for {
		l, claimed, err := p.reserve(w)
		if taken, ok := errors.AsType[*takenError](err); ok {
			if end.IsZero() {
				end = time.Now().Add(patience)
			}
			if p.wait(ctx, taken, end, w.peer.Principal) {
				continue
			}
		}
		if err != nil {
			return nil, &OwnError{err}
		}
		if l, err = p.connected(ctx, l, w.by, claimed); l != nil || err != nil {
			return l, err
		}
	}
}

// wait waits until a connection is let go of, for which a call of the same principal is
// given up whose client did not come back for long. It reports false if none is.
func (p *pool) wait(ctx context.Context, taken *takenError, end time.Time, principal string) bool {
	p.b.parked.yield(principal)
	timer := time.NewTimer(time.Until(end))
	defer timer.Stop()
	select {
	case <-taken.freed:
		return true
	case <-timer.C:
		return false
	case <-ctx.Done():
		return false
	}
}

// connected waits for a connection that is reserved. It returns nothing if that turns out
// to be one that others have taken.
func (p *pool) connected(ctx context.Context, l *link, by asker, claimed bool) (_ *link, err error) {
	select {
	case <-l.ready:
		err = l.err
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if err == nil && (claimed || p.claim(l, by)) {
		return l, nil
	}
	if !claimed {
		by = asker{}
	}
	p.release(l, by)
	return nil, err
}

// reserve finds or makes a connection, and counts its caller as a user. It reports whether
// it is claimed for the asker: not if it has yet to turn out whether several can use it.
func (p *pool) reserve(w want) (l *link, claimed bool, err error) {
	key, owned, err := p.b.keyOf(w.peer)
	if err != nil {
		return nil, false, err
	}
	whose := p.b.whose(w.peer)
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed:
		return nil, false, errClosed
	case p.gone.keys[key]:
		return nil, false, errSessionOver
	}
	if l = p.pick(key, w); l != nil {
		l.users++
		return l, l.claim(w.by), nil
	}
	if err := p.makeRoom(whose.Principal); err != nil {
		return nil, false, p.taken(key, err)
	}
	if l = p.spare; l != nil && p.b.suits(l, &whose) {
		p.spare = nil
	} else {
		l = newLink(p.b, whose)
		p.b.work.Go(func() { p.open(l) }) // it outlives the request; ends when connected
	}
	l.key, l.principal, l.owned, l.users = key, whose.Principal, owned, 1
	p.links[key] = append(p.links[key], l)
	return l, l.claim(w.by), nil
}

// pick returns the first connection of a key that will do, or nil. The caller holds p.mu.
func (p *pool) pick(key string, w want) (first *link) {
	for _, l := range p.links[key] {
		switch {
		case p.b.replaces(l) && l.over():
			p.discard(l) // ended is about to
			return p.pick(key, w)
		case l == w.at:
			return l
		case first == nil && l.free(w.by):
			first = l
		}
	}
	return first
}

// taken makes an error a takenError, if there are connections that others may let go of.
// The caller holds p.mu.
func (p *pool) taken(key string, why error) error {
	if p.links[key] == nil {
		return why
	}
	if p.freed == nil {
		p.freed = make(chan struct{})
	}
	return &takenError{why, p.freed}
}

// free tells those who wait for a connection to be let go of. The caller holds p.mu.
func (p *pool) free() {
	if p.freed != nil {
		close(p.freed)
		p.freed = nil
	}
}
