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
	// lost is told how many frames did not go out whose writers were told that
	// they would. It may be nil; the writer is locked meanwhile.
	lost func(frames uint64)

	mu      sync.Mutex
	changed *sync.Cond
	unsent  []byte
	frames  uint64 // in unsent
	failed  uint64 // that could not be written, and that nobody was told of
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
	w.frames++
	if len(w.unsent) <= upTo {
		return nil
	}
	return w.sendAll(1)
}

// flush sends what waits.
func (w *writer) flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.sendAll(0)
}

// sendAll writes until nothing waits, unless somebody is at it. own is for how
// many frames the caller takes its error.
func (w *writer) sendAll(own uint64) error {
	if w.busy || len(w.unsent) == 0 {
		return w.err
	}
	w.busy = true
	for len(w.unsent) > 0 && w.err == nil {
		w.send()
	}
	w.busy = false
	w.changed.Broadcast()
	if w.err != nil {
		w.lose(own)
	}
	return w.err
}

// lose says how many frames did not go out, but for those whose writers are
// told by an error.
func (w *writer) lose(own uint64) {
	lost := w.failed + w.frames
	w.failed, w.frames = 0, 0
	if w.lost != nil && lost > own {
		w.lost(lost - own)
	}
}

// send writes what waits. The lock is not held over the write.
func (w *writer) send() {
	out, frames := w.unsent, w.frames
	w.unsent, w.spare, w.frames = w.spare[:0], nil, 0
	w.mu.Unlock()
	_, err := w.w.Write(out)
	w.mu.Lock()
	if cap(out) <= maxUnsent {
		w.spare = out[:0]
	}
	if err != nil {
		w.err = err
		w.failed = frames
	}
	w.changed.Broadcast()
}
