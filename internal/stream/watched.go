package stream

import (
	"sync"

	"github.com/parley-mcp/parley/internal/tap"
	"github.com/parley-mcp/parley/mcp"
)

// watched returns frames that somebody looks at, if somebody does.
func watched(frames keeper, seen *tap.Conn) keeper {
	if !seen.Watched() {
		return frames
	}
	return &seenFrames{keeper: frames, seen: seen}
}

// seenFrames shows the frames of a connection as they come and go.
type seenFrames struct {
	keeper
	seen  *tap.Conn
	order sync.Mutex // held over writing, so that frames are seen in the order in which they go out
}

func (f *seenFrames) Read() ([]byte, error) {
	frame, err := f.keeper.Read()
	if err == nil {
		f.seen.Frame(mcp.Received, frame)
	}
	return frame, err
}

func (f *seenFrames) Write(frame []byte) error {
	f.order.Lock()
	defer f.order.Unlock()
	f.seen.Frame(mcp.Sent, frame)
	return f.keeper.Write(frame)
}

func (f *seenFrames) keep(frame []byte) error {
	f.order.Lock()
	defer f.order.Unlock()
	f.seen.Frame(mcp.Sent, frame)
	return f.keeper.keep(frame)
}
