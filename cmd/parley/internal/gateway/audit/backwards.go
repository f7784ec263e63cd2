package audit

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// backwards reads the lines of a file, the last one first.
type backwards struct {
	file io.ReaderAt
	at   int64  // where the line begins that was read last
	buf  []byte // what stands before it, as far as it was read
}

const (
	// step is how much is read at a time, in bytes.
	step = 64 << 10
	// maxLine is how long a line may be; of longer ones, the end is no line.
	maxLine = 16 << 20
)

func newBackwards(file io.ReaderAt, end int64) *backwards { return &backwards{file: file, at: end} }

// next returns the line before, if there is one.
func (b *backwards) next() (line []byte, ok bool, err error) {
	for b.at > 0 {
		if i := bytes.LastIndexByte(b.last(), '\n'); i >= 0 {
			return b.cut(i + 1), true, nil
		}
		read := int64(len(b.buf))
		if read == b.at || read >= maxLine {
			return b.cut(0), true, nil
		}
		if err := b.fill(min(max(step, read), b.at-read)); err != nil {
			return nil, false, err
		}
	}
	return nil, false, nil
}

// last is what was read, without the end of the last line.
func (b *backwards) last() []byte { return bytes.TrimSuffix(b.buf, []byte("\n")) }

// cut takes the line that begins at i.
func (b *backwards) cut(i int) []byte {
	line := b.last()[i:]
	b.at -= int64(len(b.buf) - i)
	b.buf = b.buf[:i]
	return line
}

// fill reads n bytes more.
func (b *backwards) fill(n int64) error {
	more := make([]byte, n, n+int64(len(b.buf)))
	if _, err := b.file.ReadAt(more, b.at-int64(len(b.buf))-n); err != nil {
		return err
	}
	b.buf = append(more, b.buf...)
	return nil
}

// place is where a search has stopped.
type place struct {
	file   string
	offset int64
}

func (p place) String() string { return strconv.FormatInt(p.offset, 10) + "@" + p.file }

func parsePlace(text string) (place, error) {
	if text == "" {
		return place{}, nil
	}
	number, file, ok := strings.Cut(text, "@")
	offset, err := strconv.ParseInt(number, 10, 64)
	if !ok || err != nil || offset < 0 || file == "" {
		return place{}, fmt.Errorf("%q is no place where a search has stopped", text)
	}
	return place{file, offset}, nil
}
