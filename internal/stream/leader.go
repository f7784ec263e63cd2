package stream

import (
	"sync"
	"time"
)

const (
	// patience is how long the leader may serve without reading, and how long
	// an answer may be kept back.
	patience = 5 * time.Millisecond
	// short is the longest that a request may take and still not be worth a
	// goroutine.
	short = 200 * time.Microsecond
	// gathering is how long answers are kept back so that several go out in one
	// write.
	gathering = time.Millisecond
	// wariness is how many requests in a row must be short, after one that
	// took longer than patience, before the reader serves one again.
	wariness = 64
)

// leadership is the Leader/Followers pattern for one connection: at any time one
// goroutine, the leader, reads. It also serves the requests that it reads, as
// long as they are short, so that none of them has to wake a goroutine. When a
// request takes longer, or waits for the client, another goroutine is promoted
// to leader and reads on, and the former leader ends with its request.
//
// A turn is the time in which the leader serves instead of reading; only then
// can it be replaced. A turn starts the timer unless it is running, and the
// timer restarts itself only during a turn, so an idle connection has none.
//
// With a goroutine for each request instead, a small call over stdio takes 1.7
// times as much processor time in the stateless era, and 2.3 times in a session.
// Keeping answers back saves a sixth of it with 16 calls in flight (measured
// 2026-11-22, docs/decisions/0008-hot-path.md). A bug here shows in one of two
// ways. With two leaders, both read the connection and tear its frames. With
// none, neither a cancellation nor the client's answer to a question is read, and
// an answer that was kept back never goes out.
type leadership struct {
	promote func() // starts the goroutine of the new leader

	mu    sync.Mutex
	turn  uint64    // number of the latest turn
	away  bool      // a turn is open: the leader can be replaced
	since time.Time // when that turn began, or the first one whose answer is still kept back
	began time.Time // when that turn began
	wary  int       // how many requests must be short before the leader serves one again
	kept  bool      // answers are kept back
	timer *time.Timer
	armed bool // the timer is running
}

// begin opens a turn of the caller, which is the leader and can be replaced
// until the turn ends. kept says that answers are kept back.
func (l *leadership) begin() (turn uint64, kept bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.turn++
	l.away, l.began = true, time.Now()
	if !l.kept {
		l.since = l.began
	}
	if !l.armed {
		l.arm(patience - l.began.Sub(l.since))
	}
	return l.turn, l.kept
}

// end closes a turn, and reports whether the caller is still the leader. kept
// says that answers are kept back now.
func (l *leadership) end(turn uint64, kept bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.away || l.turn != turn {
		return false
	}
	l.away, l.kept = false, kept
	l.learn(time.Since(l.began))
	return true
}

// handOver promotes another goroutine to leader, if the turn is still open.
func (l *leadership) handOver(turn uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.turn == turn {
		l.takeOver()
	}
}

func (l *leadership) takeOver() {
	if l.away {
		l.away, l.kept = false, false
		l.learn(patience)
		l.promote()
	}
}

// took records how long a request took that had a goroutine of its own.
func (l *leadership) took(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.learn(d)
}

// learn decides whether the next requests get a goroutine each: after one that
// was not short they do, so that more of its kind are served concurrently.
func (l *leadership) learn(took time.Duration) {
	switch {
	case took >= patience:
		l.wary = wariness
	case took > short:
		l.wary = max(l.wary, 1)
	case l.wary > 0:
		l.wary--
	}
}

// trusts reports whether the next request is likely to be short.
func (l *leadership) trusts() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.wary == 0
}

// keeping reports whether answers are kept back, and whether they are due to
// go out.
func (l *leadership) keeping() (kept, due bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.kept, l.kept && time.Since(l.since) > gathering
}

// release notes that no answers are kept back any more, and reports whether
// some were.
func (l *leadership) release() (kept bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	kept, l.kept = l.kept, false
	return kept
}

// arm schedules check after d. The caller holds mu.
func (l *leadership) arm(d time.Duration) {
	l.armed = true
	if l.timer == nil {
		l.timer = time.AfterFunc(d, l.check) // does not block; stop stops it
		return
	}
	l.timer.Reset(d)
}

// check replaces a leader that has not read for too long.
func (l *leadership) check() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.armed = false
	if !l.away {
		return
	}
	if rest := patience - time.Since(l.since); rest > 0 {
		l.arm(rest)
		return
	}
	l.takeOver()
}

// stop stops the timer, when there will be no more turns.
func (l *leadership) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.timer != nil {
		l.timer.Stop()
	}
}
