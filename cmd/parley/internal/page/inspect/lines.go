package inspect

import (
	"strings"
	"sync"
)

// keptStderr is how much is kept of what a command writes to its standard error, in
// bytes.
const keptStderr = 64 << 10

// lines keeps the end of what is written, over all processes of a connection.
type lines struct {
	mu  sync.Mutex
	buf []byte
	cut bool
}

// Write implements io.Writer.
func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.buf = append(l.buf, p[max(0, len(p)-keptStderr):]...)
	if extra := len(l.buf) - keptStderr; extra > 0 {
		l.buf = append(l.buf[:0], l.buf[extra:]...)
		l.cut = true
	}
	return len(p), nil
}

// all returns the lines that are kept. The first one is whole.
func (l *lines) all() []string {
	l.mu.Lock()
	text, cut := strings.TrimRight(strings.ToValidUTF8(string(l.buf), "\ufffd"), "\r\n"), l.cut
	l.mu.Unlock()
	if text == "" {
		return []string{}
	}
	list := strings.Split(text, "\n")
	if cut && len(list) > 1 {
		list = list[1:]
	}
	return list
}
