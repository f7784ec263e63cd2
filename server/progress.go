package server

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/parley-mcp/parley/mcp"
)

// Progress tells the client how far the request has come. total is what
// progress runs up to, 0 when unknown; message is for people and may be empty.
// If the client has not asked for progress, it does nothing.
//
// A progress that is not above the last one sent is dropped, and so is one that
// follows it too soon (Options.ProgressInterval), unless it is the first or the
// final one (progress == total). Progress may block while the client reads
// slowly; errors have no consequence and are not reported.
//
// Spec: 2026-07-28 basic/patterns/progress#progress-flow.
func (c *Call) Progress(ctx context.Context, progress, total float64, message string) {
	switch {
	case c.x.ProgressToken.IsZero() || c.x.Back == nil:
		c.x.Drop(mcp.DropNotWanted, mcp.NoteProgress, nil)
		return
	case !finite(progress) || !finite(total):
		c.x.Drop(mcp.DropNoForm, mcp.NoteProgress, nil)
		return
	}
	next := &mcp.ProgressParams{ProgressToken: c.x.ProgressToken, Progress: progress, Total: total, Message: message}
	send, dropped := c.progress.offer(next, c.s.opts.ProgressInterval)
	if dropped != 0 {
		c.x.Drop(dropped, mcp.NoteProgress, nil)
	}
	for send && next != nil {
		_ = c.x.Back.Notify(ctx, mcp.NoteProgress, next) // the answer will fail too
		if next, dropped = c.progress.sent(); dropped != 0 {
			c.x.Drop(dropped, mcp.NoteProgress, nil)
		}
	}
}

// finite reports whether f has a JSON form.
func finite(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }

// progress is the progress of one exchange. One goroutine at a time sends, so
// that values leave in order without a lock held during network I/O. Of what
// others offer in the meantime, only the latest is kept, and sent next.
type progress struct {
	mu      sync.Mutex
	begun   bool
	over    bool
	sending bool
	last    float64 // the highest accepted
	at      time.Time
	waiting *mcp.ProgressParams
}

// offer decides whether next is to be sent, and reports whether the caller has
// to send it. dropped is why it, or one that waited, is not sent, or 0.
func (p *progress) offer(next *mcp.ProgressParams, interval time.Duration) (send bool, dropped mcp.DropReason) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now, final := time.Now(), next.Progress == next.Total
	// Spec: 2026-07-28 basic/patterns/progress#implementation-notes.
	switch {
	case p.over:
		return false, mcp.DropAnswered
	case p.begun && next.Progress <= p.last:
		return false, mcp.DropNotIncreasing
	case p.begun && !final && now.Sub(p.at) < interval:
		return false, mcp.DropThrottled
	}
	p.begun, p.last, p.at = true, next.Progress, now
	if p.sending {
		if p.waiting != nil {
			dropped = mcp.DropSuperseded
		}
		p.waiting = next
		return false, dropped
	}
	p.sending = true
	return true, 0
}

// sent is called after each sending; it returns what to send next, or nil.
// dropped is why what waited is not sent, or 0.
func (p *progress) sent() (next *mcp.ProgressParams, dropped mcp.DropReason) {
	p.mu.Lock()
	defer p.mu.Unlock()
	next = p.waiting
	p.waiting = nil
	if p.over && next != nil {
		next, dropped = nil, mcp.DropAnswered
	}
	p.sending = next != nil
	return next, dropped
}

func (p *progress) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
}
