package streamable_test

import (
	"net/http"
	"testing"

	"github.com/parley-mcp/parley/transport/streamable"
)

const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`

// A client that opens more and more sessions pushes out its own, and those first that
// it never used. It locks nobody out.
func TestSessionsOfOneClient(t *testing.T) {
	ts, h := start(t, testServer(nil), &streamable.Options{
		MaxSessions: 4, MaxSessionsPerClient: 3, TrustedProxies: []string{"127.0.0.0/8"},
	})
	initialize := func(client string) (status int, id string) {
		resp := ask(t, ts, "POST", hello, "X-Forwarded-For", client)
		return resp.StatusCode, resp.Header.Get("Mcp-Session-Id")
	}
	ping := func(id string) int {
		return ask(t, ts, "POST", `{"jsonrpc":"2.0","id":2,"method":"ping"}`, "Mcp-Session-Id", id).StatusCode
	}
	const greedy, other = "192.0.2.1", "192.0.2.2"
	_, used := initialize(greedy)
	if got := ping(used); got != http.StatusOK {
		t.Fatalf("ping: %d", got)
	}
	_, first := initialize(greedy)
	var last string
	for range 50 {
		status, id := initialize(greedy)
		if status != http.StatusOK {
			t.Fatalf("initialize: %d", status)
		}
		last = id
	}
	if n := h.Sessions(); n != 3 {
		t.Errorf("%d sessions, want 3", n)
	}
	if got := ping(first); got != http.StatusNotFound {
		t.Errorf("the oldest unused session: %d, want 404", got)
	}
	for _, id := range []string{used, last} {
		if got := ping(id); got != http.StatusOK {
			t.Errorf("a session that is used: %d", got)
		}
	}
	for range 2 { // the second takes the place of the one that is still unused
		if status, id := initialize(other); status != http.StatusOK || ping(id) != http.StatusOK {
			t.Errorf("another client is locked out: %d", status)
		}
	}
	resp := ask(t, ts, "POST", hello, "X-Forwarded-For", other)
	if resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") == "" || resp.Header.Get("Mcp-Session-Id") != "" {
		t.Errorf("when all are in use: %d %v", resp.StatusCode, resp.Header)
	}
	if ask(t, ts, "DELETE", "", "Mcp-Session-Id", used); h.Sessions() != 3 {
		t.Errorf("%d sessions after DELETE", h.Sessions())
	}
	if status, _ := initialize(other); status != http.StatusOK {
		t.Errorf("after a session ended: %d", status)
	}
}
