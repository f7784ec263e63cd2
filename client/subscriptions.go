package client

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/parley-mcp/parley/internal/era"
	"github.com/parley-mcp/parley/internal/serial"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
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
	s.queue.Wait()
	return nil
}

// tell queues an event for the handler. It returns the reason if it is dropped, or 0.
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
	uris     map[string]int // session: number of subscriptions by resource URI
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

// owner finds the subscription that a notification is tagged with. One without a tag
// belongs to the subscription on whose stream it came, or else to the only one that
// fits; tagged is false then.
func (r *subscriptions) owner(ctx context.Context, m *jsonrpc.Message, fits func(*Subscription) bool) (s *Subscription, tagged bool) {
	var meta struct {
		ID *jsonrpc.ID `json:"io.modelcontextprotocol/subscriptionId"`
	}
	tagged = m.Meta != nil && wire.Unmarshal(m.Meta, &meta) == nil && meta.ID != nil
	r.mu.Lock()
	defer r.mu.Unlock()
	if tagged {
		if number, ok := era.Number(*meta.ID); ok {
			meta.ID = &number // as a careless server returns it
		}
		return r.byID[*meta.ID], true
	}
	if s, ok := ctx.Value(streamKey{}).(*Subscription); ok {
		return s, false
	}
	for _, candidate := range r.byID {
		switch {
		case !fits(candidate):
		case s != nil:
			return nil, false
		default:
			s = candidate
		}
	}
	return s, false
}

// streamKey is where the context of a listen request has its subscription.
type streamKey struct{}

func (r *subscriptions) acknowledged(ctx context.Context, m *jsonrpc.Message) mcp.DropReason {
	s, _ := r.owner(ctx, m, (*Subscription).waits)
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

// changed invalidates the cache and reports a change to the subscription that the
// notification is tagged with, or, in a session, to all whose filter matches. It
// returns the reason if no subscription gets the change, or 0.
func (c *Client) changed(ctx context.Context, m *jsonrpc.Message, change mcp.Change) mcp.DropReason {
	wants := func(s *Subscription) bool { return s.wants(change) }
	s, tagged := c.subs.owner(ctx, m, wants)
	c.cache.changed(change, c.subs.watched(s)...)
	if change.Kind == mcp.ToolsChanged {
		c.tools.forget()
	}
	if s != nil {
		if !tagged {
			c.opts.Logger.Warn("the server reports a change without saying for which subscription", "server", c.transport.Name(), "method", m.Method)
		}
		if !s.wants(change) {
			return mcp.DropNoTaker
		}
		return s.tell(Event{Change: change})
	}
	reason := mcp.DropNoTaker
	c.subs.mu.Lock()
	defer c.subs.mu.Unlock()
	if wire.Find(m.Meta, mcp.MetaSubscriptionID) != nil || c.subs.wanted(wants) {
		reason = mcp.DropNoSubscription
	}
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

// watched returns the resources that a subscription watches; nil stands for all that
// sessions have.
func (r *subscriptions) watched(s *Subscription) []string {
	if s != nil {
		return s.filter.ResourceSubscriptions
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Collect(maps.Keys(r.uris))
}

// wanted reports whether any subscription of the stateless era fits. The caller holds
// r.mu.
func (r *subscriptions) wanted(fits func(*Subscription) bool) bool {
	for _, s := range r.byID {
		if fits(s) {
			return true
		}
	}
	return false
}

// waits reports whether the subscription waits for the server to acknowledge it.
func (s *Subscription) waits() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.acked != nil
}

// wants reports whether the subscription asked for a change. The URI of a changed
// resource need not be in the filter: it may be that of a sub-resource.
//
// Spec: 2026-07-28 basic/patterns/subscriptions#notification-filter.
func (s *Subscription) wants(change mcp.Change) bool {
	if change.Kind == mcp.ResourceUpdated {
		return len(s.filter.ResourceSubscriptions) > 0
	}
	return s.filter.Matches(change)
}

// openSession subscribes in a session: changes of lists are announced there anyway,
// and resources are subscribed to one by one.
func (s *Subscription) openSession(ctx context.Context, l *live) error {
	s.honoured = era.Honoured(s.filter, &l.offered().caps)
	c := s.c
	if isClosed(l.unheard()) {
		c.opts.Logger.Warn("the server announces changes and refuses to stream them", "server", c.transport.Name())
		s.honoured = mcp.SubscriptionFilter{}
	}
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
		c.subs.release(uri) // the next subscription asks the server again
	}
	return err
}

// release removes one subscription to a resource from the count, and reports whether
// it was the last.
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
	ctx, watchdog := s.c.bound(ctx, unlimited)
	defer watchdog.stop()
	acked, failed := s.request() //nolint:contextcheck // the subscription outlives this call
	select {
	case <-acked:
		return s.agreed(failed) //nolint:contextcheck // as above
	case err := <-failed:
		if isClosed(acked) { // acknowledged, and already over
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

// agreed keeps a stream open that the server has acknowledged.
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

// again returns a channel that holds err, which was received from another.
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

// stream sends one listen request and waits until it is over. It fails if the server
// does not acknowledge the request in time.
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
	_, err = l.stateless.Raw(context.WithValue(ctx, streamKey{}, s), o)
	s.c.subs.unroute(id)
	return err
}

// keepListening opens a new stream whenever one ends, until the subscription is
// closed or the server refuses it.
func (s *Subscription) keepListening(ended <-chan error) {
	defer close(s.done)
	began, told := time.Now(), false
	for attempt := 0; ; {
		err := <-ended
		if s.ctx.Err() != nil {
			return
		}
		// A server that agrees and then ends the stream must not be asked forever.
		if time.Since(began) >= maxBackOff {
			attempt = 0
		}
		if attempt++; isAnswer(err) || isFinal(err) || attempt > maxAttempts {
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
			told = false
			s.c.forget()
			s.tell(Event{Gap: true})
		case err := <-ended:
			if !told && isLoss(err) && s.ctx.Err() == nil {
				told = true
				s.c.opts.Logger.Warn("a subscription is interrupted; trying to open it again", "server", s.c.transport.Name(), "reason", err)
			}
			ended = again(err)
		}
	}
}

// isLoss reports whether a stream ended with an error that another attempt may not
// meet.
func isLoss(err error) bool { return err != nil && !isAnswer(err) && !isFinal(err) }

// isFinal reports whether the client may not connect again, so that another attempt
// would fail, too.
func isFinal(err error) bool {
	_, ok := errors.AsType[*restartsError](err)
	return ok
}

const (
	// maxAttempts is how often in a row a new stream may fail, or end early.
	maxAttempts = 10
	// maxBackOff is the longest wait between two attempts. A stream that lasts at
	// least as long does not count as failed.
	maxBackOff = 10 * time.Second
)

// backOff waits before the next attempt: longer each time, up to maxBackOff, with
// jitter so that clients do not all return at once. It reports false when ctx ended.
func backOff(ctx context.Context, attempt int) bool {
	longest := min(maxBackOff, 50*time.Millisecond<<attempt)
	timer := time.NewTimer(longest/2 + rand.N(longest/2)) //nolint:gosec // jitter needs no secure randomness
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
