package streamable

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
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

// Every request names its session and revision, except initialize, which opens the
// former and proposes the latter. Close ends the session.
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

// A call that is given up is cancelled by a notification, except initialize.
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
	if err := conn.Close(); err != nil { // which must not overtake it
		t.Error(err)
	}
	p := within(t, "the cancellation", cancelled)
	if string(p.Params) != `{"requestId":7,"reason":"enough"}` || p.Header.Get("Mcp-Session-Id") != "s-1" {
		t.Errorf("cancelled with %s, %v", p.Params, p.Header)
	}
	if len(cancelled) > 0 {
		t.Error("initialize was cancelled")
	}
}

// Servers of 2025-03-26 may send arrays, on streams as well. The requests in an array
// are answered by an array.
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
	if p := within(t, "the answer to the ping", answered); string(p.sent) != `[{"jsonrpc":"2.0","id":9,"error":{"code":-32601,"message":"no"}}]` {
		t.Errorf("answered %s", p.sent)
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

// Many concurrent calls, questions and cancellations, for the race detector.
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

// A server that does not take the answer to its question may wait for it forever: the
// call that it was asked during fails at once, and the server is told.
func TestCallEndsWhenItsAnswerIsRefused(t *testing.T) {
	withdrawn := make(chan struct{})
	s := scripted(t, sessionScript(func(p *posted) {
		switch {
		case p.Method == "tools/call":
			p.events("data: {\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"roots/list\"}\n\n")
			<-p.Context().Done()
		case p.Method == mcp.NoteCancelled:
			p.w.WriteHeader(202)
			close(withdrawn)
		case p.Method == "" && p.Result != nil:
			http.Error(p.w, "I do not know that", 400)
		}
	}, nil))
	e := newEar()
	e.request = func(context.Context, *jsonrpc.Message) (any, *jsonrpc.Error) {
		return json.RawMessage(`{"roots":[]}`), nil
	}
	conn := dial(t, s, Client{}, e)
	handshake(t, conn)
	_, err := conn.RoundTrip(t.Context(), request(2, "tools/call", `{"name":"a"}`))
	var refused *HTTPError
	if !errors.As(err, &refused) || !strings.Contains(err.Error(), "did not take the answer to its question") || !strings.Contains(err.Error(), "I do not know that") {
		t.Errorf("error = %v, want the refusal of the answer", err)
	}
	within(t, "the withdrawal", withdrawn)
}

// A server may ask its client not to wait before it comes back, and the client does
// not do that in a busy loop.
func TestRetryOfZero(t *testing.T) {
	c := &conn{opts: Client{ReconnectDelay: time.Hour}}
	at := new(cursor)
	body := strings.NewReader("id: 1\nretry: 0\ndata:\n\n")
	if _, _, err := c.events(&call{conn: c}, body, at); !errors.Is(err, errStreamEnded) {
		t.Fatal(err)
	}
	if d := c.delay(at, 0); d != minDelay {
		t.Errorf("the client waits %v, want %v", d, minDelay)
	}
}
