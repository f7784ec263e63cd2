// Package stream carries messages over a connection of frames, the form that
// stdio, pipes and sockets share: one loop that serves, one link that calls.
//
// Spec: 2026-07-28 basic/transports/stdio.
package stream

// Frames is a connection of whole frames in both directions. What its methods
// have to do is said at frames.Conn, which is the same.
type Frames interface {
	Read() ([]byte, error)
	Write(frame []byte) error
	Close() error
}

// buffered is Frames that can keep frames back, so that several go out at once.
type buffered interface {
	Frames
	// ready reports whether Read would return at once. Only who reads asks.
	ready() bool
	// keep is Write, but the frame may stay until something else is written,
	// or flush is called.
	keep(frame []byte) error
	flush() error
}

// asBuffered returns frames as a keeper, which may keep nothing.
func asBuffered(frames Frames) buffered {
	if k, ok := frames.(buffered); ok {
		return k
	}
	return unbuffered{frames}
}

// unbuffered keeps nothing.
type unbuffered struct{ Frames }

func (unbuffered) ready() bool               { return false }
func (p unbuffered) keep(frame []byte) error { return p.Write(frame) }
func (unbuffered) flush() error              { return nil }
