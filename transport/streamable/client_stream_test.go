package streamable

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// What the server sends on the standing stream arrives, and a stream that ends is
// resumed where it ended, not earlier than the server asks for.
func TestStandingStream(t *testing.T) {
	var times []time.Time
	var last []string
	s := scripted(t, sessionScript(nil, func(p *posted) {
		times, last = append(times, time.Now()), append(last, p.Header.Get("Last-Event-ID"))
		switch n := len(times); n {
		case 1:
			p.events("id: a-1\nretry: 60\ndata:\n\n", "id: a-2\n", note(1))
		case 2:
			p.w.WriteHeader(503) // temporarily
		case 3:
			p.events(": nothing new\n\n")
		default:
			p.events("id: a-3\n", note(2))
			<-p.Context().Done()
		}
	}))
	e := newEar()
	conn := dial(t, s, Client{ReconnectDelay: time.Hour}, e)
	handshake(t, conn)
	for i := range 2 {
		if m := within(t, "notification", e.notes); string(m.Params) != fmt.Sprintf(`{"n":%d}`, i+1) {
			t.Errorf("notification %d is %s", i+1, m.Params)
		}
	}
	if want := []string{"", "a-2", "a-2", "a-2"}; !slices.Equal(last, want) {
		t.Errorf("resumed at %q, want %q", last, want)
	}
	for i := range times[1:] {
		if d := times[i+1].Sub(times[i]); d < 60*time.Millisecond {
			t.Errorf("attempt %d came after %v", i+2, d)
		}
	}
}

// A server without a standing stream is asked once.
func TestNoStandingStream(t *testing.T) {
	for _, status := range []int{400, 404, 405} {
		asked := make(chan struct{}, 10)
		s := scripted(t, sessionScript(func(p *posted) { p.result(`{}`) }, func(p *posted) {
			asked <- struct{}{}
			p.w.WriteHeader(status)
		}))
		conn := dial(t, s, Client{ReconnectDelay: time.Millisecond}, newEar())
		handshake(t, conn)
		within(t, "the GET", asked)
		if m, err := conn.RoundTrip(t.Context(), request(2, "ping", "")); err != nil {
			t.Errorf("%d: %s", status, outcome(m, err))
		}
		if len(asked) > 0 || conn.Err() != nil {
			t.Errorf("%d: asked %d times more; %v", status, len(asked), conn.Err())
		}
	}
}

// A standing stream that keeps ending is given up; the session is not.
func TestStandingStreamGivenUp(t *testing.T) {
	asked := make(chan struct{}, 100)
	given := &words{say: make(chan string, 10)}
	s := scripted(t, sessionScript(func(p *posted) { p.result(`{}`) }, func(p *posted) {
		asked <- struct{}{}
		p.events(": hello\n\n")
	}))
	conn := dial(t, s, Client{ReconnectDelay: time.Millisecond, MaxReconnects: 3, Logger: slog.New(slog.NewTextHandler(given, nil))}, newEar())
	handshake(t, conn)
	if w := within(t, "the warning", given.say); !strings.Contains(w, "standing stream given up") {
		t.Errorf("logged %q", w)
	}
	if len(asked) != 4 {
		t.Errorf("asked %d times, want 4", len(asked))
	}
	if m, err := conn.RoundTrip(t.Context(), request(2, "ping", "")); err != nil {
		t.Error(outcome(m, err))
	}
}

// A server that cannot be reached any more is told of at the first attempt, and once.
func TestStandingStreamInterrupted(t *testing.T) {
	gets := 0
	given := &words{say: make(chan string, 10)}
	s := scripted(t, sessionScript(nil, func(p *posted) {
		if gets++; gets == 1 {
			p.events(": hello\n\n")
			return
		}
		p.w.WriteHeader(http.StatusServiceUnavailable)
	}))
	conn := dial(t, s, Client{ReconnectDelay: time.Millisecond, MaxReconnects: 3, Logger: slog.New(slog.NewTextHandler(given, nil))}, newEar())
	handshake(t, conn)
	for _, want := range []string{"the standing stream is interrupted; trying to open it again", "standing stream given up"} {
		if w := within(t, "the warning", given.say); !strings.Contains(w, want) {
			t.Errorf("logged %q, want %q", w, want)
		}
	}
}

// words passes on what is logged.
type words struct{ say chan string }

func (w *words) Write(p []byte) (int, error) { w.say <- string(p); return len(p), nil }

// A server that lets its clients poll: the stream of a call is primed and
// closed, and the answer comes on a later one.
func TestClientPolls(t *testing.T) {
	var polls []string
	var times []time.Time
	s := scripted(t, sessionScript(func(p *posted) {
		switch {
		case p.Method == "tools/call":
			times = append(times, time.Now())
			p.events("id: call-1\nretry: 50\ndata:\n\n")
		case p.Request.Method == http.MethodGet:
			times, polls = append(times, time.Now()), append(polls, p.Header.Get("Last-Event-ID")+" "+p.Header.Get("Accept")+" "+p.Header.Get("Mcp-Session-Id"))
			if len(polls) < 8 { // more often than MaxReconnects, but each brings an event
				p.events(fmt.Sprintf("id: call-%d\n", len(polls)+1), note(len(polls)))
				return
			}
			p.ID = json.RawMessage("2")
			p.events("id: call-9\n", p.answer(`{"done":true}`))
		}
	}, nil))
	e := newEar()
	conn := dial(t, s, Client{MaxReconnects: 2}, e)
	handshake(t, conn)
	m, err := conn.RoundTrip(t.Context(), request(2, "tools/call", `{"name":"a"}`))
	if got := outcome(m, err); got != `{"done":true}` {
		t.Errorf("got %s", got)
	}
	for i, p := range polls {
		if want := fmt.Sprintf("call-%d text/event-stream s-1", i+1); p != want {
			t.Errorf("poll %d says %q, want %q", i+1, p, want)
		}
		if d := times[i+1].Sub(times[i]); d < 50*time.Millisecond {
			t.Errorf("poll %d came after %v", i+1, d)
		}
	}
	if len(e.notes) != 7 {
		t.Errorf("%d notifications, want 7", len(e.notes))
	}
}

// Streams that cannot be resumed fail the call and nothing else.
func TestNotResumable(t *testing.T) {
	tests := map[string]struct {
		first string
		then  func(p *posted)
		want  string
		gets  int
	}{
		"no event ID":    {note(1), nil, "without an answer", 0},
		"not allowed":    {"id: call-1\ndata:\n\n", func(p *posted) { p.w.WriteHeader(405) }, "cannot be resumed", 1},
		"bad request":    {"id: call-1\ndata:\n\n", func(p *posted) { p.w.WriteHeader(400) }, "cannot be resumed", 1},
		"unavailable":    {"id: call-1\ndata:\n\n", func(p *posted) { p.w.WriteHeader(503) }, "3 attempts", 3},
		"empty streams":  {"id: call-1\ndata:\n\n", func(p *posted) { p.events(": x\n\n") }, "3 attempts", 3},
		"not a stream":   {"id: call-1\ndata:\n\n", func(p *posted) { p.result(`{}`) }, "cannot be resumed", 1},
		"another answer": {"id: call-1\ndata:\n\n", func(p *posted) { p.ID = json.RawMessage("8"); p.events(p.answer(`{}`)); <-p.Context().Done() }, "too late", 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			gets := make(chan struct{}, 100)
			s := scripted(t, sessionScript(func(p *posted) {
				switch {
				case p.Method == "tools/call":
					p.events(tt.first)
				case p.Request.Method == http.MethodGet:
					gets <- struct{}{}
					tt.then(p)
				case p.Method == "ping":
					p.result(`{}`)
				}
			}, nil))
			conn := dial(t, s, Client{MaxReconnects: 3, ReconnectDelay: time.Millisecond}, newEar())
			handshake(t, conn)
			patience := time.Minute
			if tt.want == "too late" {
				patience = 300 * time.Millisecond
			}
			ctx, cancel := context.WithTimeoutCause(t.Context(), patience, errors.New("too late"))
			defer cancel()
			if got := outcome(conn.RoundTrip(ctx, request(2, "tools/call", `{"name":"a"}`))); !strings.Contains(got, tt.want) {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if len(gets) != tt.gets {
				t.Errorf("%d attempts, want %d", len(gets), tt.gets)
			}
			if m, err := conn.RoundTrip(t.Context(), request(3, "ping", "")); err != nil {
				t.Error(outcome(m, err))
			}
		})
	}
}
