package record

import (
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// file is what a segment writes to.
type file interface {
	io.Writer
	io.Closer
}

func createFile(name string) (file, error) {
	return os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) //nolint:gosec // the folder is this package's own
}

// segment is a run of frames: their heads, and a file with what travelled. It is
// dropped as a whole.
type segment struct {
	first   uint64
	name    string
	out     file // nil once it is full
	length  int64
	entries []entry
}

// entry is a frame in the index: its text is at offset in the file, and after it the
// JSON of its extra.
type entry struct {
	Head
	offset int64
	extra  int
}

func newSegment(dir string, first uint64, create func(string) (file, error)) (*segment, error) {
	s := &segment{first: first, name: filepath.Join(dir, strconv.FormatUint(first, 10))}
	var err error
	s.out, err = create(s.name)
	return s, err
}

// A recording has at least so many segments, so that dropping one leaves most of it.
const shares = 16

func segmentFrames(o Options) int  { return max(1, o.MaxFrames/shares) }
func segmentBytes(o Options) int64 { return max(1, o.MaxBytes/shares) }

func (s *segment) full(o Options) bool {
	return len(s.entries) >= segmentFrames(o) || s.length >= segmentBytes(o)
}

func (s *segment) append(h Head, frame, extra []byte) error {
	at := s.length
	for _, part := range [][]byte{frame, extra} {
		if len(part) == 0 {
			continue
		}
		n, err := s.out.Write(part)
		s.length += int64(n)
		if err != nil {
			return err
		}
	}
	h.Size = len(frame)
	s.entries = append(s.entries, entry{h, at, len(extra)})
	return nil
}

// seal ends writing. What was written is there even if closing fails.
func (s *segment) seal() {
	if s.out != nil {
		_ = s.out.Close()
		s.out = nil
	}
}

func (s *segment) remove() {
	s.seal()
	_ = os.Remove(s.name) // Close removes the folder
}

// extra is what is kept of an event besides its frame.
type extra struct {
	Header map[string][]string `json:"header,omitzero"`
	Error  string              `json:"error,omitzero"`
}

func extraOf(e mcp.TapEvent) []byte {
	var x extra
	if e.HTTP != nil && e.Frame == nil { // frames have the same one as the head before them
		x.Header = e.HTTP.Header
	}
	if e.Err != nil {
		x.Error = e.Err.Error()
	}
	if x.Header == nil && x.Error == "" {
		return nil
	}
	doc, err := wire.Marshal(x)
	if err != nil {
		return nil // unreachable: it is made of strings
	}
	return doc
}
