package streamable

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// A 404 means that the session is over: this call was refused, calls in flight may
// have been processed, and nothing more can be sent.
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

// What other servers answer instead of 404, and answers that only look like it.
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

// Close waits for a server that does not answer, but no longer than CloseTimeout:
// without it, this test would not end.
func TestCloseIsBounded(t *testing.T) {
	s := scripted(t, sessionScript(func(p *posted) { <-p.Context().Done() }, nil))
	conn := dial(t, s, Client{CloseTimeout: 20 * time.Millisecond}, newEar())
	handshake(t, conn)
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
}
