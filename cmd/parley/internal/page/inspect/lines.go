package inspect

import (
	"strings"
	"sync"
	"time"
)

// keptStderr is how much is kept of what a command writes to its standard error, in
// bytes.
const keptStderr = 64 << 10

// lines keeps the end of what is written, over all processes of a connection.
type lines struct {
	mu    sync.Mutex
	buf   []byte
	cut   bool
	told  bool   // after will be called
	after func() // is called soon after something was written
}

// pause is how long lines wait for more before they tell.
const pause = 300 * time.Millisecond

// Write implements io.Writer.
func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.buf = append(l.buf, p[max(0, len(p)-keptStderr):]...)
	if extra := len(l.buf) - keptStderr; extra > 0 {
		l.buf = append(l.buf[:0], l.buf[extra:]...)
		l.cut = true
	}
	if !l.told && l.after != nil {
		l.told = true
		time.AfterFunc(pause, l.tell)
	}
	return len(p), nil
}

func (l *lines) tell() {
	l.mu.Lock()
	l.told = false
	after := l.after
	l.mu.Unlock()
	if after != nil {
		after()
	}
}

// quiet has nobody told any more.
func (l *lines) quiet() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.after = nil
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
