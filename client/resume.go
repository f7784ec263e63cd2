package client

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/parley-mcp/parley/internal/era"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// forgotten reports whether a connection was lost because the server no longer knows
// its session: the client then has to start a new one.
//
// Spec: 2025-11-25 basic/transports#session-management (4).
func forgotten(l *live) bool { return errors.Is(lostReason(l), mcp.ErrSessionGone) }

// resume restores the subscriptions in a new session, after the server has forgotten
// the previous one. Changes in between went unnoticed, so the cache is cleared.
func (c *Client) resume(ctx context.Context, l *live) {
	c.forget()
	c.subs.mu.Lock()
	uris := slices.Sorted(maps.Keys(c.subs.uris))
	subs := slices.Collect(maps.Keys(c.subs.sessions))
	c.subs.mu.Unlock()
	if l.session == nil {
		for _, s := range subs {
			s.end(errors.New("the server no longer speaks a revision with sessions"))
		}
		return
	}
	failed := make(map[string]error)
	for _, uri := range uris {
		err := c.watchAgain(ctx, l, uri)
		if err != nil {
			failed[uri] = err
		}
		c.subs.renewed(uri, err == nil)
	}
	for _, s := range subs {
		s.resumed(failed)
	}
}

// renewed notes what a new session has said to a subscription.
func (r *subscriptions) renewed(uri string, on bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if w := r.uris[uri]; w != nil {
		w.on = on
	}
}

func (c *Client) watchAgain(ctx context.Context, l *live, uri string) error {
	params, err := wire.Marshal(mcp.SubscribeParams{URI: uri})
	if err != nil {
		return err
	}
	if c.opts.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, c.opts.Timeout, ErrTimeout)
		defer cancel()
	}
	_, _, err = l.call(ctx, &era.Outgoing{Method: mcp.MethodSubscribe, Params: params})
	return err
}

// resumed reports the gap to the subscription. It ends a subscription to a resource
// that the server no longer lets the client subscribe to.
func (s *Subscription) resumed(failed map[string]error) {
	for _, uri := range s.Honoured().ResourceSubscriptions {
		if err := failed[uri]; err != nil {
			s.end(fmt.Errorf("%s %q in a new session: %w", mcp.MethodSubscribe, uri, err))
			return
		}
	}
	s.tell(Event{Gap: true})
}

// outlive waits until a subscription in a session ends. When the server forgets the
// session, outlive has a new one opened, even if nobody makes a call.
func (s *Subscription) outlive(l *live) {
	for {
		unheard := l.unheard()
		if isClosed(unheard) {
			unheard = nil // Honoured says so
		}
		select {
		case <-s.ctx.Done():
			return
		case <-unheard:
			s.end(errUnheard)
			return
		case <-l.conn.Done():
		}
		if l.final() {
			<-s.ctx.Done() // a lost session ends the client
			return
		}
		next, err := s.reconnected()
		if err != nil {
			s.end(err)
			return
		}
		l = next
	}
}

// errUnheard says why a subscription ends in a session that goes on.
var errUnheard = errors.New("the server no longer streams what it says outside of calls")

// reconnected returns the connection that replaces a lost one.
func (s *Subscription) reconnected() (*live, error) {
	for attempt := 1; ; attempt++ {
		l, err := s.c.connected(s.ctx)
		if err == nil || s.ctx.Err() != nil {
			return l, err
		}
		if attempt > maxAttempts || !backOff(s.ctx, attempt) {
			return nil, err
		}
	}
}
