// Package stream carries messages over a connection of frames, the form that
// stdio, pipes and sockets share: one loop that serves, one link that calls.
//
// Spec: 2026-07-28 basic/transports/stdio.
package stream

import "fmt"

// Frames is a connection of whole frames in both directions.
type Frames interface {
	// Read returns the next frame, which the caller may keep. It is called by
	// one goroutine at a time. A *TooLongError says that one frame was
	// skipped; any other error ends the connection, io.EOF in good order.
	Read() ([]byte, error)
	// Write sends a frame without a newline in it. It may be called
	// concurrently, and must not keep the frame.
	Write(frame []byte) error
	// Close ends both directions; Read then returns. It may be called twice.
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

// TooLongError says that a frame over the limit was read past.
type TooLongError struct{ Limit int }

func (e *TooLongError) Error() string {
	return fmt.Sprintf("message is over the limit of %d bytes", e.Limit)
}
