package backend

import (
	"strings"
	"sync"
)

// Stderr keeps the last lines that the processes of a backend have written to their
// standard error. Its zero value is ready.
type Stderr struct {
	mu  sync.Mutex
	buf []byte
}

// kept is how much of the standard error is kept, in bytes.
const kept = 16 << 10

// Write implements io.Writer.
func (s *Stderr) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.buf = append(s.buf, p[max(0, len(p)-kept):]...)
	if extra := len(s.buf) - kept; extra > 0 {
		s.buf = append(s.buf[:0], s.buf[extra:]...)
	}
	return len(p), nil
}

// Lines returns the last lines, at most n. The oldest may lack its beginning.
func (s *Stderr) Lines(n int) []string {
	s.mu.Lock()
	text := strings.TrimRight(string(s.buf), "\r\n")
	s.mu.Unlock()
	if text == "" {
		return nil
	}
	lines := strings.Split(text, "\n")
	return lines[max(0, len(lines)-n):]
}
