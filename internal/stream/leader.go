package stream

import (
	"sync"
	"time"
)

const (
	// patience is how long the reader may be away from reading, and how long
	// an answer may be kept back.
	patience = 5 * time.Millisecond
	// short is how long a request takes that is not worth a goroutine.
	short = 200 * time.Microsecond
	// gathering is for how long answers are kept back before they go out.
	gathering = time.Millisecond
	// wariness is how many requests in a row must be short, after one that
	// took longer than patience, before the reader serves one again.
	wariness = 64
)

// leadership is the reading of a connection, which one goroutine does at a time. It
// also serves what it reads, as long as requests are short: then no goroutine
// has to be woken for one. When a request takes longer, or waits for its
// client, another goroutine takes the leadership over and reads on, and this one
// ends with its request.
//
// Nothing runs while the connection is idle: a request starts the timer,
// unless it is running, and the timer starts itself again only while one is
// being served.
//
// With a goroutine for each request instead, a small call over stdio takes 1.7
// times as much processor time in the stateless era, and 2.3 times in a session;
// answers that are kept back save a sixth of it with 16 calls in flight (measured
// 2026-11-22, docs/decisions/0008-hot-path.md). When the leadership is wrong, two
// goroutines read one connection and tear its frames, or none does: then neither
// a cancellation nor the client's answer to a question arrives, and an answer that
// was kept back never goes out.
type leadership struct {
	promote func() // starts the goroutine that takes over

	mu    sync.Mutex
	turn  uint64    // counts the turns; a new one ends all before
	away  bool      // a turn is on: the lead can be taken from the reader
	since time.Time // when that turn began, or an earlier one whose answer is kept back
	began time.Time // when that turn began
	wary  int       // how many requests must be short before the reader serves one
	kept  bool      // answers are kept back
	timer *time.Timer
	armed bool
}

// begin opens a turn: until its end, the lead can be taken from the caller,
// who has it now. kept says that answers are kept back.
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

// end closes a turn, and reports whether the caller still has the lead. kept
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

// handOver lets another goroutine take over, if the turn is still on.
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

// took says how long a request took that had a goroutine of its own.
func (l *leadership) took(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.learn(d)
}

// learn makes a request that was not short cost the ones that follow a
// goroutine each, so that more of its kind are served side by side.
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

// keeping reports whether answers are kept back, and whether for long enough.
func (l *leadership) keeping() (kept, due bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.kept, l.kept && time.Since(l.since) > gathering
}

// release reports whether answers were kept back, which is over.
func (l *leadership) release() (kept bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	kept, l.kept = l.kept, false
	return kept
}

// arm has look called after d. It is called with the lock held.
func (l *leadership) arm(d time.Duration) {
	l.armed = true
	if l.timer == nil {
		l.timer = time.AfterFunc(d, l.check) // does not block; stop stops it
		return
	}
	l.timer.Reset(d)
}

// check takes the lead from a reader who has been away for too long.
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
