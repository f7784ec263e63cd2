package sse

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// peer is a scripted server: what is sent to say goes out on the event stream, and
// "" ends it.
type peer struct {
	*httptest.Server
	say chan string
}

func newPeer(t *testing.T, endpoint string, post func(p *peer, w http.ResponseWriter, r *http.Request, body string)) *peer {
	t.Helper()
	current := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, current) })
	p := &peer{say: make(chan string, 10)}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			body, err := io.ReadAll(r.Body)
			if err == nil {
				post(p, w, r, string(body))
			}
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		if endpoint != "" {
			fmt.Fprintf(w, "event: endpoint\ndata: %s\n\n", endpoint)
		}
		w.(http.Flusher).Flush()
		p.speak(w, r)
	}))
	t.Cleanup(p.Close)
	return p
}

func (p *peer) speak(w http.ResponseWriter, r *http.Request) {
	for {
		select {
		case s := <-p.say:
			if s == "" {
				return
			}
			fmt.Fprintf(w, "event: message\ndata: %s\n\n", s)
			w.(http.Flusher).Flush()
		case <-r.Context().Done():
			return
		}
	}
}

func (p *peer) dial(t *testing.T, c Client, r mcp.Receiver) mcp.Conn {
	t.Helper()
	c.URL = p.URL + "/sse"
	conn, err := c.Connect(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := conn.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return conn
}

type ear struct {
	notes chan string
}

func (e *ear) Notification(_ context.Context, m *jsonrpc.Message) { e.notes <- m.Method }

func (e *ear) Request(context.Context, *jsonrpc.Message) (any, *jsonrpc.Error) {
	return json.RawMessage(`{"roots":[]}`), nil
}

func newEar() *ear { return &ear{make(chan string, 10)} }

func request(id int64, method string) *jsonrpc.Message {
	return &jsonrpc.Message{Kind: jsonrpc.Request, ID: jsonrpc.IntID(id), Method: method}
}

func within[T any](t *testing.T, what string, ch <-chan T) (v T) {
	t.Helper()
	timer := time.NewTimer(2 * time.Minute)
	defer timer.Stop()
	select {
	case v = <-ch:
	case <-timer.C:
		t.Fatalf("%s did not come", what)
	}
	return v
}

func TestClientConversation(t *testing.T) {
	bodies := make(chan string, 10)
	p := newPeer(t, "messages?id=1", func(p *peer, w http.ResponseWriter, r *http.Request, body string) {
		if r.URL.RequestURI() != "/messages?id=1" || r.Header.Get("X-Key") != "k" || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("posted to %s with %v", r.URL, r.Header)
		}
		switch {
		case strings.Contains(body, `"initialize"`):
			p.say <- `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18"}}`
		case strings.Contains(body, `"ping"`):
			if v := r.Header.Get("MCP-Protocol-Version"); v != "2025-06-18" {
				t.Errorf("the version is %q", v)
			}
			p.say <- `{"jsonrpc":"2.0","method":"notifications/x"}`
			p.say <- `{"jsonrpc":"2.0","id":"q","method":"roots/list"}`
			p.say <- `{"jsonrpc":"2.0","id":2,"result":{"a":1}}`
		}
		w.WriteHeader(202)
		bodies <- body
	})
	e := newEar()
	conn := p.dial(t, Client{Header: http.Header{"X-Key": {"k"}}}, e)
	if m, err := conn.RoundTrip(t.Context(), request(1, mcp.MethodInitialize)); err != nil || m.Error != nil {
		t.Fatal(m, err)
	}
	within(t, "initialize", bodies)
	m, err := conn.RoundTrip(t.Context(), request(2, "ping"))
	if err != nil || string(m.Result) != `{"a":1}` {
		t.Errorf("got %+v, %v", m, err)
	}
	if n := within(t, "notification", e.notes); n != "notifications/x" {
		t.Errorf("notified of %s", n)
	}
	got := within(t, "body", bodies) + within(t, "body", bodies)
	if !strings.Contains(got, `{"jsonrpc":"2.0","id":"q","result":{"roots":[]}}`) {
		t.Errorf("posted %s", got)
	}
	if err := conn.Send(t.Context(), &jsonrpc.Message{Kind: jsonrpc.Notification, Method: "notifications/y"}); err != nil {
		t.Error(err)
	}
	if b := within(t, "notification", bodies); b != `{"jsonrpc":"2.0","method":"notifications/y"}` {
		t.Errorf("posted %s", b)
	}
}

func TestRefusedMessage(t *testing.T) {
	p := newPeer(t, "/m", func(_ *peer, w http.ResponseWriter, _ *http.Request, _ string) {
		w.Header().Set("WWW-Authenticate", "Bearer")
		http.Error(w, "who are you?", http.StatusUnauthorized)
	})
	conn := p.dial(t, Client{}, newEar())
	_, err := conn.RoundTrip(t.Context(), request(1, "ping"))
	var refused *HTTPError
	if !errors.As(err, &refused) || refused.Status != 401 || refused.Header.Get("WWW-Authenticate") != "Bearer" || !strings.Contains(err.Error(), "who are you?") {
		t.Errorf("error = %v", err)
	}
	if conn.Err() != nil {
		t.Errorf("Err = %v", conn.Err())
	}
}

// A server that does not accept a message does not hold up the caller.
func TestHungPost(t *testing.T) {
	p := newPeer(t, "/m", func(_ *peer, _ http.ResponseWriter, r *http.Request, _ string) { <-r.Context().Done() })
	conn := p.dial(t, Client{PostTimeout: time.Minute}, newEar())
	why := errors.New("enough")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 30*time.Millisecond, why)
	defer cancel()
	if _, err := conn.RoundTrip(ctx, request(1, "ping")); !errors.Is(err, why) {
		t.Errorf("error = %v", err)
	}
	if err := conn.Send(ctx, &jsonrpc.Message{Kind: jsonrpc.Notification, Method: "x"}); !errors.Is(err, why) {
		t.Errorf("error = %v", err)
	}
}

// An answer counts even if it comes before the POST of its request was accepted,
// and a POST that is stuck holds up no other message.
func TestAnswerBeforeItsPostIsAccepted(t *testing.T) {
	p := newPeer(t, "/m", func(p *peer, w http.ResponseWriter, r *http.Request, body string) {
		switch {
		case strings.Contains(body, `"slow"`):
			p.say <- `{"jsonrpc":"2.0","id":1,"result":{}}`
			<-r.Context().Done()
		case strings.Contains(body, `"stuck"`):
			<-r.Context().Done()
		case strings.Contains(body, `"ping"`):
			p.say <- `{"jsonrpc":"2.0","id":3,"result":{}}`
			w.WriteHeader(202)
		}
	})
	conn := p.dial(t, Client{PostTimeout: time.Minute}, newEar())
	if _, err := conn.RoundTrip(t.Context(), request(1, "slow")); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if _, err := conn.RoundTrip(ctx, request(2, "stuck")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error = %v", err)
	}
	if _, err := conn.RoundTrip(t.Context(), request(3, "ping")); err != nil || conn.Err() != nil {
		t.Errorf("error = %v, Err = %v", err, conn.Err())
	}
}

func TestPostTimeout(t *testing.T) {
	p := newPeer(t, "/m", func(_ *peer, _ http.ResponseWriter, r *http.Request, _ string) { <-r.Context().Done() })
	conn := p.dial(t, Client{PostTimeout: 20 * time.Millisecond}, newEar())
	if _, err := conn.RoundTrip(t.Context(), request(1, "ping")); err == nil || !strings.Contains(err.Error(), "in time") {
		t.Errorf("error = %v", err)
	}
}

func TestEndOfStream(t *testing.T) {
	p := newPeer(t, "/m", func(p *peer, w http.ResponseWriter, _ *http.Request, _ string) {
		w.WriteHeader(202)
		p.say <- ""
	})
	conn := p.dial(t, Client{}, newEar())
	if _, err := conn.RoundTrip(t.Context(), request(1, "ping")); !errors.Is(err, jsonrpc.ErrClosed) || !strings.Contains(err.Error(), p.URL) {
		t.Errorf("error = %v", err)
	}
	within(t, "Done", conn.Done())
	if !errors.Is(conn.Err(), jsonrpc.ErrClosed) {
		t.Errorf("Err = %v", conn.Err())
	}
}

func TestTooLongMessage(t *testing.T) {
	p := newPeer(t, "/m", func(p *peer, w http.ResponseWriter, _ *http.Request, _ string) {
		w.WriteHeader(202)
		p.say <- `{"jsonrpc":"2.0","id":1,"result":"` + strings.Repeat("x", 9000) + `"}`
	})
	conn := p.dial(t, Client{MaxMessageBytes: 4096}, newEar())
	if _, err := conn.RoundTrip(t.Context(), request(1, "ping")); err == nil || !strings.Contains(err.Error(), "too long") {
		t.Errorf("error = %v", err)
	}
}

// Connect gives up a server that does not name its endpoint within the timeout, or
// before ctx ends.
func TestNoEndpoint(t *testing.T) {
	p := newPeer(t, "", nil)
	if _, err := (&Client{URL: p.URL, ConnectTimeout: 20 * time.Millisecond}).Connect(t.Context(), newEar()); !errors.Is(err, errNoEndpoint) {
		t.Errorf("error = %v", err)
	}
	why := errors.New("enough")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 20*time.Millisecond, why)
	defer cancel()
	if _, err := (&Client{URL: p.URL}).Connect(ctx, newEar()); !errors.Is(err, why) {
		t.Errorf("error = %v", err)
	}
}

func TestEndpoints(t *testing.T) {
	tests := map[string]bool{
		"/m": true, "m?x=1": true, "?x=1": true, "//other.example/m": false,
		"http://other.example/m": false, "file:///m": false, "http://%zz": false,
	}
	for endpoint, ok := range tests {
		p := newPeer(t, endpoint, nil)
		conn, err := (&Client{URL: p.URL + "/sse"}).Connect(t.Context(), newEar())
		if (err == nil) != ok {
			t.Errorf("%s: %v", endpoint, err)
		}
		if conn != nil {
			_ = conn.Close() // nothing was sent
		}
	}
}

func TestRedirectElsewhere(t *testing.T) {
	p := newPeer(t, "/m", nil)
	q := httptest.NewServer(http.RedirectHandler(p.URL+"/sse", http.StatusTemporaryRedirect))
	defer q.Close()
	if _, err := (&Client{URL: q.URL}).Connect(t.Context(), newEar()); err == nil || !strings.Contains(err.Error(), "another origin") {
		t.Errorf("error = %v", err)
	}
	same := httptest.NewServer(http.RedirectHandler("/x", http.StatusFound))
	defer same.Close()
	if _, err := (&Client{URL: same.URL}).Connect(t.Context(), newEar()); err == nil || !strings.Contains(err.Error(), "does not keep the request") {
		t.Errorf("error = %v", err)
	}
}

func TestBadURL(t *testing.T) {
	for _, u := range []string{"", "sse", "ftp://a/", "http://"} {
		if _, err := (&Client{URL: u}).Connect(t.Context(), newEar()); err == nil {
			t.Errorf("%q was accepted", u)
		}
	}
}

func TestCloseEndsCalls(t *testing.T) {
	began := make(chan struct{})
	p := newPeer(t, "/m", func(_ *peer, w http.ResponseWriter, _ *http.Request, _ string) { w.WriteHeader(202); close(began) })
	conn := p.dial(t, Client{}, newEar())
	failed := make(chan error, 1)
	go func() { // ends with the connection
		_, err := conn.RoundTrip(context.Background(), request(1, "ping"))
		failed <- err
	}()
	within(t, "the request", began)
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
	if err := within(t, "the failure", failed); !errors.Is(err, jsonrpc.ErrClosed) {
		t.Errorf("error = %v", err)
	}
	if _, err := conn.RoundTrip(t.Context(), request(2, "ping")); !errors.Is(err, jsonrpc.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

// The only call in flight fails at once when the server does not take the answer to
// its question; which of several has asked is not known.
func TestCallEndsWhenItsAnswerIsRefused(t *testing.T) {
	p := newPeer(t, "/messages", func(p *peer, w http.ResponseWriter, _ *http.Request, body string) {
		switch {
		case strings.Contains(body, "tools/call"):
			w.WriteHeader(http.StatusAccepted)
			p.say <- `{"jsonrpc":"2.0","id":"q","method":"roots/list"}`
		case strings.Contains(body, "roots"):
			http.Error(w, "I do not know that", http.StatusBadRequest)
		}
	})
	conn := p.dial(t, Client{}, newEar())
	_, err := conn.RoundTrip(t.Context(), request(1, "tools/call"))
	if err == nil || !strings.Contains(err.Error(), "did not take the answer to its question") || !strings.Contains(err.Error(), "I do not know that") {
		t.Errorf("error = %v, want the refusal of the answer", err)
	}
}
