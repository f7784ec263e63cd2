package client

import (
	"context"
	"sync"
	"time"
)

// watchdog ends a call that makes no progress, and one that makes progress
// for too long. Neither counts the time in which this side's own user or
// model is thinking.
//
// Spec: 2026-07-28 basic/patterns/cancellation#timeouts.
type watchdog struct {
	c      *Client
	limit  time.Duration // without a sign of life; negative is for ever
	cancel context.CancelCauseFunc

	mu    sync.Mutex
	alive time.Time // the last sign of life
	end   time.Time // of all patience; zero is never
	timer *time.Timer
}

func (c *Client) watch(o *callOptions, cancel context.CancelCauseFunc) *watchdog {
	d := &watchdog{c: c, limit: o.timeout, cancel: cancel, alive: time.Now()}
	if o.maxTimeout > 0 {
		d.end = d.alive.Add(o.maxTimeout)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if wait, ok := d.wait(d.alive); ok {
		d.timer = time.AfterFunc(wait, d.check)
	}
	return d
}

// wait returns how long there is patience from now on.
func (d *watchdog) wait(now time.Time) (time.Duration, bool) {
	var until time.Time
	if d.limit >= 0 {
		until = d.alive.Add(d.limit)
	}
	if !d.end.IsZero() && (until.IsZero() || d.end.Before(until)) {
		until = d.end
	}
	return until.Sub(now), !until.IsZero()
}

// progress is a sign of life.
func (d *watchdog) progress() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.alive = time.Now()
}

func (d *watchdog) check() {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Now()
	if d.c.asking.Load() > 0 {
		d.forgive(now)
	} else if answered := time.Unix(0, d.c.answered.Load()); answered.After(d.alive) {
		d.alive = answered
	}
	if wait, _ := d.wait(now); wait > 0 {
		d.timer.Reset(wait)
		return
	}
	d.cancel(ErrTimeout)
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
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timer != nil {
		d.timer.Stop()
	}
}
