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
	if c.x.ProgressToken.IsZero() || c.x.Back == nil || !finite(progress) || !finite(total) {
		return
	}
	next := &mcp.ProgressParams{ProgressToken: c.x.ProgressToken, Progress: progress, Total: total, Message: message}
	if !c.progress.offer(next, c.s.opts.ProgressInterval) {
		return
	}
	for next != nil {
		_ = c.x.Back.Notify(ctx, mcp.NoteProgress, next) // the answer will fail too
		next = c.progress.sent()
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
// to send it.
func (p *progress) offer(next *mcp.ProgressParams, interval time.Duration) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	// Spec: 2026-07-28 basic/patterns/progress#implementation-notes.
	if p.over || p.begun && next.Progress <= p.last {
		return false
	}
	now, final := time.Now(), next.Progress == next.Total
	if p.begun && !final && now.Sub(p.at) < interval {
		return false
	}
	p.begun, p.last, p.at = true, next.Progress, now
	if p.sending {
		p.waiting = next
		return false
	}
	p.sending = true
	return true
}

// sent is called after each sending; it returns what to send next, or nil.
func (p *progress) sent() *mcp.ProgressParams {
	p.mu.Lock()
	defer p.mu.Unlock()
	next := p.waiting
	p.waiting = nil
	if p.over {
		next = nil
	}
	p.sending = next != nil
	return next
}

func (p *progress) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
}
