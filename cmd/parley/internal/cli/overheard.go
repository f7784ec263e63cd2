package cli

import (
	"io"
	"strings"
	"sync"

	"github.com/parley-mcp/parley/mcp"
)

// overheard keeps a little of what a server's command wrote beside the
// protocol: it often says why the server does not answer.
type overheard struct {
	mu     sync.Mutex
	stderr []byte   // the end of its standard error
	junk   []string // the first lines on standard output that are not the protocol
	more   int      // how many more lines there were
	last   []byte   // the beginning of the last line on standard output
}

// What is kept of it.
const (
	keptStderr   = 4 << 10 // bytes
	keptLines    = 5
	keptLineSize = 200 // characters
)

var _ io.Writer = (*overheard)(nil)

// Write takes what the command writes to standard error.
func (o *overheard) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.stderr = append(o.stderr, p...)
	if extra := len(o.stderr) - keptStderr; extra > 0 {
		o.stderr = append(o.stderr[:0], o.stderr[extra:]...)
	}
	return len(p), nil
}

// tap sees each line on standard output, and then whether it was dropped
// because it is no message.
func (o *overheard) tap(e mcp.TapEvent) {
	if e.Direction != mcp.Received {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case e.Dropped == 0:
		o.last = append(o.last[:0], e.Frame[:min(len(e.Frame), 4*keptLineSize)]...)
	case e.Dropped != mcp.DropMalformed || len(o.last) == 0:
	case len(o.junk) == keptLines:
		o.more++
	default:
		o.junk = append(o.junk, oneLine(string(o.last), keptLineSize))
	}
}

// words returns what was overheard: the end of standard error, and lines of
// standard output.
func (o *overheard) words() (stderr string, junk []string, more int) {
	if o == nil {
		return "", nil, 0
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return strings.TrimSpace(string(o.stderr)), o.junk, o.more
}

// telling reports whether what a server wrote may explain a failure.
func (c code) telling() bool {
	return c == codeNotStarted || c == codeDisconnected || c == codeTimeout
}
