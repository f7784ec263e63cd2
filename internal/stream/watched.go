package stream

import (
	"sync"

	"github.com/parley-mcp/parley/internal/tap"
	"github.com/parley-mcp/parley/mcp"
)

// watched returns frames that a tap observes, if there is one. Frames that are
// lost are counted in any case.
func watched(frames buffered, seen *tap.Conn) buffered {
	if l, ok := frames.(*lines); ok {
		l.out.lost = func(n uint64) { seen.DropMany(mcp.Sent, mcp.DropUndelivered, n, nil) }
	}
	if !seen.Watched() {
		return frames
	}
	return &seenFrames{buffered: frames, seen: seen}
}

// seenFrames shows the frames of a connection to its tap.
type seenFrames struct {
	buffered
	seen  *tap.Conn
	order sync.Mutex // held while writing, so that the tap sees frames in the order in which they go out
}

func (f *seenFrames) Read() ([]byte, error) {
	frame, err := f.buffered.Read()
	if err == nil {
		f.seen.Frame(mcp.Received, frame)
	}
	return frame, err
}

func (f *seenFrames) Write(frame []byte) error {
	f.order.Lock()
	defer f.order.Unlock()
	f.seen.Frame(mcp.Sent, frame)
	return f.buffered.Write(frame)
}

func (f *seenFrames) keep(frame []byte) error {
	f.order.Lock()
	defer f.order.Unlock()
	f.seen.Frame(mcp.Sent, frame)
	return f.buffered.keep(frame)
}
