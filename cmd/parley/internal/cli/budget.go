package cli

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/parley-mcp/parley/client"
)

// overTime is the error of a command that took longer than --timeout.
type overTime struct{ limit time.Duration }

// Error names the limit.
func (e *overTime) Error() string { return fmt.Sprintf("the command did not end within %s", e.limit) }

// Is makes it a timeout.
func (e *overTime) Is(target error) bool {
	return target == client.ErrTimeout || target == context.DeadlineExceeded
}

// budget is the time that a command may take as a whole. It does not pass while
// the user of this program is thinking.
type budget struct {
	mu       sync.Mutex
	timer    *time.Timer
	left     time.Duration // while the clock stands still, and at the start
	since    time.Time     // when it last began to run
	thinking int           // how many questions are open
}

// limited returns a context that ends when the time of --timeout is over.
func (a *app) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	limit := a.flags.timeout
	if limit <= 0 {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	b := &budget{left: limit, since: time.Now()}
	b.timer = time.AfterFunc(limit, func() { cancel(&overTime{limit}) })
	a.budget = b
	return ctx, func() { b.timer.Stop(); cancel(nil) }
}

// think stops the clock until end is called.
func (b *budget) think() (end func()) {
	if b == nil {
		return func() {}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.thinking++; b.thinking == 1 && b.timer.Stop() {
		b.left -= time.Since(b.since)
	}
	return b.resume
}

// think stops the clock of the command, if it has one, until end is called.
func (a *app) think() (end func()) { return a.budget.think() }

func (b *budget) resume() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.thinking--; b.thinking == 0 {
		b.since = time.Now()
		b.timer.Reset(max(b.left, 0))
	}
}

// inTime names the limit in an error that its end led to.
func inTime(ctx context.Context, err error) error {
	var over *overTime
	if err == nil || !errors.As(context.Cause(ctx), &over) || errors.As(err, &over) {
		return err
	}
	return fmt.Errorf("%w: %w", over, err)
}
