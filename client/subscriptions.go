package client

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/parley-mcp/parley/internal/era"
	"github.com/parley-mcp/parley/internal/serial"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// Event is what a subscription tells.
type Event struct {
	// Change is what happened; zero when Gap is set.
	Change mcp.Change
	// Gap says that the subscription was interrupted and goes on: anything
	// may have changed meanwhile.
	Gap bool
}

// Subscription tells of changes until it is closed or its server refuses to
// go on. In the stateless era it survives its connection, and in a session
// that the server forgets it goes on in the next one: it listens again, and
// says so by an Event with Gap.
type Subscription struct {
	c       *Client
	filter  mcp.SubscriptionFilter
	handler func(context.Context, Event)
	ctx     context.Context //nolint:containedctx // the subscription's life: ended by Close
	end     context.CancelCauseFunc
	queue   serial.Queue
	done    chan struct{}

	mu       sync.Mutex
	pending  map[Event]bool
	honoured mcp.SubscriptionFilter
	acked    chan struct{} // of the listen request in flight
}

// Listen asks to be told of changes. It returns when the server has agreed;
// Honoured says to what. handler is called for one event at a time, in order;
// equal events that wait are told once. It may use the client.
//
// Spec: 2026-07-28 basic/patterns/subscriptions#opening-a-stream.
// Spec: 2025-11-25 server/resources#subscriptions.
func (c *Client) Listen(ctx context.Context, filter mcp.SubscriptionFilter, handler func(context.Context, Event)) (*Subscription, error) {
	l, err := c.connected(ctx)
	if err != nil {
		return nil, err
	}
	s := &Subscription{c: c, filter: filter, handler: handler, done: make(chan struct{}), pending: map[Event]bool{}}
	s.queue.Limit = 1 << 20 // pending bounds it: one entry for each thing asked for
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

// Done is closed when nothing will be told any more.
func (s *Subscription) Done() <-chan struct{} { return s.done }

// Err says why the subscription ended by itself; nil before, and after Close.
func (s *Subscription) Err() error {
	if err := context.Cause(s.ctx); s.ctx.Err() != nil && !errors.Is(err, ErrClosed) {
		return err
	}
	return nil
}

// Close ends the subscription. The handler has returned when Close does; so
// it must not be called from the handler.
func (s *Subscription) Close() error {
	s.end(ErrClosed)
	<-s.done
	s.queue.Wait()
	return nil
}

// tell returns why an event is not told, or 0.
func (s *Subscription) tell(e Event) mcp.DropReason {
	s.mu.Lock()
	known := s.pending[e]
	s.pending[e] = true
	s.mu.Unlock()
	switch {
	case s.ctx.Err() != nil:
		return mcp.DropClosed
	case known:
		return mcp.DropRepeated
	}
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

// subscriptions routes notifications to the subscriptions they belong to.
type subscriptions struct {
	mu       sync.Mutex
	byID     map[jsonrpc.ID]*Subscription // stateless: by the listen request
	sessions map[*Subscription]bool
	uris     map[string]int // session: how many subscriptions watch a resource
}

func (r *subscriptions) route(id jsonrpc.ID, s *Subscription) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.byID == nil {
		r.byID = make(map[jsonrpc.ID]*Subscription)
	}
	r.byID[id] = s
}

func (r *subscriptions) unroute(id jsonrpc.ID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.byID, id)
}

// owner finds the subscription that a notification is tagged with.
func (r *subscriptions) owner(m *jsonrpc.Message) *Subscription {
	var meta struct {
		ID *jsonrpc.ID `json:"io.modelcontextprotocol/subscriptionId"`
	}
	if m.Meta == nil || wire.Unmarshal(m.Meta, &meta) != nil || meta.ID == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.byID[*meta.ID]
}

func (r *subscriptions) acknowledged(m *jsonrpc.Message) mcp.DropReason {
	s := r.owner(m)
	var p mcp.AcknowledgedParams
	switch {
	case s == nil:
		return mcp.DropNoSubscription
	case unmarshal(m.Params, &p) != nil:
		return mcp.DropMalformed
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.honoured = p.Notifications
	if s.acked != nil {
		close(s.acked)
		s.acked = nil
	}
	return 0
}

// changed invalidates the cache and tells the subscriptions: the one that the
// notification is tagged with, or all of a session whose filter matches.
// It returns why no subscription is told, or 0.
func (c *Client) changed(m *jsonrpc.Message, change mcp.Change) mcp.DropReason {
	c.cache.changed(change)
	if s := c.subs.owner(m); s != nil {
		if !s.wants(change) {
			return mcp.DropNoTaker
		}
		return s.tell(Event{Change: change})
	}
	reason := mcp.DropNoTaker
	if wire.Find(m.Meta, mcp.MetaSubscriptionID) != nil {
		reason = mcp.DropNoSubscription
	}
	c.subs.mu.Lock()
	defer c.subs.mu.Unlock()
	for s := range c.subs.sessions {
		if !s.filter.Matches(change) {
			continue
		}
		if why := s.tell(Event{Change: change}); why == 0 || reason != 0 {
			reason = why
		}
	}
	return reason
}

// wants reports whether a change is one that the subscription asked for. What
// is told of a resource may be of a part of it, which has a URI of its own.
//
// Spec: 2026-07-28 basic/patterns/subscriptions#notification-filter.
func (s *Subscription) wants(change mcp.Change) bool {
	if change.Kind == mcp.ResourceUpdated {
		return len(s.filter.ResourceSubscriptions) > 0
	}
	return s.filter.Matches(change)
}

// openSession subscribes in a session: lists are announced there anyway, and
// resources are watched one by one.
func (s *Subscription) openSession(ctx context.Context, l *live) error {
	s.honoured = era.Honoured(s.filter, &l.caps)
	c := s.c
	c.subs.mu.Lock()
	if c.subs.sessions == nil {
		c.subs.sessions = make(map[*Subscription]bool)
	}
	c.subs.sessions[s] = true
	c.subs.mu.Unlock()
	for i, uri := range s.honoured.ResourceSubscriptions {
		if err := c.watchResource(ctx, uri); err != nil {
			s.leaveSession(s.honoured.ResourceSubscriptions[:i])
			return err
		}
	}
	started := c.spawn(func() { // ends with the subscription or the client
		s.outlive(l)
		s.leaveSession(s.honoured.ResourceSubscriptions)
		close(s.done)
	})
	if !started {
		return ErrClosed
	}
	return nil
}

func (s *Subscription) leaveSession(uris []string) {
	s.c.subs.mu.Lock()
	delete(s.c.subs.sessions, s)
	s.c.subs.mu.Unlock()
	for _, uri := range uris {
		s.c.unwatchResource(uri)
	}
}

func (c *Client) watchResource(ctx context.Context, uri string) error {
	c.subs.mu.Lock()
	if c.subs.uris == nil {
		c.subs.uris = make(map[string]int)
	}
	c.subs.uris[uri]++
	first := c.subs.uris[uri] == 1
	c.subs.mu.Unlock()
	if !first {
		return nil
	}
	_, err := c.Do(ctx, mcp.MethodSubscribe, mcp.SubscribeParams{URI: uri})
	if err != nil {
		c.subs.release(uri) // the next one asks the server again
	}
	return err
}

// release counts out one subscription to a resource, and reports whether it
// was the last.
func (r *subscriptions) release(uri string) (last bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.uris[uri]--
	if last = r.uris[uri] == 0; last {
		delete(r.uris, uri)
	}
	return last
}

func (c *Client) unwatchResource(uri string) {
	if last := c.subs.release(uri); !last || c.ctx.Err() != nil {
		return
	}
	if _, err := c.Do(c.ctx, mcp.MethodUnsubscribe, mcp.SubscribeParams{URI: uri}); err != nil {
		c.opts.Logger.Debug("resource not unsubscribed", "uri", uri, "error", err)
	}
}

// openStateless sends the first listen request and waits for its
// acknowledgement.
func (s *Subscription) openStateless(ctx context.Context) error {
	ctx, limits := s.c.bound(ctx, unlimited)
	defer limits.stop()
	acked, failed := s.request() //nolint:contextcheck // the subscription outlives this call
	select {
	case <-acked:
		return s.agreed(failed) //nolint:contextcheck // as above
	case err := <-failed:
		if isClosed(acked) { // it began, and has ended already
			return s.agreed(again(err)) //nolint:contextcheck // as above
		}
		close(s.done)
		return fmt.Errorf("%s: %w", mcp.MethodListen, orGone(err))
	case <-ctx.Done():
		s.end(context.Cause(ctx))
		if err := <-failed; err != nil {
			s.c.opts.Logger.Debug("subscription given up", "error", err)
		}
		close(s.done)
		return context.Cause(ctx)
	}
}

// agreed goes on with a stream that the server has acknowledged.
func (s *Subscription) agreed(ended <-chan error) error {
	if !s.c.spawn(func() { s.keepListening(ended) }) { // ends with the subscription
		close(s.done)
		return ErrClosed
	}
	return nil
}

func isClosed(ch <-chan struct{}) bool {
	select {
	case <-ch:
		return true
	default:
		return false
	}
}

// again returns a channel that gives a value which was taken from another.
func again(err error) <-chan error {
	ch := make(chan error, 1)
	ch <- err
	return ch
}

func orGone(err error) error {
	if err == nil {
		return errors.New("the server ended the subscription")
	}
	return err
}

// request sends a listen request. acked is closed when the server agrees;
// ended gets the reason when the stream is over, nil for a graceful end.
func (s *Subscription) request() (acked <-chan struct{}, ended <-chan error) {
	ack, end := make(chan struct{}), make(chan error, 1)
	s.mu.Lock()
	s.acked = ack
	s.mu.Unlock()
	if !s.c.spawn(func() { end <- s.stream(ack) }) { // ends with the stream, which s.ctx ends
		end <- ErrClosed
	}
	return ack, end
}

// stream is one listen request. It fails when the server does not acknowledge
// it in time.
//
// Spec: 2026-07-28 basic/patterns/cancellation#timeouts.
func (s *Subscription) stream(acked <-chan struct{}) error {
	ctx, cancel := context.WithCancelCause(s.ctx)
	defer cancel(nil)
	if limit := s.c.opts.Timeout; limit > 0 {
		timer := time.AfterFunc(limit, func() {
			if !isClosed(acked) {
				cancel(ErrTimeout)
			}
		})
		defer timer.Stop()
	}
	l, err := s.c.connected(ctx)
	if err != nil {
		return err
	}
	if l.session != nil {
		return errors.New("the server no longer speaks a stateless revision")
	}
	params, err := wire.Marshal(mcp.ListenParams{Notifications: s.filter})
	if err != nil {
		return err
	}
	var id jsonrpc.ID
	o := &era.Outgoing{Method: mcp.MethodListen, Params: params, Sent: func(sent jsonrpc.ID) {
		id = sent
		s.c.subs.route(sent, s)
	}}
	_, err = l.stateless.Raw(ctx, o)
	s.c.subs.unroute(id)
	return err
}

// keepListening listens again whenever the stream ends, until the
// subscription is closed or the server says that it does not serve it.
func (s *Subscription) keepListening(ended <-chan error) {
	defer close(s.done)
	began := time.Now()
	for attempt := 0; ; {
		err := <-ended
		if s.ctx.Err() != nil {
			return
		}
		// A server that agrees and ends at once must not be asked for ever.
		if time.Since(began) >= maxBackOff {
			attempt = 0
		}
		if attempt++; isAnswer(err) || attempt > maxAttempts {
			s.end(fmt.Errorf("%s: %w", mcp.MethodListen, orGone(err)))
			return
		}
		if !backOff(s.ctx, attempt) {
			return
		}
		var acked <-chan struct{}
		acked, ended = s.request()
		began = time.Now()
		select {
		case <-acked:
			s.c.cache.forgetAll()
			s.tell(Event{Gap: true})
		case err := <-ended:
			ended = again(err)
		}
	}
}

const (
	// maxAttempts is how often in a row listening again may fail, or end soon.
	maxAttempts = 10
	// maxBackOff is the longest wait between two attempts. A stream that lasts
	// as long has not failed.
	maxBackOff = 10 * time.Second
)

// backOff waits before the next attempt: longer each time, up to maxBackOff,
// and not all clients at the same moment. It reports false when ctx ended.
func backOff(ctx context.Context, attempt int) bool {
	longest := min(maxBackOff, 50*time.Millisecond<<attempt)
	timer := time.NewTimer(longest/2 + rand.N(longest/2)) //nolint:gosec // spreading load needs no secrecy
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
