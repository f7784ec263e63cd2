// Package record keeps the traffic of a connection: an index in memory, and what
// travelled in files. Both are bounded, and the oldest goes first. It groups what
// belongs to one request, searches, and writes what it has in the forms of other
// programs.
package record

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/parley-mcp/parley/internal/redact"
	"github.com/parley-mcp/parley/mcp"
)

// Bounds of a Recorder that says none.
const (
	DefaultMaxFrames = 150_000
	DefaultMaxBytes  = 256 << 20
)

// Options configures a Recorder. The zero value is complete.
type Options struct {
	// Dir is where the folder for what is recorded is made, with access for this
	// user alone. "" is the folder of the system for temporary files.
	Dir string
	// MaxFrames bounds the index in memory, and MaxBytes the files. Over one of
	// them, the oldest frames are dropped, many at a time. 0 means the defaults.
	MaxFrames int
	MaxBytes  int64
	// Mask knows the secrets of the connection by value. nil knows none, and
	// still masks by name.
	Mask *redact.Redactor
}

// Recorder keeps the traffic of a connection, over all reconnects. It is safe for
// concurrent use.
type Recorder struct {
	opts Options
	dir  string
	// create makes a file; a test lets it fail.
	create func(name string) (file, error)

	mu       sync.RWMutex
	segments []*segment
	first    uint64 // the number of the first frame that is still there
	next     uint64 // the number of the next frame
	bytes    int64  // in all files
	links    links
	stopped  error
	closed   bool
	mask     *redact.Redactor
}

// ErrGone says that a frame or an exchange is not there: it was dropped to make
// room, or never existed.
var ErrGone = errors.New("not recorded, or dropped since to make room")

var errClosed = errors.New("the recording has ended with its connection")

// New returns a Recorder with a folder of its own, which Close removes.
func New(o Options) (*Recorder, error) {
	if o.MaxFrames <= 0 {
		o.MaxFrames = DefaultMaxFrames
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = DefaultMaxBytes
	}
	dir, err := os.MkdirTemp(o.Dir, "parley-traffic-")
	if err != nil {
		return nil, fmt.Errorf("no place for what is recorded: %w; TMPDIR names another folder", err)
	}
	return &Recorder{opts: o, dir: dir, create: createFile, first: 1, next: 1, mask: o.Mask, links: newLinks()}, nil
}

// Mask replaces what is known of the connection's secrets, for example after a
// reconnect with other headers.
func (r *Recorder) Mask(m *redact.Redactor) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.mask = m
}

// Tap records an event; it is an mcp.Tap. If the file cannot be written, recording
// stops, and the traffic goes on.
func (r *Recorder) Tap(e mcp.TapEvent) {
	h, notes := describe(e)
	r.keep(e, h, notes)
}

// Aside is Tap for what travels beside the client: whoever looks at the traffic has asked
// for it, and the client gets none of it. Its messages mean nothing for the exchanges of
// the client. It returns the number of the exchange that the event is part of, or 0.
func (r *Recorder) Aside(e mcp.TapEvent) uint64 {
	h, notes := describe(e)
	h.Aside = true
	return r.keep(e, h, notes)
}

func (r *Recorder) keep(e mcp.TapEvent, h Head, notes []note) uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || r.stopped != nil {
		return 0
	}
	s, err := r.segment(len(e.Frame))
	if err != nil {
		r.stopped = err
		return 0
	}
	h.Number = r.next
	before := s.length
	if err := s.append(h, e.Frame, extraOf(e)); err != nil {
		r.stopped = fmt.Errorf("what was recorded could not be written: %w", err)
		return 0
	}
	r.next++
	r.bytes += s.length - before
	kept := &s.entries[len(s.entries)-1].Head
	r.links.see(r, kept, notes)
	return kept.Exchange
}

// segment returns the segment that takes the next frame, and makes room for it.
func (r *Recorder) segment(size int) (*segment, error) {
	if n := len(r.segments); n > 0 && !r.segments[n-1].full(r.opts) {
		return r.segments[n-1], nil
	}
	for len(r.segments) > 1 && (int(r.next-r.first) > r.opts.MaxFrames-segmentFrames(r.opts) || r.bytes+int64(size) > r.opts.MaxBytes-segmentBytes(r.opts)) { //nolint:gosec // not more frames than are in memory
		r.drop()
	}
	s, err := newSegment(r.dir, r.next, r.create)
	if err != nil {
		return nil, fmt.Errorf("no room for what is recorded: %w", err)
	}
	if n := len(r.segments); n > 0 {
		r.segments[n-1].seal()
	}
	r.segments = append(r.segments, s)
	return s, nil
}

// drop removes the oldest segment.
func (r *Recorder) drop() {
	oldest := r.segments[0]
	r.segments = r.segments[1:]
	r.bytes -= oldest.length
	r.first = r.segments[0].first
	oldest.remove()
	r.links.prune(r.first)
}

// State says what a Recorder has.
type State struct {
	// First and Last are the numbers of the first and the last frame that are
	// there; Last is First-1 if there are none.
	First uint64 `json:"first"`
	Last  uint64 `json:"last"`
	// Dropped is how many frames were dropped to make room.
	Dropped uint64 `json:"dropped"`
	// Bytes is what the files hold.
	Bytes     int64 `json:"bytes"`
	MaxFrames int   `json:"maxFrames"`
	MaxBytes  int64 `json:"maxBytes"`
	// Stopped is why recording has stopped, or "".
	Stopped string `json:"stopped,omitzero"`
}

// State returns what there is.
func (r *Recorder) State() State {
	r.mu.RLock()
	defer r.mu.RUnlock()
	s := State{First: r.first, Last: r.next - 1, Dropped: r.first - 1, Bytes: r.bytes, MaxFrames: r.opts.MaxFrames, MaxBytes: r.opts.MaxBytes}
	if r.stopped != nil {
		s.Stopped = r.stopped.Error()
	}
	return s
}

// Clear forgets everything, and records again if it had stopped. Numbers go on.
func (r *Recorder) Clear() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.segments {
		s.remove()
	}
	r.segments, r.bytes, r.first, r.stopped = nil, 0, r.next, nil
	r.links.prune(r.first)
}

// Close ends the recording and removes its files.
func (r *Recorder) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil
	}
	r.closed, r.stopped = true, errClosed
	for _, s := range r.segments {
		s.remove()
	}
	r.segments, r.first = nil, r.next
	return os.RemoveAll(r.dir)
}
