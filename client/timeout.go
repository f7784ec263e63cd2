package client

import (
	"context"
	"sync"
	"time"

	"github.com/parley-mcp/parley/internal/waiting"
)

// watchdog ends a call that makes no progress, or makes progress for too long, and
// any call when its client ends. The limits do not count the time in which this
// side's own user or model is thinking. As a context, it is the caller's context with
// the watchdog as an additional value, from which OriginOf finds the call.
//
// Spec: 2026-07-28 basic/patterns/cancellation#timeouts.
type watchdog struct {
	context.Context //nolint:containedctx // it is one

	c      *Client
	req    *Request        // nil if this is not a call of the client's user
	within *watchdog       // the call on whose behalf this one is made; nil if it is its own
	notes  *notes          // nil if nobody takes the call's notifications
	run    context.Context //nolint:containedctx // the context to run the call with, ended by cancel
	// keptNotes says that notes outlives this, as the call has become a task.
	keptNotes bool
	limit     time.Duration // longest time without a sign of life; negative means no limit
	cancel    context.CancelCauseFunc

	// These are guarded by Client.watchdogs.mu.
	alive time.Time   // the last sign of life
	end   time.Time   // the deadline even with signs of life; zero means none
	timer *time.Timer // fires at the earlier deadline; nil if there is none
}

// unlimited are the options of something without a time limit.
var unlimited = &callOptions{timeout: -1}

// bound returns a context that ends with ctx, with the client, and when a time limit
// in o is exceeded. The caller must call stop on the watchdog, which ends it, too.
func (c *Client) bound(ctx context.Context, o *callOptions) (context.Context, *watchdog) {
	d := &watchdog{Context: ctx, c: c}
	c.watch(d, o)
	return d.run, d
}

// boundCall is bound for a call of the client's user.
func (c *Client) boundCall(ctx context.Context, req *Request) (context.Context, *watchdog) {
	d := &watchdog{Context: ctx, c: c, req: req, within: req.opts.within}
	d.notes = c.expect(d)
	c.watch(d, &req.opts)
	if d.notes != nil {
		d.notes.begin()
	}
	return d.run, d
}

func (c *Client) watch(d *watchdog, o *callOptions) {
	d.limit, d.alive = o.timeout, time.Now()
	if o.maxTimeout > 0 {
		d.end = d.alive.Add(o.maxTimeout)
	}
	d.run, d.cancel = context.WithCancelCause(waiting.With(d, c.pause))
	c.watchdogs.add(d)
}

// Value implements context.Context.
func (d *watchdog) Value(key any) any {
	if key == (originKey{}) {
		if d.within != nil {
			return d.within
		}
		return d
	}
	return d.Context.Value(key)
}

// until returns the earlier deadline; limited is false if there is none.
func (d *watchdog) until() (until time.Time, limited bool) {
	if d.limit >= 0 {
		until = d.alive.Add(d.limit)
	}
	if !d.end.IsZero() && (until.IsZero() || d.end.Before(until)) {
		until = d.end
	}
	return until, !until.IsZero()
}

func (d *watchdog) expired(now time.Time) bool {
	until, limited := d.until()
	return limited && !until.After(now)
}

// progress is a sign of life.
func (d *watchdog) progress() {
	d.c.watchdogs.mu.Lock()
	defer d.c.watchdogs.mu.Unlock()
	d.alive = time.Now()
}

// excuse does not count the time in which somebody on this side was thinking.
func (d *watchdog) excuse(now time.Time) {
	if d.c.asking.Load() > 0 {
		d.forgive(now)
	} else if answered := time.Unix(0, d.c.answered.Load()); answered.After(d.alive) {
		d.alive = answered
	}
}

// forgive moves the deadlines, because somebody on this side is still thinking.
func (d *watchdog) forgive(now time.Time) {
	since := now.Sub(d.alive)
	d.alive = now
	if !d.end.IsZero() {
		d.end = d.end.Add(since)
	}
}

// stop ends everything that belongs to the call. When it returns, all notifications
// that came before the answer have been delivered.
func (d *watchdog) stop() {
	if d.notes != nil && !d.keptNotes {
		d.notes.finish()
	}
	d.c.watchdogs.remove(d)
	d.cancel(nil)
}

// wait sets the timer to the earlier deadline. The caller holds Client.watchdogs.mu.
func (d *watchdog) wait() {
	until, limited := d.until()
	switch {
	case !limited:
	case d.timer == nil:
		d.timer = time.AfterFunc(time.Until(until), d.check)
	default:
		d.timer.Reset(time.Until(until))
	}
}

// check ends the call, unless a sign of life has moved the deadline: then it waits on.
func (d *watchdog) check() {
	w := &d.c.watchdogs
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, on := w.all[d]; !on {
		return // the call ended while the timer fired
	}
	now := time.Now()
	if d.expired(now) {
		d.excuse(now)
	}
	if d.expired(now) {
		delete(w.all, d)
		d.cancel(ErrTimeout)
		return
	}
	d.wait()
}

// watchdogs holds the watchdogs of all calls of a client. The zero value is ready.
type watchdogs struct {
	mu   sync.Mutex
	all  map[*watchdog]struct{}
	over error // why there are no more calls
}

func (w *watchdogs) add(d *watchdog) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over != nil {
		d.cancel(w.over)
		return
	}
	if w.all == nil {
		w.all = make(map[*watchdog]struct{})
	}
	w.all[d] = struct{}{}
	d.wait()
}

func (w *watchdogs) remove(d *watchdog) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.all, d)
	if d.timer != nil {
		d.timer.Stop()
	}
}

// only returns the only call in flight of the client's user that fits, or nil if there is
// none or more than one.
func (w *watchdogs) only(fits func(*Request) bool) *watchdog {
	w.mu.Lock()
	defer w.mu.Unlock()
	var found *watchdog
	for d := range w.all {
		if d.req == nil || d.within != nil || !fits(d.req) {
			continue
		}
		if found != nil {
			return nil
		}
		found = d
	}
	return found
}

// end ends all calls, including those that begin later.
func (w *watchdogs) end(why error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = why
	for d := range w.all {
		d.cancel(why)
	}
	clear(w.all)
}
