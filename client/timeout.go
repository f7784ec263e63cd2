package client

import (
	"context"
	"sync"
	"time"

	"github.com/parley-mcp/parley/internal/waiting"
)

// watchdog ends a call that makes no progress, one that makes progress for
// too long, and any call when its client ends. The limits do not count the
// time in which this side's own user or model is thinking.
//
// Spec: 2026-07-28 basic/patterns/cancellation#timeouts.
type watchdog struct {
	c      *Client
	limit  time.Duration // without a sign of life; negative is for ever
	cancel context.CancelCauseFunc

	alive time.Time // the last sign of life; guarded by Client.dogs
	end   time.Time // of all patience; zero is never; guarded as alive is
}

// unlimited is for what takes as long as it takes.
var unlimited = &callOptions{timeout: -1}

// bound returns a context that ends with ctx, with the client, and when the
// limits in o are over. The watchdog's stop ends it, too, and must be called.
func (c *Client) bound(ctx context.Context, o *callOptions) (context.Context, *watchdog) {
	d := &watchdog{c: c, limit: o.timeout, alive: time.Now()}
	if o.maxTimeout > 0 {
		d.end = d.alive.Add(o.maxTimeout)
	}
	ctx, d.cancel = context.WithCancelCause(waiting.With(ctx, c.pause))
	c.dogs.add(d)
	return ctx, d
}

// until returns when patience ends, and whether it does.
func (d *watchdog) until() (time.Time, bool) {
	var until time.Time
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
	d.c.dogs.mu.Lock()
	defer d.c.dogs.mu.Unlock()
	d.alive = time.Now()
}

// excuse takes the time off in which somebody on this side was thinking.
func (d *watchdog) excuse(now time.Time) {
	if d.c.asking.Load() > 0 {
		d.forgive(now)
	} else if answered := time.Unix(0, d.c.answered.Load()); answered.After(d.alive) {
		d.alive = answered
	}
}

// forgive starts over: somebody on this side is thinking.
func (d *watchdog) forgive(now time.Time) {
	since := now.Sub(d.alive)
	d.alive = now
	if !d.end.IsZero() {
		d.end = d.end.Add(since)
	}
}

func (d *watchdog) stop() {
	d.c.dogs.remove(d)
	d.cancel(nil)
}

// watchdogs are those of all calls of a client. They share one timer: a timer
// for each call would have to be set and stopped with each, and hardly any
// ever fires. The zero value is ready.
type watchdogs struct {
	mu    sync.Mutex
	all   map[*watchdog]struct{}
	timer *time.Timer
	due   time.Time // when the timer fires; zero is never
	over  error     // why there are no more calls
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
	w.expect(d)
}

// remove leaves the timer as it is: the next call needs it at about that time.
func (w *watchdogs) remove(d *watchdog) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.all, d)
}

// expect sees to it that the timer fires in time for d. The caller holds w.mu.
func (w *watchdogs) expect(d *watchdog) {
	until, limited := d.until()
	if !limited || !w.due.IsZero() && !until.Before(w.due) {
		return
	}
	w.due = until
	if w.timer == nil {
		w.timer = time.AfterFunc(time.Until(until), w.check)
		return
	}
	w.timer.Reset(time.Until(until))
}

// check ends the calls whose time is over.
func (w *watchdogs) check() {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	w.due = time.Time{}
	for d := range w.all {
		if d.expired(now) {
			d.excuse(now)
		}
		if d.expired(now) {
			delete(w.all, d)
			d.cancel(ErrTimeout)
			continue
		}
		w.expect(d)
	}
}

// end ends all calls, and those that are yet to begin.
func (w *watchdogs) end(why error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = why
	for d := range w.all {
		d.cancel(why)
	}
	clear(w.all)
	if w.timer != nil {
		w.timer.Stop()
	}
}
