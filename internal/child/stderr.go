package child

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// defaultStderrRate is Options.StderrRate if that is 0.
const defaultStderrRate = 256 << 10

// throttled passes on what a process writes to its standard error, up to a number of
// bytes in each second. It takes everything, even if the writer behind it fails: the
// process must not block or break because of its log.
type throttled struct {
	to   io.Writer
	rate int // negative means no limit

	mu    sync.Mutex
	since time.Time // when the current second began
	sent  int       // in the current second
	left  int       // left out since the last notice
}

// Write implements io.Writer.
func (t *throttled) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if now := time.Now(); now.Sub(t.since) >= time.Second {
		t.notice()
		t.since, t.sent = now, 0
	}
	pass := p
	if t.rate >= 0 {
		pass = p[:min(len(p), t.rate-t.sent)]
	}
	if len(pass) > 0 {
		_, _ = t.to.Write(pass) // there is nobody to tell
	}
	t.sent += len(pass)
	t.left += len(p) - len(pass)
	return len(p), nil
}

// finish says what was left out since the last notice.
func (t *throttled) finish() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.notice()
}

func (t *throttled) notice() {
	if t.left > 0 {
		_, _ = fmt.Fprintf(t.to, "\n[%d bytes of standard error left out]\n", t.left) // as in Write
		t.left = 0
	}
}
