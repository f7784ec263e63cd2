package peer

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
)

// readEvents reads an event stream, as the HTML standard says, and calls event
// for each, also for those without data. It ends with the stream, or with an
// event larger than limit.
func readEvents(body io.Reader, limit int, event func(*Event) bool) error {
	r := &eventReader{r: bufio.NewReaderSize(body, 16<<10)}
	var now Event
	size, any := 0, false
	for first := true; ; first = false {
		line, err := r.line(limit - size)
		if err != nil && (len(line) == 0 || !errors.Is(err, io.EOF)) {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if first {
			line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
		}
		size += len(line)
		if len(line) == 0 {
			if any && !event(finish(now)) {
				return nil
			}
			now, size, any = Event{}, 0, false
			continue
		}
		if now.field(line) {
			any = true
		}
	}
}

func finish(e Event) *Event {
	e.Data = bytes.TrimSuffix(e.Data, []byte("\n"))
	return &e
}

// field takes a line into an event, and reports whether it was a field.
func (e *Event) field(line []byte) bool {
	name, value, _ := strings.Cut(string(line), ":")
	value = strings.TrimPrefix(value, " ")
	switch name {
	case "data":
		e.Data, e.HasData = append(append(e.Data, value...), '\n'), true
	case "event":
		e.Name = value
	case "id":
		e.ID, e.HasID = value, true
	case "retry":
		e.Retry = value
	default:
		return false // a comment, or a field that nobody knows
	}
	return true
}

var errEventTooLong = errors.New("an event is longer than the checker keeps")

// eventReader reads the lines of an event stream.
type eventReader struct {
	r *bufio.Reader
	// cr is set after a line that ended with \r: a \n belongs to it. It may come
	// later, and waiting for it would hold up the event.
	cr bool
}

// line reads a line that ends with \n, \r\n or \r.
func (e *eventReader) line(limit int) ([]byte, error) {
	var line []byte
	for {
		b, err := e.r.ReadByte()
		if err != nil {
			return line, err
		}
		first := e.cr
		e.cr = b == '\r'
		switch {
		case b == '\n' && first:
			continue
		case b == '\n' || b == '\r':
			return line, nil
		case len(line) >= limit:
			return nil, errEventTooLong
		}
		line = append(line, b)
	}
}

// RawEvents reads an event stream and calls event with the lines of each block
// and the data in them.
func RawEvents(body io.Reader, event func(lines []string, data []byte) error) error {
	r := &eventReader{r: bufio.NewReader(body)}
	var block []string
	var now Event
	for {
		line, err := r.line(64 << 20)
		switch {
		case err != nil && len(line) == 0:
			return err
		case len(line) > 0:
			block = append(block, string(line))
			now.field(line)
		case len(block) > 0:
			if err := event(block, finish(now).Data); err != nil {
				return err
			}
			block, now = nil, Event{}
		}
	}
}
