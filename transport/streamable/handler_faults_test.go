package streamable_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/parley-mcp/parley/internal/sse"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/transport/streamable"
)

// stubborn has a tool that ignores its cancellation, and one that does not.
func stubborn(started chan<- struct{}, gate <-chan struct{}) *server.Server {
	s := server.New(mcp.Implementation{Name: "t", Version: "1"}, &server.Options{Logger: mcptest.Quiet()})
	server.AddTool(s, mcp.Tool{Name: "ignore"}, func(context.Context, *server.Call, struct{}) (string, error) {
		started <- struct{}{}
		<-gate
		return "done", nil
	})
	server.AddTool(s, mcp.Tool{Name: "obey"}, func(ctx context.Context, _ *server.Call, _ struct{}) (string, error) {
		started <- struct{}{}
		<-ctx.Done()
		return "", ctx.Err()
	})
	return s
}

func call(id int, tool string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q}}`, id, tool)
}

func TestCloseEndsWithItsContext(t *testing.T) {
	started, gate := make(chan struct{}), make(chan struct{})
	ts, h := start(t, stubborn(started, gate), nil)
	id := open(t, ts, "2025-11-25")
	answered := make(chan string, 1)
	go func() { answered <- text(t, ask(t, ts, "POST", call(2, "ignore"), "Mcp-Session-Id", id)) }()
	<-started
	impatient, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	cancel(enough)
	if err := h.Close(impatient); !errors.Is(err, enough) {
		t.Errorf("Close: %v, want %v", err, enough)
	}
	close(gate)
	if got := <-answered; !strings.Contains(got, `"done"`) {
		t.Errorf("the request that went on: %s", got)
	}
}

// A cancelled request gets no answer, but its HTTP response still has a type that
// clients know.
func TestCancelledRequestEndsAsAStream(t *testing.T) {
	started := make(chan struct{})
	ts, _ := start(t, stubborn(started, nil), nil)
	for _, version := range []string{"2025-03-26", "2025-11-25"} {
		id := open(t, ts, version)
		ended := make(chan *http.Response, 1)
		go func() { ended <- ask(t, ts, "POST", call(2, "obey"), "Mcp-Session-Id", id) }()
		<-started
		ask(t, ts, "POST", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`, "Mcp-Session-Id", id)
		resp := <-ended
		if got := text(t, resp); resp.StatusCode != 200 || resp.Header.Get("Content-Type") != sse.ContentType || strings.Contains(got, "data:") {
			t.Errorf("%s: %d, %q: %q", version, resp.StatusCode, resp.Header.Get("Content-Type"), got)
		}
	}
}

// A notification must not be answered, not even a malformed one in a batch: the error
// could be mistaken for the answer to a request.
func TestBatchWithMalformedParts(t *testing.T) {
	ts, _ := start(t, testServer(nil), nil)
	id := open(t, ts, "2025-03-26")
	bad := `{"jsonrpc":"2.0","method":"notifications/x","params":3},{"jsonrpc":"2.0","id":9,"result":{},"error":{}}`
	resp := ask(t, ts, "POST", `[`+bad+`,{"jsonrpc":"2.0","id":5,"method":"ping"}]`, "Mcp-Session-Id", id)
	if got := text(t, resp); got != `[{"jsonrpc":"2.0","id":5,"result":{}}]` {
		t.Errorf("got %s", got)
	}
	resp = ask(t, ts, "POST", `[`+bad+`]`, "Mcp-Session-Id", id)
	if got := text(t, resp); resp.StatusCode != 202 || got != "" {
		t.Errorf("nothing to answer: %d %s", resp.StatusCode, got)
	}
}

// again uses the ID of a request as soon as its answer is being written.
type again struct {
	*httptest.ResponseRecorder
	do func()
}

func (a *again) Write(b []byte) (int, error) {
	if a.do != nil {
		a.do()
		a.do = nil
	}
	return a.ResponseRecorder.Write(b)
}

func TestIDIsFreeOnceAnswered(t *testing.T) {
	ts, h := start(t, testServer(nil), nil)
	id := open(t, ts, "2025-03-26")
	ping := func(w http.ResponseWriter, body string) {
		r := httptest.NewRequestWithContext(t.Context(), "POST", "/", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Mcp-Session-Id", id)
		h.ServeHTTP(w, r)
	}
	for _, body := range []string{`{"jsonrpc":"2.0","id":5,"method":"ping"}`, `[{"jsonrpc":"2.0","id":5,"method":"ping"}]`} {
		second := httptest.NewRecorder()
		ping(&again{httptest.NewRecorder(), func() { ping(second, body) }}, body)
		if got := second.Body.String(); !strings.Contains(got, `"result":{}`) {
			t.Errorf("after %s: %s", body, got)
		}
	}
}

// The body of a request that is refused early is not waited for, either.
func TestSlowBodyOfARefusedRequest(t *testing.T) {
	ts, _ := start(t, testServer(nil), &streamable.Options{ReadTimeout: 50 * time.Millisecond})
	for _, head := range []string{
		"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n",
		"POST / HTTP/1.1\r\nHost: evil.example.com\r\nContent-Type: application/json\r\n",
		"DELETE / HTTP/1.1\r\nHost: localhost\r\n",
		"PUT / HTTP/1.1\r\nHost: localhost\r\n",
	} {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", ts.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "%sContent-Length: 100\r\n\r\n{", head)
		answer, err := io.ReadAll(conn) // ends when the server gives up
		if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 4") {
			t.Errorf("%s: got %q, %v", head, answer, err)
		}
		conn.Close()
	}
}

func TestVersionHeaderOfASession(t *testing.T) {
	s := server.New(mcp.Implementation{Name: "t", Version: "1"}, &server.Options{
		Logger: mcptest.Quiet(), Revisions: []mcp.Revision{mcp.Revision20251125},
	})
	ts, _ := start(t, s, nil)
	id := open(t, ts, "2025-11-25")
	for _, tt := range []struct {
		versions []string
		status   int
	}{
		{nil, 200},
		{[]string{"2025-11-25"}, 200},
		{[]string{"2025-06-18"}, 400}, // known, and not spoken here
		{[]string{"2025-11-25", "2026-07-28"}, 400},
		{[]string{"2025-11-25", "2025-11-25"}, 400},
	} {
		req, err := http.NewRequestWithContext(t.Context(), "POST", ts.URL, bytes.NewBufferString(`{"jsonrpc":"2.0","id":2,"method":"ping"}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Mcp-Session-Id", id)
		req.Header["Mcp-Protocol-Version"] = tt.versions
		resp, err := ts.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if got := text(t, resp); resp.StatusCode != tt.status {
			t.Errorf("%q: %d, want %d: %s", tt.versions, resp.StatusCode, tt.status, got)
		}
		resp.Body.Close()
	}
}

// Over HTTP/2 a quiet stream lives on past the limit for a message.
func TestQuietStreamOverHTTP2(t *testing.T) {
	const limit = 200 * time.Millisecond
	s := testServer(nil)
	h, err := streamable.New(s, &streamable.Options{ServeOptions: mcp.ServeOptions{Logger: mcptest.Quiet()}, WriteTimeout: limit, KeepAlive: -1})
	if err != nil {
		t.Fatal(err)
	}
	ts := httptest.NewUnstartedServer(h)
	ts.EnableHTTP2 = true
	ts.StartTLS()
	defer ts.Close()
	defer h.Close(context.Background())
	resp := ask(t, ts, "POST", modern("subscriptions/listen", `"notifications":{"toolsListChanged":true}`), "MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "subscriptions/listen")
	if resp.ProtoMajor != 2 {
		t.Fatalf("this is %s", resp.Proto)
	}
	events := sse.NewReader(resp.Body, 1<<20)
	if _, err := events.Next(); err != nil {
		t.Fatal(err)
	}
	<-time.NewTimer(2 * limit).C // a deadline would have passed
	s.RemoveTools("echo")
	if e, err := events.Next(); err != nil || !strings.Contains(string(e.Data), "list_changed") {
		t.Errorf("got %q, %v", e.Data, err)
	}
}

// Two Content-Types are refused: an intermediary may have gone by the other one.
func TestTwoContentTypes(t *testing.T) {
	ts, _ := start(t, testServer(nil), nil)
	r, err := http.NewRequestWithContext(t.Context(), "POST", ts.URL, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header["Content-Type"] = []string{"application/json", "text/plain"}
	resp, err := ts.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusUnsupportedMediaType {
		t.Errorf("status %d: %s", resp.StatusCode, text(t, resp))
	}
}

// A malformed answer fails the question that it is for, and the refusal does not
// repeat its ID, which the server assigned.
func TestMalformedAnswerFailsItsQuestion(t *testing.T) {
	s := server.New(mcp.Implementation{Name: "t", Version: "1"}, &server.Options{Logger: mcptest.Quiet()})
	server.AddTool(s, mcp.Tool{Name: "ask"}, func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
		_, err := server.Roots(ctx, call)
		return "", err
	})
	ts, _ := start(t, s, nil)
	id := ask(t, ts, "POST", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"roots":{}},"clientInfo":{"name":"t","version":"1"}}}`).Header.Get("Mcp-Session-Id")
	text(t, ask(t, ts, "POST", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, "Mcp-Session-Id", id))
	events := sse.NewReader(ask(t, ts, "POST", call(2, "ask"), "Mcp-Session-Id", id).Body, 1<<20)
	question, err := events.Next()
	if err != nil || !strings.Contains(string(question.Data), `"roots/list"`) {
		t.Fatalf("the server asked %s, %v", question.Data, err)
	}
	const malformed = `{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}}`
	resp := ask(t, ts, "POST", malformed, "Mcp-Session-Id", id)
	if got := text(t, resp); resp.StatusCode != http.StatusBadRequest || strings.Contains(got, `"id"`) {
		t.Errorf("refused with %d %s", resp.StatusCode, got)
	}
	answer, err := events.Next()
	if err != nil || !strings.Contains(string(answer.Data), "the client sent a malformed answer") {
		t.Errorf("the tool returned %s, %v", answer.Data, err)
	}
}
