// Package stream carries messages over a connection of frames, the form that
// stdio, pipes and sockets share: one loop that serves, one link that calls.
//
// Spec: 2026-07-28 basic/transports/stdio.
package stream

import "fmt"

// Frames is a connection of whole frames in both directions.
type Frames interface {
	// Read returns the next frame, which the caller may keep. It is called by
	// one goroutine. A *TooLongError says that one frame was skipped; any
	// other error ends the connection, io.EOF in good order.
	Read() ([]byte, error)
	// Write sends a frame without a newline in it. It may be called
	// concurrently, and must not keep the frame.
	Write(frame []byte) error
	// Close ends both directions; Read then returns. It may be called twice.
	Close() error
}

// TooLongError says that a frame over the limit was read past.
type TooLongError struct{ Limit int }

func (e *TooLongError) Error() string {
	return fmt.Sprintf("message is over the limit of %d bytes", e.Limit)
}
