package stream

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"sync"

	"github.com/parley-mcp/parley/jsonrpc"
)

// Lines returns Frames over one byte stream in each direction, with one message
// on each line. limit bounds a line in bytes. closer closes both directions; it
// may be nil.
//
// Spec: 2026-07-28 basic/transports/stdio.
func Lines(r io.Reader, w io.Writer, limit int, closer func() error) Frames {
	return &lines{r: bufio.NewReaderSize(r, 64<<10), limit: limit, out: &writer{w: w}, closer: closer}
}

type lines struct {
	r      *bufio.Reader
	limit  int
	rest   bool // the next bytes are the rest of a line that was too long
	out    *writer
	closer func() error
	once   sync.Once
	err    error
}

func (l *lines) Read() ([]byte, error) {
	for {
		line, err := l.line()
		if err != nil {
			return nil, err
		}
		if len(line) > 0 {
			return line, nil
		}
	}
}

// line returns a copy of the next line, without the newline, which the last line
// of a stream may lack.
func (l *lines) line() ([]byte, error) {
	if err := l.skip(); err != nil {
		return nil, err
	}
	var line []byte
	for {
		part, err := l.r.ReadSlice('\n')
		if len(line)+len(part) > l.limit+2 { // the line's end does not count
			// Refuse at once: the line may never end.
			l.rest = errors.Is(err, bufio.ErrBufferFull)
			return nil, &jsonrpc.TooLongError{Limit: l.limit}
		}
		line = append(line, part...)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil && (len(line) == 0 || !errors.Is(err, io.EOF)) {
			return nil, err
		}
		return bytes.TrimSpace(line), nil
	}
}

// skip discards the rest of a line that was too long.
func (l *lines) skip() error {
	for l.rest {
		_, err := l.r.ReadSlice('\n')
		if l.rest = errors.Is(err, bufio.ErrBufferFull); err != nil && !l.rest {
			return err
		}
	}
	return nil
}

// ready reports whether a whole line is buffered. Blank ones do not count: Read
// skips them.
func (l *lines) ready() bool {
	here, _ := l.r.Peek(l.r.Buffered()) // what is buffered can be peeked at
	for line := range bytes.Lines(here) {
		if len(bytes.TrimSpace(line)) > 0 {
			return line[len(line)-1] == '\n'
		}
	}
	return false
}

func (l *lines) Write(frame []byte) error { return l.out.write(frame) }

func (l *lines) keep(frame []byte) error { return l.out.keep(frame) }

func (l *lines) flush() error { return l.out.flush() }

func (l *lines) Close() error {
	l.once.Do(func() {
		if l.closer != nil {
			l.err = l.closer()
		}
	})
	return l.err
}
