package wire

import "sync"

// Buffer is room to append a frame to, which is used again for the next one:
// large frames would otherwise keep the collector busy.
type Buffer struct{ room []byte }

// Bounds on what is kept: a buffer of which most was not used goes, so that
// one large frame does not leave its room behind among many small ones.
const (
	maxKept   = 8 << 20  // bytes
	smallKept = 64 << 10 // bytes that are kept whether they are used or not
)

var buffers = sync.Pool{New: func() any { return new(Buffer) }}

// NewBuffer returns a Buffer. Whoever has done with it calls Reuse, or leaves
// it to the collector.
func NewBuffer() *Buffer {
	return buffers.Get().(*Buffer) //nolint:forcetypeassert // the pool holds nothing else
}

// Room returns empty room to append to.
func (b *Buffer) Room() []byte { return b.room[:0] }

// Reuse gives the buffer back, and with it frame, which was appended to its
// room. Nobody may hold a part of the frame any more.
func (b *Buffer) Reuse(frame []byte) {
	if b.room = frame; keep(len(frame), cap(frame)) {
		buffers.Put(b)
	}
}

func keep(used, size int) bool {
	return size <= smallKept || size <= maxKept && used >= size/8
}
