package httpserve

import (
	"bufio"
	"io"
	"net"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/internal/sse"
)

// timed is a response that remembers its write deadline.
type timed struct {
	*httptest.ResponseRecorder
	deadline time.Time
}

func (w *timed) SetWriteDeadline(d time.Time) error {
	w.deadline = d
	return nil
}

// A deadline that stays after an event would end a quiet stream. Without one at
// the end, a client that does not read would hold up the server.
func TestDeadlines(t *testing.T) {
	w := &timed{ResponseRecorder: httptest.NewRecorder(), deadline: time.Now()} // as http.Server.WriteTimeout sets it
	resp := NewResponse(w, time.Hour, -1, func(error) {})
	if err := resp.Event(sse.Event{Data: []byte("x")}); err != nil || !w.deadline.IsZero() {
		t.Errorf("after an event: %v, deadline %v", err, w.deadline)
	}
	resp.Close()
	if w.deadline.IsZero() {
		t.Error("the end of the stream may take forever")
	}
	w = &timed{ResponseRecorder: httptest.NewRecorder()}
	resp = NewResponse(w, time.Hour, -1, func(error) {})
	if ok, _ := resp.Object(200, []byte("{}")); !ok || w.deadline.IsZero() {
		t.Error("an object may take forever")
	}
	resp.Close()
	if w.deadline.IsZero() {
		t.Error("the rest of an object may take forever")
	}
}

// Nothing is written once the request is over.
func TestNoCommentAfterClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := httptest.NewRecorder()
		resp := NewResponse(w, time.Hour, time.Second, func(error) {})
		if err := resp.Start(); err != nil {
			t.Fatal(err)
		}
		<-time.NewTimer(2500 * time.Millisecond).C
		synctest.Wait()
		resp.Close()
		before := w.Body.String()
		if before != string(sse.Comment)+string(sse.Comment)+string(sse.Comment) {
			t.Errorf("got %q, want three comments", before)
		}
		<-time.NewTimer(time.Minute).C
		if ok, _ := resp.Object(200, nil); ok || resp.Event(sse.Event{}) == nil || w.Body.String() != before {
			t.Errorf("written after Close: %q", w.Body.String()[len(before):])
		}
	})
}

// cutting is a response whose connection can be hijacked.
type cutting struct {
	*timed
	conn net.Conn
}

func (w *cutting) Hijack() (net.Conn, *bufio.ReadWriter, error) { return w.conn, nil, nil }

// A stream that is cut ends like any other, and its connection with it. A response
// that is no stream yet, or is over, is left alone.
func TestCut(t *testing.T) {
	near, far := net.Pipe()
	defer near.Close()
	w := &cutting{&timed{ResponseRecorder: httptest.NewRecorder()}, far}
	resp := NewResponse(w, time.Hour, -1, func(error) {})
	if err := resp.Cut(); err != nil || w.Body.Len() > 0 {
		t.Errorf("before the stream began: %v, %q", err, w.Body)
	}
	if err := resp.Event(sse.Event{Data: []byte("x")}); err != nil {
		t.Fatal(err)
	}
	rest := make(chan string)
	go func() { // ends with the connection
		b, _ := io.ReadAll(near)
		rest <- string(b)
	}()
	if err := resp.Cut(); err != nil {
		t.Error(err)
	}
	if got := <-rest; got != "0\r\n\r\n" {
		t.Errorf("the connection ended with %q, want the last chunk", got)
	}
	if err := resp.Cut(); err != nil || resp.Event(sse.Event{}) == nil {
		t.Errorf("a second time: %v", err)
	}
}

func TestCuttable(t *testing.T) {
	r := httptest.NewRequestWithContext(t.Context(), "POST", "/", nil)
	w := &cutting{timed: &timed{ResponseRecorder: httptest.NewRecorder()}}
	if !Cuttable(w, r) || Cuttable(w.timed, r) {
		t.Error("want only writers that can be hijacked")
	}
	if r.ProtoMajor, r.ProtoMinor = 2, 0; Cuttable(w, r) {
		t.Error("HTTP/2 carries other responses on the same connection")
	}
	if r.ProtoMajor = 1; Cuttable(w, r) {
		t.Error("HTTP/1.0 has no chunks")
	}
}
