package client

import (
	"context"
	"errors"
	"sync"

	"github.com/parley-mcp/parley/internal/serial"
	"github.com/parley-mcp/parley/mcp"
)

// Event is what a subscription reports.
type Event struct {
	// Change is what happened; zero when Gap is set.
	Change mcp.Change
	// Gap says that the subscription was interrupted and has been resumed:
	// anything may have changed in between.
	Gap bool
}

// Subscription reports changes until it is closed or the server refuses to continue.
// In the stateless era it survives the loss of its connection, and if the server
// forgets a session, it continues in the next one: it subscribes again, and reports
// an Event with Gap set.
type Subscription struct {
	c       *Client
	filter  mcp.SubscriptionFilter
	handler func(context.Context, Event)
	ctx     context.Context //nolint:containedctx // the subscription's lifetime: ended by Close
	end     context.CancelCauseFunc
	queue   serial.Queue
	done    chan struct{}

	mu       sync.Mutex
	pending  map[Event]bool
	honoured mcp.SubscriptionFilter
	acked    chan struct{} // of the listen request in flight
}

// Listen subscribes to changes. It returns when the server has agreed; Honoured says
// to what. ctx bounds only this, not the subscription. handler is called for one
// event at a time, in order; equal events that are queued are reported once. handler
// may use the client.
//
// Spec: 2026-07-28 basic/patterns/subscriptions#opening-a-stream.
// Spec: 2025-11-25 server/resources#subscriptions.
func (c *Client) Listen(ctx context.Context, filter mcp.SubscriptionFilter, handler func(context.Context, Event)) (*Subscription, error) {
	l, err := c.connected(ctx)
	if err != nil {
		return nil, err
	}
	s := &Subscription{c: c, filter: filter, handler: handler, done: make(chan struct{}), pending: map[Event]bool{}}
	s.queue.Limit = 1 << 20 // never reached: pending bounds the queue to distinct events
	s.ctx, s.end = context.WithCancelCause(c.ctx)
	if l.session != nil {
		err = s.openSession(ctx, l)
	} else {
		err = s.openStateless(ctx)
	}
	if err != nil {
		s.end(err)
		return nil, err
	}
	return s, nil
}

// Honoured returns the part of the filter that the server agreed to.
//
// Spec: 2026-07-28 basic/patterns/subscriptions#acknowledgment.
func (s *Subscription) Honoured() mcp.SubscriptionFilter {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.honoured
}

// Done returns a channel that is closed when the subscription has ended.
func (s *Subscription) Done() <-chan struct{} { return s.done }

// Err returns why the subscription ended by itself, or nil if it is open or was ended
// by Close.
func (s *Subscription) Err() error {
	if err := context.Cause(s.ctx); s.ctx.Err() != nil && !errors.Is(err, ErrClosed) {
		return err
	}
	return nil
}

// Close ends the subscription and waits until the handler has returned. It must not
// be called from the handler.
func (s *Subscription) Close() error {
	s.end(ErrClosed)
	<-s.done
	s.mu.Lock()   // who has not seen the end has queued its event
	s.mu.Unlock() //nolint:staticcheck // there is nothing to guard
	s.queue.Wait()
	return nil
}

// tell queues an event for the handler. It returns the reason if it is dropped, or 0.
func (s *Subscription) tell(e Event) mcp.DropReason {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.ctx.Err() != nil:
		return mcp.DropClosed
	case s.pending[e]:
		return mcp.DropRepeated
	}
	s.pending[e] = true
	s.queue.Add(func() {
		s.mu.Lock()
		delete(s.pending, e)
		s.mu.Unlock()
		if s.ctx.Err() != nil {
			s.c.seen.Drop(mcp.Received, mcp.DropClosed, "", context.Cause(s.ctx))
			return
		}
		s.handler(s.ctx, e)
	})
	return 0
}
