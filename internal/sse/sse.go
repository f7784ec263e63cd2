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
	"time"
)

// ContentType is the media type of event streams.
const ContentType = "text/event-stream"

// Event is one event of a stream.
type Event struct {
	// ID is the event's identifier, or "" for none. A reader repeats the last
	// one it saw, as the format wants.
	ID string
	// Name is the event's type; "" is "message".
	Name string
	Data []byte
	// Retry is how long to wait before connecting again; 0 says nothing.
	Retry time.Duration
}

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
	start bool
	cr    bool // the last line ended with a carriage return
}

// NewReader returns a Reader of events whose lines hold at most limit bytes
// together.
func NewReader(r io.Reader, limit int) *Reader {
	return &Reader{r: bufio.NewReaderSize(r, 4096), limit: limit, start: true}
}

// Next returns the next event. An event that the stream's end cuts short is
// dropped, as the format wants; the error is then io.EOF.
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
		switch name {
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
				e.Retry = time.Duration(ms) * time.Millisecond
				hasAny = true
			}
		}
	}
}

// field splits a line at its first colon; one space after it does not count.
func field(line []byte) (string, []byte) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	return string(name), bytes.TrimPrefix(value, []byte(" "))
}

// line returns the next line without its end: LF, CR or CRLF.
func (r *Reader) line(size *int) ([]byte, error) {
	var line []byte
	for {
		c, err := r.r.ReadByte()
		if err != nil {
			return nil, err
		}
		if r.start {
			r.start = false
			if c == 0xEF { // a byte order mark
				if next, err := r.r.Peek(2); err == nil && next[0] == 0xBB && next[1] == 0xBF {
					_, _ = r.r.Discard(2) // just peeked at
					continue
				}
			}
		}
		if c == '\n' && r.cr {
			r.cr = false
			continue
		}
		r.cr = c == '\r'
		if c == '\n' || c == '\r' {
			return line, nil
		}
		if *size++; *size > r.limit {
			return nil, fmt.Errorf("%w: over %d bytes", ErrTooLong, r.limit)
		}
		line = append(line, c)
	}
}
