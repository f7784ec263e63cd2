// Package sse reads and writes event streams, the text/event-stream of HTML.
//
// Spec: https://html.spec.whatwg.org/multipage/server-sent-events.html
package sse

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"
)

// ContentType is the media type of event streams.
const ContentType = "text/event-stream"

// Event is one event of a stream.
type Event struct {
	// ID is the event's identifier, or "" for none. A reader repeats the last
	// one it saw, as the format requires.
	ID string
	// Name is the event's type; "" is "message".
	Name string
	Data []byte
	// Retry is how long to wait before reconnecting; 0 means that the event
	// does not say. A wait of 0 ms is read as 1 ms.
	Retry time.Duration
}

// Message returns the event that carries a message of the protocol. Its type is
// named, although it is the default: clients of the official Java SDK before 2.0.1
// drop other events.
func Message(id string, data []byte) Event { return Event{ID: id, Name: "message", Data: data} }

// Append appends an event. Data of several lines becomes several data fields.
// An ID or a name with a line break or a null would change the stream's
// meaning: they are left out.
func Append(dst []byte, e Event) []byte {
	if e.Name != "" && safe(e.Name) {
		dst = append(append(append(dst, "event: "...), e.Name...), '\n')
	}
	if e.ID != "" && safe(e.ID) {
		dst = append(append(append(dst, "id: "...), e.ID...), '\n')
	}
	if e.Retry > 0 {
		dst = append(dst, "retry: "...)
		dst = strconv.AppendInt(dst, e.Retry.Milliseconds(), 10)
		dst = append(dst, '\n')
	}
	for data := e.Data; ; {
		line, rest, more := cutLine(data)
		dst = append(append(append(dst, "data: "...), line...), '\n')
		if !more {
			break
		}
		data = rest
	}
	return append(dst, '\n')
}

// Comment is a line that carries nothing and keeps a connection open.
var Comment = []byte(": keep-alive\n\n")

func safe(s string) bool { return !strings.ContainsAny(s, "\r\n\x00") }

// cutLine splits at any of the format's line ends.
func cutLine(b []byte) (line, rest []byte, more bool) {
	i := bytes.IndexAny(b, "\r\n")
	if i < 0 {
		return b, nil, false
	}
	rest = b[i+1:]
	if b[i] == '\r' && len(rest) > 0 && rest[0] == '\n' {
		rest = rest[1:]
	}
	return b[:i], rest, true
}

// ErrTooLong says that an event is larger than the reader allows.
var ErrTooLong = errors.New("event is too long")

// Reader reads the events of a stream.
type Reader struct {
	r     *bufio.Reader
	limit int
	id    string
	begun bool
	cr    bool // the last line ended with a carriage return
}

var buffers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, 4096) }}

// NewReader returns a Reader of events whose lines together hold at most limit
// bytes.
func NewReader(r io.Reader, limit int) *Reader {
	b := buffers.Get().(*bufio.Reader) //nolint:forcetypeassert // the pool holds nothing else
	b.Reset(r)
	return &Reader{r: b, limit: limit}
}

// Release returns the buffer of a Reader to the pool; the Reader must not be
// used any more. Calling it is optional.
func (r *Reader) Release() {
	r.r.Reset(nil)
	buffers.Put(r.r)
	r.r = nil
}

// Next returns the next event. An event that the end of the stream cuts short
// is dropped, as the format requires; the error is then io.EOF.
func (r *Reader) Next() (Event, error) {
	e := Event{}
	var hasData, hasAny bool
	size := 0
	for {
		line, err := r.line(&size)
		if err != nil {
			return Event{}, err
		}
		if len(line) == 0 {
			if hasData || hasAny {
				e.ID = r.id
				return e, nil
			}
			size = 0
			continue
		}
		name, value := field(line)
		switch string(name) {
		case "data":
			if hasData {
				e.Data = append(e.Data, '\n')
			}
			e.Data = append(e.Data, value...)
			hasData = true
		case "event":
			e.Name = string(value)
		case "id":
			if bytes.IndexByte(value, 0) < 0 {
				r.id = string(value)
				hasAny = true
			}
		case "retry":
			if ms, err := strconv.ParseUint(string(value), 10, 31); err == nil {
				e.Retry = max(time.Duration(ms), 1) * time.Millisecond
				hasAny = true
			}
		}
	}
}

// field splits a line at its first colon and drops one space after it.
func field(line []byte) (name, value []byte) {
	name, value, _ = bytes.Cut(line, []byte(":"))
	return name, bytes.TrimPrefix(value, []byte(" "))
}

// line returns the next line without its end: LF, CR or CRLF. It is valid
// until the next read.
func (r *Reader) line(size *int) ([]byte, error) {
	var long []byte // the part of the line that is no longer in the buffer
	for {
		chunk, err := r.chunk()
		if err != nil {
			return nil, err
		}
		part, end := cutEnd(chunk)
		if *size += len(part); *size > r.limit {
			return nil, fmt.Errorf("%w: over %d bytes", ErrTooLong, r.limit)
		}
		_, _ = r.r.Discard(len(part) + len(end)) // it is in the buffer
		r.cr = string(end) == "\r"
		switch {
		case len(end) == 0:
			long = append(long, part...)
		case long == nil:
			return part, nil
		default:
			return append(long, part...), nil
		}
	}
}

// chunk returns the bytes that were read but not yet consumed, at least one. It
// leaves out the second half of a CRLF and a byte order mark.
func (r *Reader) chunk() ([]byte, error) {
	first, err := r.r.Peek(1)
	if err != nil {
		return nil, err
	}
	skip := 0
	if r.cr && first[0] == '\n' {
		skip = 1
	}
	if !r.begun && first[0] == 0xEF {
		if mark, err := r.r.Peek(3); err == nil && mark[1] == 0xBB && mark[2] == 0xBF {
			skip = 3
		}
	}
	r.begun, r.cr = true, false
	if skip > 0 {
		_, _ = r.r.Discard(skip) // just peeked at
		return r.chunk()
	}
	return r.r.Peek(r.r.Buffered())
}

// cutEnd cuts chunk, which starts at the beginning of a line, at the byte that
// ends the line, if it is there.
func cutEnd(chunk []byte) (part, end []byte) {
	at := bytes.IndexByte(chunk, '\n')
	if at < 0 {
		at = len(chunk)
	}
	if cr := bytes.IndexByte(chunk[:at], '\r'); cr >= 0 {
		at = cr
	}
	return chunk[:at], chunk[at:min(at+1, len(chunk))]
}
