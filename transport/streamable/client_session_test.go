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
	"sync"
	"testing"
	"time"

	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

const initResult = `{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}`

// sessionScript serves the handshake of a session, and leaves the rest to a
// script. It has no standing stream, unless standing is set.
func sessionScript(rest func(p *posted), standing func(p *posted)) func(p *posted) {
	return func(p *posted) {
		switch {
		case p.Request.Method == http.MethodPost && p.Method == mcp.MethodInitialize:
			p.w.Header().Set("Mcp-Session-Id", "s-1")
			p.result(initResult)
		case p.Request.Method == http.MethodPost && p.Method == mcp.NoteInitialized:
			p.w.WriteHeader(202)
		case p.Request.Method == http.MethodGet && standing != nil && !strings.HasPrefix(p.Header.Get("Last-Event-ID"), "call"):
			standing(p)
		case p.Request.Method == http.MethodGet && p.Header.Get("Last-Event-ID") == "":
			p.w.WriteHeader(405)
		case rest != nil:
			rest(p)
		}
	}
}

// handshake opens a session.
func handshake(t *testing.T, conn mcp.Conn) {
	t.Helper()
	m, err := conn.RoundTrip(t.Context(), request(1, mcp.MethodInitialize, `{"protocolVersion":"2025-11-25"}`))
	if err != nil || m.Error != nil {
		t.Fatal(outcome(m, err))
	}
	if err := conn.Send(t.Context(), &jsonrpc.Message{Kind: jsonrpc.Notification, Method: mcp.NoteInitialized}); err != nil {
		t.Fatal(err)
	}
}

// Each request says what session and what revision it belongs to, but for
// initialize, which opens the one and proposes the other; Close ends it.
func TestSessionHeaders(t *testing.T) {
	var mu sync.Mutex
	seen := map[string]http.Header{}
	s := scripted(t, func(p *posted) {
		mu.Lock()
		seen[p.Request.Method+" "+p.Method] = p.Header
		mu.Unlock()
		sessionScript(func(p *posted) { p.result(`{}`) }, nil)(p)
	})
	conn := dial(t, s, Client{}, newEar())
	handshake(t, conn)
	if _, err := conn.RoundTrip(t.Context(), request(2, "tools/call", `{"name":"a"}`)); err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
	mu.Lock()
	defer mu.Unlock()
	for what, want := range map[string][2]string{
		"POST initialize":                {"", ""},
		"POST notifications/initialized": {"s-1", "2025-11-25"},
		"POST tools/call":                {"s-1", "2025-11-25"},
		"DELETE ":                        {"s-1", "2025-11-25"},
	} {
		h, ok := seen[what]
		if got := [2]string{h.Get("Mcp-Session-Id"), h.Get("MCP-Protocol-Version")}; !ok || got != want {
			t.Errorf("%s: %v %q, want %q", what, ok, got, want)
		}
		if h.Get("Mcp-Method") != "" || h.Get("Mcp-Name") != "" {
			t.Errorf("%s has headers of another era: %v", what, h)
		}
	}
}

func TestMalformedSessionID(t *testing.T) {
	s := scripted(t, func(p *posted) {
		p.w.Header().Set("Mcp-Session-Id", "two words")
		p.result(initResult)
	})
	conn := dial(t, s, Client{}, newEar())
	if _, err := conn.RoundTrip(t.Context(), request(1, mcp.MethodInitialize, `{}`)); err == nil || !strings.Contains(err.Error(), `"two words"`) {
		t.Errorf("error = %v", err)
	}
}

// A question on the stream of a call is answered by a POST of its own while
// the call goes on.
func TestQuestionOnTheStreamOfACall(t *testing.T) {
	answered := make(chan *posted, 1)
	s := scripted(t, sessionScript(func(p *posted) {
		if p.Method == "" && p.Request.Method == http.MethodPost {
			answered <- p
			p.w.WriteHeader(202)
			return
		}
		if p.Request.Method == http.MethodDelete {
			return
		}
		p.events("data: {\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"roots/list\"}\n\n")
		a := <-answered
		p.events(p.answer(fmt.Sprintf(`{"id":%s,"result":%s,"session":%q}`, a.ID, a.Result, a.Header.Get("Mcp-Session-Id"))))
	}, nil))
	e := newEar()
	e.request = func(_ context.Context, m *jsonrpc.Message) (any, *jsonrpc.Error) {
		return map[string]string{"method": m.Method}, nil
	}
	conn := dial(t, s, Client{}, e)
	handshake(t, conn)
	got := outcome(conn.RoundTrip(t.Context(), request(2, "tools/call", `{"name":"a"}`)))
	if want := `{"id":"q","result":{"method":"roots/list"},"session":"s-1"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// The server may withdraw its question, on whatever stream.
func TestQuestionWithdrawn(t *testing.T) {
	asked := make(chan struct{})
	s := scripted(t, sessionScript(func(p *posted) {
		if p.Method != "tools/call" {
			if p.Method == "" && p.Request.Method == http.MethodPost {
				t.Error("a withdrawn question was answered")
			}
			return
		}
		p.events("data: {\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"roots/list\"}\n\n")
		<-asked
		p.events("data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":5}}\n\n", p.answer(`{}`))
	}, nil))
	ended := make(chan struct{})
	e := newEar()
	e.request = func(ctx context.Context, _ *jsonrpc.Message) (any, *jsonrpc.Error) {
		close(asked)
		<-ctx.Done()
		close(ended)
		return struct{}{}, nil
	}
	conn := dial(t, s, Client{}, e)
	handshake(t, conn)
	if m, err := conn.RoundTrip(t.Context(), request(2, "tools/call", `{"name":"a"}`)); err != nil {
		t.Error(outcome(m, err))
	}
	within(t, "the end of the question", ended)
}

// A call that is given up is cancelled by a notification; initialize never.
func TestCancellation(t *testing.T) {
	cancelled, began := make(chan *posted, 2), make(chan struct{}, 2)
	s := scripted(t, func(p *posted) {
		switch {
		case p.Method == mcp.NoteCancelled:
			cancelled <- p
			p.w.WriteHeader(202)
		case p.Method == mcp.MethodInitialize && strings.Contains(string(p.Params), "hang"), p.Method == "tools/call":
			began <- struct{}{}
			<-p.Context().Done()
		default:
			sessionScript(nil, nil)(p)
		}
	})
	conn := dial(t, s, Client{}, newEar())
	giveUp := func(m *jsonrpc.Message) {
		ctx, cancel := context.WithCancelCause(t.Context())
		failed := make(chan error, 1)
		go func() { // ends with ctx
			_, err := conn.RoundTrip(ctx, m)
			failed <- err
		}()
		within(t, "the request", began)
		why := errors.New("enough")
		cancel(why)
		if err := within(t, "the failure", failed); !errors.Is(err, why) {
			t.Errorf("error = %v", err)
		}
	}
	giveUp(request(1, mcp.MethodInitialize, `{"hang":1}`))
	handshake(t, conn)
	giveUp(request(7, "tools/call", `{"name":"a"}`))
	p := within(t, "the cancellation", cancelled)
	if string(p.Params) != `{"requestId":7,"reason":"enough"}` || p.Header.Get("Mcp-Session-Id") != "s-1" {
		t.Errorf("cancelled with %s, %v", p.Params, p.Header)
	}
	if len(cancelled) > 0 {
		t.Error("initialize was cancelled")
	}
}

// The standing stream: what the server says by itself arrives, and a stream
// that ends is taken up where it ended, not before the server wants.
func TestStandingStream(t *testing.T) {
	var times []time.Time
	var last []string
	s := scripted(t, sessionScript(nil, func(p *posted) {
		times, last = append(times, time.Now()), append(last, p.Header.Get("Last-Event-ID"))
		switch n := len(times); n {
		case 1:
			p.events("id: a-1\nretry: 60\ndata:\n\n", "id: a-2\n", note(1))
		case 2:
			p.w.WriteHeader(503) // for a moment
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
	if w := within(t, "the warning", given.say); !strings.Contains(w, "given up listening") {
		t.Errorf("logged %q", w)
	}
	if len(asked) != 4 {
		t.Errorf("asked %d times, want 4", len(asked))
	}
	if m, err := conn.RoundTrip(t.Context(), request(2, "ping", "")); err != nil {
		t.Error(outcome(m, err))
	}
}

// words hands over what is logged.
type words struct{ say chan string }

func (w *words) Write(p []byte) (int, error) { w.say <- string(p); return len(p), nil }

// A server that lets its clients poll: the stream of a call is primed and
// closed, and the answer comes on a later one.
func TestPolling(t *testing.T) {
	var polls []string
	var times []time.Time
	s := scripted(t, sessionScript(func(p *posted) {
		switch {
		case p.Method == "tools/call":
			times = append(times, time.Now())
			p.events("id: call-1\nretry: 50\ndata:\n\n")
		case p.Request.Method == http.MethodGet:
			times, polls = append(times, time.Now()), append(polls, p.Header.Get("Last-Event-ID")+" "+p.Header.Get("Accept")+" "+p.Header.Get("Mcp-Session-Id"))
			if len(polls) < 8 { // more often than MaxReconnects: each moves on
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
			ctx, cancel := context.WithTimeoutCause(t.Context(), 300*time.Millisecond, errors.New("too late"))
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

// A 404 means that the session is over: the call was refused, calls in flight
// may not have been, and nothing more can be sent.
func TestSessionGone(t *testing.T) {
	began := make(chan struct{})
	deleted := false
	s := scripted(t, sessionScript(func(p *posted) {
		switch {
		case p.Method == "tools/call":
			p.events(note(1))
			close(began)
			<-p.Context().Done()
		case p.Request.Method == http.MethodDelete:
			deleted = true
		default:
			p.ID = json.RawMessage("null")
			p.object(404, `"error":{"code":-32001,"message":"Session not found"}`)
		}
	}, nil))
	conn := dial(t, s, Client{}, newEar())
	handshake(t, conn)
	flying := make(chan error, 1)
	go func() { // ends with the session
		_, err := conn.RoundTrip(context.Background(), request(2, "tools/call", `{"name":"a"}`))
		flying <- err
	}()
	within(t, "the call", began)
	if _, err := conn.RoundTrip(t.Context(), request(3, "ping", "")); !errors.Is(err, mcp.ErrSessionGone) {
		t.Errorf("error = %v", err)
	}
	if err := within(t, "the end of the other call", flying); errors.Is(err, mcp.ErrSessionGone) || !errors.Is(err, jsonrpc.ErrClosed) {
		t.Errorf("the call in flight failed with %v", err)
	}
	within(t, "Done", conn.Done())
	if !errors.Is(conn.Err(), mcp.ErrSessionGone) {
		t.Errorf("Err = %v", conn.Err())
	}
	if _, err := conn.RoundTrip(t.Context(), request(4, "ping", "")); !errors.Is(err, mcp.ErrSessionGone) {
		t.Errorf("afterwards: %v", err)
	}
	if err := conn.Close(); err != nil || deleted {
		t.Errorf("Close: %v; deleted: %v", err, deleted)
	}
}

// What other servers say instead of 404, and what only sounds like it.
func TestSessionGoneInOtherWords(t *testing.T) {
	tests := map[string]struct {
		status int
		id     string
		member string
		gone   bool
	}{
		"plain 404":          {404, "null", `"x":1`, true},
		"TypeScript example": {400, "null", `"error":{"code":-32000,"message":"Bad Request: No valid session ID provided"}`, true},
		"fresh transport":    {400, "null", `"error":{"code":-32000,"message":"Bad Request: Server not initialized"}`, true},
		"other refusal":      {400, "null", `"error":{"code":-32000,"message":"Bad Request: Unsupported protocol version"}`, false},
		"answer":             {400, "2", `"error":{"code":-32000,"message":"no session"}`, false},
		"plain 400":          {400, "null", `"x":1`, false},
		"500":                {500, "null", `"error":{"code":-32000,"message":"session store is down"}`, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := scripted(t, sessionScript(func(p *posted) {
				p.ID = json.RawMessage(tt.id)
				p.object(tt.status, tt.member)
			}, nil))
			conn := dial(t, s, Client{}, newEar())
			handshake(t, conn)
			if m, err := conn.RoundTrip(t.Context(), request(2, "ping", "")); errors.Is(err, mcp.ErrSessionGone) != tt.gone {
				t.Errorf("got %s", outcome(m, err))
			}
		})
	}
}

// The standing stream notices, too, once it has been open.
func TestSessionGoneOnStandingStream(t *testing.T) {
	n := 0
	s := scripted(t, sessionScript(nil, func(p *posted) {
		if n++; n == 1 {
			p.events("retry: 1\n\n")
			return
		}
		p.w.WriteHeader(404)
	}))
	conn := dial(t, s, Client{}, newEar())
	handshake(t, conn)
	within(t, "Done", conn.Done())
	if !errors.Is(conn.Err(), mcp.ErrSessionGone) {
		t.Errorf("Err = %v", conn.Err())
	}
}

// In a resumed stream a 404 does not mean that the call was refused.
func TestSessionGoneWhileResuming(t *testing.T) {
	s := scripted(t, sessionScript(func(p *posted) {
		if p.Method == "tools/call" {
			p.events("id: call-1\nretry: 1\ndata:\n\n")
			return
		}
		p.w.WriteHeader(404)
	}, nil))
	conn := dial(t, s, Client{}, newEar())
	handshake(t, conn)
	_, err := conn.RoundTrip(t.Context(), request(2, "tools/call", `{"name":"a"}`))
	if errors.Is(err, mcp.ErrSessionGone) || !errors.Is(err, jsonrpc.ErrClosed) {
		t.Errorf("error = %v", err)
	}
	if !errors.Is(conn.Err(), mcp.ErrSessionGone) {
		t.Errorf("Err = %v", conn.Err())
	}
}

// An unknown method is not an unknown session.
func TestUnknownMethodInSession(t *testing.T) {
	s := scripted(t, sessionScript(func(p *posted) { p.object(404, `"error":{"code":-32601,"message":"no such method"}`) }, nil))
	conn := dial(t, s, Client{}, newEar())
	handshake(t, conn)
	if got := outcome(conn.RoundTrip(t.Context(), request(2, "x/y", ""))); got != "-32601 no such method" || conn.Err() != nil {
		t.Errorf("got %s; %v", got, conn.Err())
	}
}

// Close waits for a server that does not answer no longer than it is told to.
func TestCloseIsBounded(t *testing.T) {
	s := scripted(t, sessionScript(func(p *posted) { <-p.Context().Done() }, nil))
	conn := dial(t, s, Client{CloseTimeout: 20 * time.Millisecond}, newEar())
	handshake(t, conn)
	start := time.Now()
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
	if d := time.Since(start); d > 3*time.Second {
		t.Errorf("Close took %v", d)
	}
}

// Servers of 2025-03-26 may send arrays, on streams as well.
func TestBatchesOnStreams(t *testing.T) {
	answered := make(chan *posted, 2)
	s := scripted(t, sessionScript(func(p *posted) {
		if p.Method == "" && p.Request.Method == http.MethodPost {
			answered <- p
			p.w.WriteHeader(202)
			return
		}
		p.events(`data: [{"jsonrpc":"2.0","method":"notifications/n","params":{"n":1}},{"jsonrpc":"2.0","id":9,"method":"ping"},{"jsonrpc":"2.0","id":2,"result":{"a":1}},{"jsonrpc":"2.0","method":"notifications/n","params":{"n":2}}]` + "\n\n")
	}, nil))
	e := newEar()
	conn := dial(t, s, Client{}, e)
	handshake(t, conn)
	if got := outcome(conn.RoundTrip(t.Context(), request(2, "tools/call", `{"name":"a"}`))); got != `{"a":1}` {
		t.Errorf("got %s", got)
	}
	if p := within(t, "the answer to the ping", answered); string(p.ID) != "9" || p.Err == nil {
		t.Errorf("answered %s %s", p.ID, p.Err)
	}
	if len(e.notes) != 2 {
		t.Errorf("%d notifications, want 2", len(e.notes))
	}
}

// A malformed question is refused, not ignored: the server waits.
func TestMalformedQuestion(t *testing.T) {
	answered := make(chan *posted, 1)
	s := scripted(t, sessionScript(func(p *posted) {
		if p.Method == "" && p.Request.Method == http.MethodPost {
			answered <- p
			return
		}
		if p.Request.Method == http.MethodDelete {
			return
		}
		p.events(`data: {"jsonrpc":"2.0","id":9,"method":"ping","params":[1]}` + "\n\n")
		<-answered
		p.events(p.answer(`{}`))
	}, nil))
	conn := dial(t, s, Client{}, newEar())
	handshake(t, conn)
	if m, err := conn.RoundTrip(t.Context(), request(2, "tools/call", `{"name":"a"}`)); err != nil {
		t.Error(outcome(m, err))
	}
}

// Many calls, questions and cancellations at a time, for the race detector.
func TestManyAtOnce(t *testing.T) {
	s := scripted(t, sessionScript(func(p *posted) {
		switch p.Method {
		case "tools/call":
			p.events(note(1), "data: {\"jsonrpc\":\"2.0\",\"id\":\"q"+string(p.ID)+"\",\"method\":\"roots/list\"}\n\n", p.answer(`{}`))
		default:
			p.w.WriteHeader(202)
		}
	}, func(p *posted) { p.events(note(0)); <-p.Context().Done() }))
	e := newEar()
	e.notes = make(chan *jsonrpc.Message, 1000)
	conn := dial(t, s, Client{}, e)
	handshake(t, conn)
	var wg sync.WaitGroup
	for i := range 100 {
		wg.Go(func() {
			ctx, cancel := context.WithCancel(t.Context())
			if i%10 == 0 {
				cancel()
			}
			defer cancel()
			if m, err := conn.RoundTrip(ctx, request(int64(i+10), "tools/call", `{"name":"a"}`)); err != nil && i%10 != 0 {
				t.Error(outcome(m, err))
			}
		})
	}
	wg.Wait()
}
