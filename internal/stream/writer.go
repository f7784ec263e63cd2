package stream

import (
	"io"
	"sync"
)

const (
	// maxUnsent is how many bytes may wait for a slow reader before writers do.
	maxUnsent = 1 << 20
	// maxKept is how many bytes may be kept back to go out at once.
	maxKept = 32 << 10
)

// writer sends lines. A frame that arrives while another is being written
// joins the ones that wait, and they go out in one write: the writer at work
// takes them along. Errors stick.
type writer struct {
	w io.Writer

	mu      sync.Mutex
	changed *sync.Cond
	unsent  []byte
	spare   []byte
	busy    bool
	err     error
}

func (w *writer) write(frame []byte) error { return w.add(frame, 0) }

// keep is write, but the frame may wait for others.
func (w *writer) keep(frame []byte) error { return w.add(frame, maxKept) }

// add sends what waits once it is more than so many bytes.
func (w *writer) add(frame []byte, upTo int) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.changed == nil {
		w.changed = sync.NewCond(&w.mu)
	}
	for w.busy && len(w.unsent) > maxUnsent && w.err == nil {
		w.changed.Wait()
	}
	if w.err != nil {
		return w.err
	}
	w.unsent = append(append(w.unsent, frame...), '\n')
	if len(w.unsent) <= upTo {
		return nil
	}
	return w.sendAll()
}

// flush sends what waits.
func (w *writer) flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.sendAll()
}

// sendAll writes until nothing waits, unless somebody is at it.
func (w *writer) sendAll() error {
	if w.busy || len(w.unsent) == 0 {
		return w.err
	}
	w.busy = true
	for len(w.unsent) > 0 && w.err == nil {
		w.send()
	}
	w.busy = false
	w.changed.Broadcast()
	return w.err
}

// send writes what waits. The lock is not held over the write.
func (w *writer) send() {
	out := w.unsent
	w.unsent, w.spare = w.spare[:0], nil
	w.mu.Unlock()
	_, err := w.w.Write(out)
	w.mu.Lock()
	if cap(out) <= maxUnsent {
		w.spare = out[:0]
	}
	if err != nil {
		w.err = err
	}
	w.changed.Broadcast()
}
