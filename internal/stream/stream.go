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

// keeper is Frames that can keep frames back, so that several go out at once.
type keeper interface {
	Frames
	// ready reports whether Read would return at once. Only who reads asks.
	ready() bool
	// keep is Write, but the frame may stay until something else is written,
	// or flush is called.
	keep(frame []byte) error
	flush() error
}

// keeping returns frames as a keeper, which may keep nothing.
func keeping(frames Frames) keeper {
	if k, ok := frames.(keeper); ok {
		return k
	}
	return prompt{frames}
}

// prompt keeps nothing.
type prompt struct{ Frames }

func (prompt) ready() bool               { return false }
func (p prompt) keep(frame []byte) error { return p.Write(frame) }
func (prompt) flush() error              { return nil }
