package peer

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// read reads a stream to its end.
func read(t testing.TB, body io.Reader, limit int) ([]Event, error) {
	t.Helper()
	var all []Event
	err := readEvents(body, limit, func(e *Event) bool {
		all = append(all, *e)
		return true
	})
	return all, err
}

func TestEvents(t *testing.T) {
	data := func(text string) Event { return Event{Data: []byte(text), HasData: true} }
	for name, tt := range map[string]struct {
		text string
		want []Event
	}{
		"data":                         {"data: a\n\n", []Event{data("a")}},
		"no space":                     {"data:a\n\n", []Event{data("a")}},
		"one space only":               {"data:  a\n\n", []Event{data(" a")}},
		"lines":                        {"data: a\ndata: b\n\n", []Event{data("a\nb")}},
		"CRLF":                         {"data: a\r\n\r\ndata: b\r\n\r\n", []Event{data("a"), data("b")}},
		"CR":                           {"data: a\r\rdata: b\r\r", []Event{data("a"), data("b")}},
		"byte order mark":              {"\xef\xbb\xbfdata: a\n\n", []Event{data("a")}},
		"all fields":                   {"event: e\nid: 1\nretry: 5\ndata: a\n\n", []Event{{Name: "e", ID: "1", HasID: true, Retry: "5", Data: []byte("a"), HasData: true}}},
		"ID alone":                     {"id: 1\n\n", []Event{{ID: "1", HasID: true}}},
		"empty ID":                     {"id\ndata\n\n", []Event{{HasID: true, HasData: true}}},
		"comments are nothing":         {": hi\n\n:\n\ndata: a\n\n", []Event{data("a")}},
		"unknown fields are nothing":   {"other: 1\n\n", nil},
		"colons in data":               {"data: {\"a\":1}\n\n", []Event{data(`{"a":1}`)}},
		"an end without an empty line": {"data: a\n\ndata: b\n", []Event{data("a")}},
		"an end within a line":         {"data: a\n\ndata: b", []Event{data("a")}},
		"nothing":                      {"", nil},
	} {
		t.Run(name, func(t *testing.T) {
			for _, body := range []io.Reader{strings.NewReader(tt.text), iotest.OneByteReader(strings.NewReader(tt.text))} {
				got, err := read(t, body, 1000)
				if err != nil || !slices.EqualFunc(got, tt.want, sameEvent) {
					t.Errorf("%+v, %v; want %+v", got, err, tt.want)
				}
			}
		})
	}
}

func sameEvent(a, b Event) bool { return fmt.Sprintf("%+v", a) == fmt.Sprintf("%+v", b) }

// An event is given out as soon as its empty line is there, although what
// follows a \r may be the other half of a line's end.
func TestEventsComeAtOnce(t *testing.T) {
	body, w := io.Pipe()
	got := make(chan string)
	go func() { // ends with the pipe
		_ = readEvents(body, 1000, func(e *Event) bool { got <- string(e.Data); return true })
		close(got)
	}()
	for _, text := range []string{"data: a\r\n\r", "\ndata: b\r\r", "data: c\n\n"} {
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
		if data := <-got; data != string(text[strings.Index(text, ": ")+2]) {
			t.Errorf("%q came of %q", data, text)
		}
	}
	_ = w.Close() // never fails
	for data := range got {
		t.Errorf("%q came although nothing was sent", data)
	}
}

func TestEventsAreBounded(t *testing.T) {
	for _, text := range []string{"data: " + strings.Repeat("a", 100), strings.Repeat("data: a\n", 20), strings.Repeat("id: a\n", 20)} {
		if got, err := read(t, strings.NewReader(text), 50); !errors.Is(err, errEventTooLong) || len(got) > 0 {
			t.Errorf("%.20q: %v, %v", text, got, err)
		}
	}
	if _, err := read(t, iotest.ErrReader(io.ErrUnexpectedEOF), 50); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error("a broken stream ends with", err)
	}
}

// Reading stops when the receiver has enough.
func TestEventsUntilEnough(t *testing.T) {
	n := 0
	err := readEvents(strings.NewReader(strings.Repeat("data: a\n\n", 5)), 100, func(*Event) bool { n++; return n < 2 })
	if n != 2 || err != nil {
		t.Error(n, err)
	}
}

// However an event stream is cut into pieces, the same events come out, and no
// more than its bytes.
func FuzzEvents(f *testing.F) {
	for _, seed := range []string{"data: a\n\n", "id: 1\r\ndata: a\r\rdata\n\n", "\xef\xbb\xbf: c\nretry: 1\n\n", "data:\xff\n\n\x00"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		whole, err := read(t, bytes.NewReader(text), 1<<20)
		pieces, err2 := read(t, iotest.OneByteReader(bytes.NewReader(text)), 1<<20)
		if !slices.EqualFunc(whole, pieces, sameEvent) || (err == nil) != (err2 == nil) {
			t.Fatalf("whole: %+v, %v\npieces: %+v, %v", whole, err, pieces, err2)
		}
		size := 0
		for _, e := range whole {
			size += len(e.Data) + len(e.ID) + len(e.Name) + len(e.Retry)
		}
		if size > len(text) {
			t.Fatalf("%d bytes came of %d", size, len(text))
		}
	})
}
