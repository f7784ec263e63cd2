package stream

import (
	"errors"
	"fmt"
	"time"
)

// ErrNoMessages is why a connection is given up on which the server says nothing but what
// is no message.
var ErrNoMessages = errors.New("the server sends what is no message, over and over")

// junk counts frames of a server that are no messages. Programs that print something
// before they begin, or now and then, are common, so some are ignored; reading without end
// what is none would cost the client its processor time.
type junk struct {
	frames, bytes int
	since         time.Time
	heard         bool // there was a message
}

// bound is how many frames that are no messages, and how many bytes of them, may come in a
// row within a minute.
type bound struct{ frames, bytes int }

var (
	atFirst = bound{1000, 1 << 20}
	later   = bound{10_000, 16 << 20}
)

// message says that a frame was a message.
func (j *junk) message() { *j = junk{heard: true} }

// count counts a frame that was none. Its error says that there were too many.
func (j *junk) count(bytes int) error {
	if now := time.Now(); now.Sub(j.since) >= time.Minute {
		*j = junk{since: now, heard: j.heard}
	}
	j.frames++
	j.bytes += bytes
	most := atFirst
	if j.heard {
		most = later
	}
	if j.frames <= most.frames && j.bytes <= most.bytes {
		return nil
	}
	return fmt.Errorf("%w: %d times in a row, %d bytes", ErrNoMessages, j.frames, j.bytes)
}
