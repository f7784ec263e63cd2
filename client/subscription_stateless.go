package client

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/parley-mcp/parley/internal/era"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

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
	timer := time.NewTimer(pauseBefore(attempt))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// pauseBefore returns how long to wait before an attempt; the first is number 1.
func pauseBefore(attempt int) time.Duration {
	longest := min(maxBackOff, 50*time.Millisecond<<attempt)
	return longest/2 + rand.N(longest/2) //nolint:gosec // jitter needs no secure randomness
}
