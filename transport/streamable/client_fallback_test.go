package streamable

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// older serves HTTP+SSE at a URL that refuses POST, and accepts messages at
// /messages.
type older struct {
	status   int
	refusal  string // what it says with it
	endpoint string
	out      chan string // what the event stream says
	got      chan *posted
}

func (o *older) serve(p *posted) {
	switch {
	case p.Request.Method == http.MethodGet:
		p.events("event: endpoint\ndata: " + o.endpoint + "\n\n")
		for {
			select {
			case s := <-o.out:
				if s == "" {
					return
				}
				p.events("event: message\n" + s)
			case <-p.Context().Done():
				return
			}
		}
	case p.URL.Path == "/mcp":
		http.Error(p.w, o.refusal, o.status)
	default:
		p.w.WriteHeader(202)
		o.got <- p // before the answer, which lets the client send its next message
		if p.Method == mcp.MethodInitialize {
			o.out <- p.answer(initResult)
		} else if p.ID != nil && p.Method != "" {
			o.out <- p.answer(`{"to":` + fmt.Sprintf("%q", p.URL.RequestURI()) + `}`)
		}
	}
}

func newOlder(t *testing.T, status int) (*older, *httptest.Server) {
	o := &older{status: status, refusal: "Cannot POST", endpoint: "/messages?s=1", out: make(chan string, 10), got: make(chan *posted, 10)}
	return o, scripted(t, o.serve)
}

// With a server that has only HTTP+SSE, the client switches to it for good.
func TestFallback(t *testing.T) {
	for _, status := range []int{400, 404, 405, 403, 406, 410, 415, 422} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			o, s := newOlder(t, status)
			if status != 404 { // that could mean a lost session
				o.refusal = `{"jsonrpc":"2.0","id":2,"error":{"code":-32600,"message":"Cannot POST"}}`
			}
			e := newEar()
			conn := dial(t, s, Client{Header: http.Header{"Authorization": {"Bearer x"}}}, e)
			if m, err := conn.RoundTrip(t.Context(), modern(1, mcp.MethodDiscover, "")); err == nil && m.Error == nil {
				t.Fatal("discovered")
			}
			handshake(t, conn)
			if got := outcome(conn.RoundTrip(t.Context(), request(3, "ping", ""))); got != `{"to":"/messages?s=1"}` {
				t.Errorf("got %s", got)
			}
			for _, want := range []string{mcp.MethodInitialize, mcp.NoteInitialized, "ping"} {
				p := within(t, want, o.got)
				if p.Method != want || p.Header.Get("Authorization") != "Bearer x" {
					t.Errorf("%s came with %v, want %s", p.Method, p.Header, want)
				}
			}
			o.out <- note(4)
			if m := within(t, "notification", e.notes); string(m.Params) != `{"n":4}` {
				t.Errorf("notified of %s", m.Params)
			}
			o.out <- "" // the end of the stream
			within(t, "Done", conn.Done())
			if !errors.Is(conn.Err(), jsonrpc.ErrClosed) {
				t.Errorf("Err = %v", conn.Err())
			}
			if _, err := conn.RoundTrip(t.Context(), request(4, "ping", "")); !errors.Is(err, jsonrpc.ErrClosed) {
				t.Errorf("afterwards: %v", err)
			}
		})
	}
}

func TestFallbackIsNotTried(t *testing.T) {
	tests := map[string]struct {
		client Client
		answer func(p *posted)
		want   string
	}{
		"not wanted":   {Client{NoSSEFallback: true}, func(p *posted) { p.w.WriteHeader(405) }, "405"},
		"unauthorized": {Client{}, func(p *posted) { p.w.WriteHeader(401) }, "401"},
		"broken":       {Client{}, func(p *posted) { p.w.WriteHeader(500) }, "500"},
		"too many":     {Client{}, func(p *posted) { p.w.WriteHeader(429) }, "429"},
		"modern":       {Client{}, func(p *posted) { p.object(400, `"error":{"code":-32022,"message":"no"}`) }, "-32022 no"},
		"not found":    {Client{}, func(p *posted) { p.object(200, `"error":{"code":-32601,"message":"no"}`) }, "-32601 no"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := scripted(t, func(p *posted) {
				if p.Request.Method != http.MethodPost {
					t.Errorf("the client sent %s", p.Request.Method)
				}
				tt.answer(p)
			})
			conn := dial(t, s, tt.client, newEar())
			if got := outcome(conn.RoundTrip(t.Context(), request(1, mcp.MethodInitialize, `{}`))); !strings.Contains(got, tt.want) {
				t.Errorf("got %s", got)
			}
		})
	}
}

// A refusal in the form of a message is the outcome if HTTP+SSE fails, and that is
// tried only once for each connection.
func TestFallbackIsTriedOnce(t *testing.T) {
	var gets atomic.Int64
	s := scripted(t, func(p *posted) {
		if p.Request.Method == http.MethodGet {
			gets.Add(1)
			p.w.WriteHeader(405)
			return
		}
		p.object(400, `"error":{"code":-32602,"message":"no"}`)
	})
	conn := dial(t, s, Client{}, newEar())
	for id := range int64(2) {
		if got := outcome(conn.RoundTrip(t.Context(), request(id+1, mcp.MethodInitialize, `{}`))); !strings.Contains(got, "-32602 no") {
			t.Errorf("got %s", got)
		}
	}
	if gets.Load() != 1 {
		t.Errorf("%d attempts, want 1", gets.Load())
	}
}

// A server that does not speak HTTP+SSE either is an error that names the first
// refusal, and leaves nothing behind.
func TestFallbackFails(t *testing.T) {
	tests := map[string]struct {
		get  func(p *posted)
		want string
	}{
		"also refused":  {func(p *posted) { p.w.WriteHeader(405) }, "405"},
		"html":          {func(p *posted) { p.w.Header().Set("Content-Type", "text/html") }, "not an event stream"},
		"other event":   {func(p *posted) { p.events(note(1)) }, "not an HTTP+SSE server"},
		"no event":      {func(p *posted) { p.events(": x\n\n") }, "before it named an endpoint"},
		"other origin":  {func(p *posted) { p.events("event: endpoint\ndata: http://evil.example/messages\n\n") }, "another origin"},
		"other scheme":  {func(p *posted) { p.events("event: endpoint\ndata: file:///etc/passwd\n\n") }, "another origin"},
		"bad reference": {func(p *posted) { p.events("event: endpoint\ndata: http://%zz/\n\n") }, "malformed endpoint"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := scripted(t, func(p *posted) {
				if p.Request.Method == http.MethodGet {
					tt.get(p)
					return
				}
				http.Error(p.w, "Cannot POST", 404)
			})
			conn := dial(t, s, Client{}, newEar())
			_, err := conn.RoundTrip(t.Context(), request(1, mcp.MethodInitialize, `{}`))
			var refused *HTTPError
			if !errors.As(err, &refused) || refused.Status != 404 || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error = %v, want %q", err, tt.want)
			}
		})
	}
}

// Questions of the server are answered at the endpoint.
func TestFallbackQuestion(t *testing.T) {
	o, s := newOlder(t, 405)
	e := newEar()
	e.request = func(context.Context, *jsonrpc.Message) (any, *jsonrpc.Error) {
		return json.RawMessage(`{"roots":[]}`), nil
	}
	conn := dial(t, s, Client{}, e)
	handshake(t, conn)
	within(t, "initialize", o.got)
	within(t, "initialized", o.got)
	o.out <- "data: {\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"roots/list\"}\n\n"
	if p := within(t, "the answer", o.got); string(p.ID) != `"q"` || string(p.Result) != `{"roots":[]}` || p.Header.Get("MCP-Protocol-Version") != "2025-11-25" {
		t.Errorf("answered %s %s", p.ID, p.Result)
	}
}
