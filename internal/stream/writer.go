package stream

import (
	"io"
	"sync"
)

const (
	// maxUnsent is how many bytes may be buffered for a slow reader before
	// writers block.
	maxUnsent = 1 << 20
	// maxKept is how many bytes may be kept back to go out at once.
	maxKept = 32 << 10
)

// writer sends lines. Frames that arrive during a write are buffered, and the
// goroutine that is writing sends them together in its next write. Errors are
// sticky.
type writer struct {
	w io.Writer
	// lost is called with the number of frames that could not be sent although
	// their writers got no error. It may be nil; it is called with mu held.
	lost func(frames uint64)

	mu      sync.Mutex
	changed *sync.Cond
	unsent  []byte
	frames  uint64 // in unsent
	failed  uint64 // frames that could not be written and are not yet reported
	spare   []byte // reused as the next unsent
	busy    bool   // a goroutine is writing
	err     error
}

func (w *writer) write(frame []byte) error { return w.add(frame, 0) }

// keep is write, except that the frame may wait for others.
func (w *writer) keep(frame []byte) error { return w.add(frame, maxKept) }

// add buffers a frame, and sends the buffer if it is longer than upTo bytes.
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

// flush sends what is buffered.
func (w *writer) flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.sendAll(0)
}

// sendAll writes until nothing is buffered, unless another goroutine is doing so.
// own is how many of the frames belong to the caller, who gets their error.
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

// lose reports the frames that were not sent, except the caller's own, whose
// loss its error tells.
func (w *writer) lose(own uint64) {
	lost := w.failed + w.frames
	w.failed, w.frames = 0, 0
	if w.lost != nil && lost > own {
		w.lost(lost - own)
	}
}

// send writes what is buffered. mu is released during the write.
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
