package wire

import "sync"

// Buffer is space to append a frame to, which is reused for the next one: large
// frames would otherwise keep the garbage collector busy.
type Buffer struct{ room []byte }

// Bounds on what is kept: a buffer that was mostly unused is dropped, so that
// one large frame does not hold its space while many small ones follow.
const (
	maxKept   = 8 << 20  // bytes
	smallKept = 64 << 10 // bytes that are kept whether they are used or not
)

var buffers = sync.Pool{New: func() any { return new(Buffer) }}

// NewBuffer returns a Buffer. Call Reuse when done with it, or leave it to the
// garbage collector.
func NewBuffer() *Buffer {
	return buffers.Get().(*Buffer) //nolint:forcetypeassert // the pool holds nothing else
}

// Room returns empty space to append to.
func (b *Buffer) Room() []byte { return b.room[:0] }

// Reuse returns the buffer to the pool, and with it frame, which was appended
// to its space. No part of the frame may be used any more.
func (b *Buffer) Reuse(frame []byte) {
	if b.room = frame; keep(len(frame), cap(frame)) {
		buffers.Put(b)
	}
}

func keep(used, size int) bool {
	return size <= smallKept || size <= maxKept && used >= size/8
}
