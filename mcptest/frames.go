package mcptest

import (
	"io"

	"github.com/parley-mcp/parley/internal/stream"
)

// maxFrame bounds a frame; nothing in this process is untrusted.
const maxFrame = 64 << 20

func (t *Transport) pair() (near, far stream.Frames) {
	if t.Over != Lines {
		return stream.Pipe()
	}
	return linesPair()
}

// linesPair connects two ends by byte streams.
func linesPair() (near, far stream.Frames) {
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	closeAll := func() error {
		// The server's end first: what a server still says that has just crashed reaches nobody.
		for _, c := range []io.Closer{fromServer, fromClient, toServer, toClient} {
			_ = c.Close() // closing a pipe does not fail
		}
		return nil
	}
	return stream.Lines(toClient, fromClient, maxFrame, closeAll), stream.Lines(toServer, fromServer, maxFrame, closeAll)
}
