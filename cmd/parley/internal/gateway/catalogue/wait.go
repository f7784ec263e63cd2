package catalogue

import (
	"context"
	"errors"
	"time"

	"github.com/parley-mcp/parley/mcp"
)

// held is what there is of a list for somebody.
type held struct {
	content *content // nil if the backend has never said anything
	scope   mcp.CacheScope
	left    time.Duration // how long it can be used
	err     error         // why it is not what the backend says now
}

// pending is what somebody waits for.
type pending struct {
	list   *list
	share  *share
	flight *flight // nil if there is nothing to wait for
	held   held
}

// begin returns what a peer sees of a list, or what has to be waited for first. What is
// slow is not waited for again as long as there is an earlier answer.
func (l *list) begin(ctx context.Context, peer *mcp.Peer) pending {
	whose := l.source.who(peer)
	l.mu.Lock()
	defer l.mu.Unlock()
	k, s := l.share(whose)
	p := pending{list: l, share: s, held: l.hold(s)}
	if s.fresh() {
		return p
	}
	f := l.request(ctx, k, s, peer)
	if s.slow && s.content != nil {
		f.left = true
		p.held.err, p.held.left = errSlow, 0
		return p
	}
	p.flight = f
	return p
}

// hold returns what there is. The caller holds l.mu.
func (l *list) hold(s *share) held {
	h := held{content: s.content, scope: s.scope, left: l.catalogue.opts.Default}
	if !s.expires.IsZero() {
		h.left = max(time.Until(s.expires), 0)
	}
	if s.changed {
		h.left = 0
	}
	return h
}

// await waits for a list, but no longer than lists wait. Of a backend that does not answer,
// it returns what it has said last.
func (p *pending) await(ctx context.Context, peer *mcp.Peer) (held, error) {
	for again := false; p.flight != nil; again = true {
		answered, err := p.landed(ctx)
		if err != nil {
			return held{}, err
		}
		if !answered {
			return p.leave(), nil
		}
		f := p.flight
		switch {
		case errors.Is(f.err, errForgotten) && !again:
			*p = p.list.begin(ctx, peer) // somebody else had asked
		case f.err != nil:
			return held{content: p.held.content, scope: p.held.scope, err: f.err}, nil
		case f.private && f.who != p.list.source.who(peer) && !again:
			*p = p.list.begin(ctx, peer) // what was everybody's is not any more
		case f.private && f.who != p.list.source.who(peer):
			return held{err: errSlow}, nil
		default:
			return p.list.answer(f), nil
		}
	}
	return p.held, nil
}

// landed waits for the answer, and reports whether there is one in time.
func (p *pending) landed(ctx context.Context) (bool, error) {
	timer := time.NewTimer(time.Until(p.flight.begun.Add(p.list.catalogue.opts.Timeout)))
	defer timer.Stop()
	select {
	case <-p.flight.done:
		return true, nil
	default:
	}
	select {
	case <-p.flight.done:
		return true, nil
	case <-timer.C:
		return false, nil
	case <-ctx.Done():
		return false, context.Cause(ctx)
	}
}

// leave goes on without the answer, unless it has just come.
func (p *pending) leave() held {
	p.list.mu.Lock()
	defer p.list.mu.Unlock()
	select {
	case <-p.flight.done:
	default:
		p.flight.left = true
		p.share.slow = true
	}
	p.held.err, p.held.left = errSlow, 0
	return p.held
}

// answer returns what a request has brought.
func (l *list) answer(f *flight) held {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, s := l.share(f.who)
	h := l.hold(s)
	h.content = f.content
	return h
}
