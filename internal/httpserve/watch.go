package httpserve

import (
	"net/http"
	"os"
	"sync"
	"time"
)

// Watch ends reads, or writes, that take too long. All of them get the same
// time, so they are due in the order in which they began, and one timer does for
// all: a deadline of its own for each would have the runtime look at its timers
// for each. A Watch is safe for concurrent use.
type Watch struct {
	timeout time.Duration
	begun   time.Time
	end     func(*http.ResponseController, time.Time) error

	mu     sync.Mutex
	oldest *watched
	newest *watched
	timer  *time.Timer
	timed  bool // whether timer runs
}

// watched is a read or a write that is under way.
type watched struct {
	w            http.ResponseWriter
	due          time.Duration // since the watch began
	late         *ending       // nil while it is in time
	older, newer *watched
}

// ending is what is done to a read or write that takes too long.
type ending struct {
	over  chan struct{} // closed when it is done
	panic any           // of the writer's own
}

// WatchReads returns a Watch over reads of requests.
func WatchReads(timeout time.Duration) *Watch {
	return &Watch{timeout: timeout, begun: time.Now(), end: (*http.ResponseController).SetReadDeadline}
}

// WatchWrites returns a Watch over writes of responses.
func WatchWrites(timeout time.Duration) *Watch {
	return &Watch{timeout: timeout, begun: time.Now(), end: (*http.ResponseController).SetWriteDeadline}
}

// over watches over do, which reads or writes with w, and returns its error, or
// that it took too long. of is room to remember it, until over returns.
func (o *Watch) over(of *watched, w http.ResponseWriter, do func() error) (err error) {
	o.begin(of, w)
	defer func() { err = o.done(of, err) }() // whatever do does: w is not the Watch's any longer
	return do()
}

func (o *Watch) begin(of *watched, w http.ResponseWriter) {
	*of = watched{w: w, due: time.Since(o.begun) + o.timeout}
	o.mu.Lock()
	defer o.mu.Unlock()
	if of.older = o.newest; of.older == nil {
		o.oldest = of
	} else {
		of.older.newer = of
	}
	o.newest = of
	if !o.timed {
		o.timeLocked(o.timeout)
	}
}

func (o *Watch) done(of *watched, err error) error {
	o.mu.Lock()
	late := of.late
	if late == nil {
		o.removeLocked(of)
	}
	o.mu.Unlock()
	of.w = nil
	if late == nil {
		return err
	}
	if <-late.over; late.panic != nil {
		panic(late.panic)
	}
	if err == nil {
		err = os.ErrDeadlineExceeded // that has ended what comes next
	}
	return err
}

func (o *Watch) removeLocked(of *watched) {
	if of.older == nil {
		o.oldest = of.newer
	} else {
		of.older.newer = of.newer
	}
	if of.newer == nil {
		o.newest = of.older
	} else {
		of.newer.older = of.older
	}
}

func (o *Watch) timeLocked(after time.Duration) {
	o.timed = true
	if o.timer == nil {
		o.timer = time.AfterFunc(after, o.expire)
		return
	}
	o.timer.Reset(after)
}

// expire ends what is due. The timer runs on while there is something to watch.
func (o *Watch) expire() {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := time.Since(o.begun)
	for of := o.oldest; of != nil && of.due <= now; of = o.oldest {
		o.removeLocked(of)
		of.late = &ending{over: make(chan struct{})}
		go o.cut(of.w, of.late) // ends with the writer's method, which may be somebody's
	}
	o.timed = false
	if o.oldest != nil {
		o.timeLocked(o.oldest.due - now)
	}
}

func (o *Watch) cut(w http.ResponseWriter, late *ending) {
	defer close(late.over)
	defer func() { late.panic = recover() }()
	_ = o.end(http.NewResponseController(w), time.Now()) // a writer without deadlines has none
}
