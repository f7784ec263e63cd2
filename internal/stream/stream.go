// Package stream carries messages over a connection of frames, which is what
// stdio, pipes and sockets have in common: Serve is the server's end, Conn the
// client's.
//
// Spec: 2026-07-28 basic/transports/stdio.
package stream

// Frames is a connection that carries whole frames in both directions. Its
// contract is documented at frames.Conn, which is the same interface.
type Frames interface {
	Read() ([]byte, error)
	Write(frame []byte) error
	Close() error
}

// buffered is Frames that can keep frames back, so that several go out in one
// write.
type buffered interface {
	Frames
	// ready reports whether Read would return at once. Only
	// the goroutine that reads may call it.
	ready() bool
	// keep is Write, except that the frame may be buffered until the next Write
	// or flush.
	keep(frame []byte) error
	flush() error
}

// asBuffered returns frames themselves if they are buffered, or else wraps them
// so that keep writes at once.
func asBuffered(frames Frames) buffered {
	if k, ok := frames.(buffered); ok {
		return k
	}
	return unbuffered{frames}
}

// unbuffered is the buffered of Frames that cannot keep any back.
type unbuffered struct{ Frames }

func (unbuffered) ready() bool               { return false }
func (p unbuffered) keep(frame []byte) error { return p.Write(frame) }
func (unbuffered) flush() error              { return nil }
