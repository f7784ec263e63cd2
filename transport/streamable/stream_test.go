package streamable

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/parley-mcp/parley/internal/era"
	"github.com/parley-mcp/parley/internal/httpserve"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
)

// A nil handler is refused before the first request could reach it.
func TestNewRefusesNil(t *testing.T) {
	if _, err := New(nil, nil); err == nil || !strings.Contains(err.Error(), "mcp.Handler is nil") {
		t.Errorf("error = %v, want one that names the handler", err)
	}
}

// newSession returns a session of a handler without tools.
func newSession(t *testing.T, o Options) *session {
	t.Helper()
	o.Logger = slog.New(slog.DiscardHandler)
	h, err := New(server.New(mcp.Implementation{Name: "t", Version: "1"}, &server.Options{Logger: slog.New(slog.DiscardHandler)}), &o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	s, err := h.sessions.open(new(era.Sender), nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// dying is a response to a client that is gone after a number of writes.
type dying struct {
	*httptest.ResponseRecorder
	left int
}

func (d *dying) Write(b []byte) (int, error) {
	if d.left--; d.left < 0 {
		return 0, errors.New("gone")
	}
	return d.ResponseRecorder.Write(b)
}

func responseOf(w http.ResponseWriter) *httpserve.Response {
	return httpserve.NewResponse(w, time.Second, -1, func(error) {})
}

func sent(t *testing.T, st *stream, messages ...string) {
	t.Helper()
	for _, m := range messages {
		if err := st.send([]byte(m)); err != nil {
			t.Fatal(err)
		}
	}
}

// What went out before a connection was lost is not sent again.
func TestListenGoesOnWhereItBroke(t *testing.T) {
	st := newSession(t, Options{}).standing.first
	sent(t, st, "a", "b", "c")
	first := &dying{httptest.NewRecorder(), 3} // the comment, a and b
	if _, _, err := st.listen(responseOf(first)); err != nil {
		t.Fatal(err)
	}
	second := httptest.NewRecorder()
	if _, _, err := st.listen(responseOf(second)); err != nil {
		t.Fatal(err)
	}
	sent(t, st, "d")
	if got := first.Body.String(); strings.Count(got, "data: a") != 1 || strings.Count(got, "data: b") != 1 {
		t.Errorf("the first got %q", got)
	}
	if got := second.Body.String(); strings.Contains(got, "data: a") || strings.Contains(got, "data: b") ||
		strings.Count(got, "data: c") != 1 || strings.Count(got, "data: d") != 1 {
		t.Errorf("the second got %q", got)
	}
}

// Two responses listen side by side. Each message goes to the newest of those that
// are left, and what nobody hears is kept for the next.
//
// Spec: 2025-11-25 basic/transports#multiple-connections.
func TestTwoListeners(t *testing.T) {
	all := newSession(t, Options{}).standing
	listen := func() (w *httptest.ResponseRecorder, leave func()) {
		w = httptest.NewRecorder()
		resp := responseOf(w)
		st, _, err := all.listen(resp)
		if err != nil {
			t.Fatal(err)
		}
		all.add(st, resp)
		return w, func() {
			st.leave(resp)
			all.remove(st, resp)
		}
	}
	say := func(message string) {
		if err := all.Message(t.Context(), []byte(message)); err != nil {
			t.Fatal(err)
		}
	}
	heard := func(w *httptest.ResponseRecorder) string {
		return strings.Join(regexp.MustCompile(`(?m)^data: (.+)$`).FindAllString(w.Body.String(), -1), " ")
	}
	first, leaveFirst := listen()
	say("a")
	second, leaveSecond := listen()
	say("b")
	leaveSecond()
	say("c")
	leaveFirst()
	say("d")
	third, leaveThird := listen()
	defer leaveThird()
	for _, tt := range []struct {
		w    *httptest.ResponseRecorder
		want string
	}{{first, "data: a data: c"}, {second, "data: b"}, {third, "data: d"}} {
		if got := heard(tt.w); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

// A client that listens for the first time after events were forgotten misses only
// those.
func TestListenAfterEventsWereForgotten(t *testing.T) {
	st := newSession(t, Options{Events: NewMemoryEvents(&MemoryOptions{MaxStream: 4})}).standing.first
	sent(t, st, "aaaa", "bbbb")
	w := httptest.NewRecorder()
	if _, _, err := st.listen(responseOf(w)); err != nil {
		t.Fatal(err)
	}
	sent(t, st, "cccc")
	if got := w.Body.String(); strings.Count(got, "data: ") != 1 || !strings.Contains(got, "data: cccc") {
		t.Errorf("got %q", got)
	}
	if _, err := st.resume(responseOf(httptest.NewRecorder()), 1); !errors.Is(err, ErrForgotten) {
		t.Errorf("resuming with a gap: %v, want ErrForgotten", err)
	}
}

func TestResumeAfterAnEventThatNeverWas(t *testing.T) {
	st := newSession(t, Options{}).standing.first
	if _, err := st.resume(responseOf(httptest.NewRecorder()), 7); err == nil {
		t.Error("no error")
	}
}

// A handler's goroutine that outlives its request cannot write after the
// answer, or fill the store of a session that ended.
func TestNothingFollowsTheAnswer(t *testing.T) {
	s := newSession(t, Options{})
	st, _ := s.begin()
	out := requestOut{st}
	if err := out.Answer(t.Context(), []byte("{}"), nil); err != nil {
		t.Fatal(err)
	}
	s.settle(st)
	if err := out.Message(t.Context(), []byte("late")); err == nil {
		t.Error("a message followed the answer")
	}
	s.owner.end(s, era.ErrShutdown)
	if err := s.standing.Message(t.Context(), []byte("late")); err == nil {
		t.Error("a message followed the end of the session")
	}
	if m := s.owner.h.opts.Events.(*memoryEvents); len(m.sessions) != 0 || m.total != 0 {
		t.Errorf("the store keeps %d bytes of %d sessions", m.total, len(m.sessions))
	}
}

// A timer that fires when the session is just being used again does not end
// it.
func TestExpiryJustAfterUse(t *testing.T) {
	s := newSession(t, Options{SessionIdle: time.Hour})
	if !s.use(t.Context()) {
		t.Fatal("the session has ended")
	}
	s.release(t.Context())
	s.expire()
	if !s.use(t.Context()) {
		t.Fatal("a session that was just used has expired")
	}
	s.expire()
	s.release(t.Context())
	if s.owner.len() != 1 {
		t.Error("a session in use has expired")
	}
}

// Streams that can no longer be resumed leave nothing in the store.
func TestForgottenStreamsLeaveTheStore(t *testing.T) {
	s := newSession(t, Options{})
	for range 3 * maxStreams {
		st, ok := s.begin()
		if !ok {
			t.Fatal("the session has ended")
		}
		sent(t, st, "message")
		s.settle(st)
	}
	m := s.owner.h.opts.Events.(*memoryEvents)
	if n := len(m.sessions[s.id]); n > maxStreams+1 || m.total > (maxStreams+1)*len("message") {
		t.Errorf("the store keeps %d bytes of %d streams; the session knows at most %d", m.total, n, maxStreams)
	}
}

// Answers that were sent as JSON objects do not evict one that waits for its client.
func TestPlainAnswersAreNotRemembered(t *testing.T) {
	s := newSession(t, Options{})
	waiting, _ := s.begin()
	if err := waiting.answer([]byte("kept"), nil); err != nil { // nobody listens
		t.Fatal(err)
	}
	s.settle(waiting)
	for range 3 * maxStreams {
		st, _ := s.begin()
		st.attach(responseOf(httptest.NewRecorder()))
		if err := st.answer([]byte("{}"), nil); err != nil {
			t.Fatal(err)
		}
		s.settle(st)
	}
	w := httptest.NewRecorder()
	st := s.stream(waiting.id)
	if st == nil {
		t.Fatal("the stream was forgotten")
	}
	if _, err := st.resume(responseOf(w), 0); err != nil || !strings.Contains(w.Body.String(), "kept") {
		t.Errorf("got %q, %v", w.Body, err)
	}
	if n := len(s.streams); n != 1 {
		t.Errorf("%d streams are remembered, want 1", n)
	}
}

// failing is an EventStore that fails.
type failing struct{ EventStore }

func (failing) Append(string, string, uint64, []byte) error { return errors.New("secret address") }
func (failing) After(string, string, uint64) ([][]byte, error) {
	return nil, errors.New("secret address")
}

func TestStoreFails(t *testing.T) {
	s := newSession(t, Options{Events: failing{NewMemoryEvents(nil)}})
	st, _ := s.begin()
	w := httptest.NewRecorder()
	st.attach(responseOf(w))
	sent(t, st, "note") // whoever listens gets it all the same
	if err := st.answer([]byte("answer"), nil); err != nil {
		t.Error(err)
	}
	s.settle(st)
	if got := w.Body.String(); !strings.Contains(got, "data: note") || !strings.Contains(got, "data: answer") {
		t.Errorf("got %q", got)
	}
	if err := s.standing.Message(t.Context(), []byte("lost")); err == nil {
		t.Error("a lost message is no error")
	}
	r := httptest.NewRequestWithContext(t.Context(), "GET", "/", nil)
	fieldSession.set(r.Header, s.id)
	fieldLast.set(r.Header, st.eventID(0))
	resp := httptest.NewRecorder()
	s.owner.h.ServeHTTP(resp, r)
	if resp.Code != 500 || strings.Contains(resp.Body.String(), "secret") {
		t.Errorf("%d %s; want 500 without the reason", resp.Code, resp.Body)
	}
}
