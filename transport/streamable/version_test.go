package streamable_test

import (
	"strings"
	"testing"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
)

// A server without sessions answers every client by the rules of its revision, and
// says which it speaks.
//
// Spec: 2026-07-28 basic/transports/streamable-http#protocol-version-header.
func TestServerWithoutSessions(t *testing.T) {
	s := server.New(mcp.Implementation{Name: "t", Version: "1"}, &server.Options{
		Logger: mcptest.Quiet(), Revisions: []mcp.Revision{mcp.Revision20260728},
	})
	ts, h := start(t, s, nil)
	const (
		supported = `"supported":["2026-07-28"]`
		list      = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
		hello     = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`
	)
	inBoth := strings.Replace(modern("tools/list", ""), "2026-07-28", "1900-01-01", 1)
	for _, tt := range []struct {
		name, body string
		headers    []string
		status     int
		want       []string
	}{
		{"no version", list, nil, 400, []string{`"code":-32020`, `"id":1`, supported, "MCP-Protocol-Version"}},
		{"no version, a session", list, []string{"Mcp-Session-Id", "x"}, 400, []string{`"code":-32020`, supported}},
		{"version of a session", list, []string{"MCP-Protocol-Version", "2025-11-25"}, 400, []string{`"code":-32022`, supported, `"requested":"2025-11-25"`}},
		{"version and ID of a session", list, []string{"MCP-Protocol-Version", "2025-11-25", "Mcp-Session-Id", "x"}, 400, []string{`"code":-32022`, supported}},
		{"unknown version", list, []string{"MCP-Protocol-Version", "1900-01-01"}, 400, []string{`"code":-32022`, supported, `"requested":"1900-01-01"`}},
		{"unknown version in both", inBoth, []string{"MCP-Protocol-Version", "1900-01-01"}, 400, []string{`"code":-32022`, supported}},
		{"version in the header only", list, []string{"MCP-Protocol-Version", "2026-07-28"}, 400, []string{`"code":-32602`, "protocolVersion"}},
		{"version in the body only", modern("tools/list", ""), nil, 400, []string{`"code":-32020`, "MCP-Protocol-Version"}},
		{"initialize", hello, nil, 400, []string{`"code":-32022`, supported, `"requested":"2025-11-25"`}},
		{"initialize without params", `{"jsonrpc":"2.0","id":1,"method":"initialize"}`, nil, 400, []string{`"code":-32022`, supported}},
		{"initialize with a header", hello, []string{"MCP-Protocol-Version", "2026-07-28"}, 400, []string{`"code":-32022`, supported}},
		{"initialize of this revision", modern("initialize", `"protocolVersion":"2026-07-28"`), []string{"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "initialize"}, 404, []string{`"code":-32601`, supported, "this server speaks 2026-07-28"}},
		{"notification", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, nil, 400, []string{`"code":-32020`, supported}},
		{"response", `{"jsonrpc":"2.0","id":1,"result":{}}`, nil, 400, []string{`"code":-32600`}},
		{"batch", "[" + list + "]", nil, 400, []string{`"code":-32600`}},
	} {
		resp := ask(t, ts, "POST", tt.body, tt.headers...)
		got := text(t, resp)
		if resp.StatusCode != tt.status || resp.Header.Get("Mcp-Session-Id") != "" {
			t.Errorf("%s: %d %v, want %d without a session", tt.name, resp.StatusCode, resp.Header, tt.status)
		}
		for _, want := range tt.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %s lacks %s", tt.name, got, want)
			}
		}
		if strings.Contains(got, "Mcp-Session-Id") {
			t.Errorf("%s: %s speaks of sessions", tt.name, got)
		}
	}
	if n := h.Sessions(); n != 0 {
		t.Errorf("%d sessions", n)
	}
}

// A server of both eras says what a message lacks that belongs to neither.
func TestMessageOfNoEra(t *testing.T) {
	ts, _ := start(t, testServer(nil), nil)
	for _, tt := range []struct{ name, body, want string }{
		{"of both", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, "the first request must be initialize, or every request must have"},
		{"modern by its method", `{"jsonrpc":"2.0","id":1,"method":"server/discover"}`, `"code":-32602`},
		{"modern by its _meta", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/clientCapabilities":{}}}}`, `"code":-32602`},
	} {
		resp := ask(t, ts, "POST", tt.body)
		if got := text(t, resp); resp.StatusCode != 400 || !strings.Contains(got, tt.want) || !strings.Contains(got, `"id":1`) {
			t.Errorf("%s: %d %s, want %s", tt.name, resp.StatusCode, got, tt.want)
		}
	}
	resp := ask(t, ts, "POST", `{"jsonrpc":"2.0","id":1,"result":{}}`)
	if got := text(t, resp); resp.StatusCode != 400 || strings.Contains(got, `"id"`) {
		t.Errorf("a response: %d %s, want no id, which the server would have chosen", resp.StatusCode, got)
	}
}

// A wrong version ends no session.
//
// Spec: 2025-11-25 basic/transports#protocol-version-header.
func TestVersionHeaderOfDelete(t *testing.T) {
	ts, h := start(t, testServer(nil), nil)
	id := open(t, ts, "2025-11-25")
	if resp := ask(t, ts, "DELETE", "", "Mcp-Session-Id", id, "MCP-Protocol-Version", "1999-01-01"); resp.StatusCode != 400 || h.Sessions() != 1 {
		t.Errorf("%d, %d sessions", resp.StatusCode, h.Sessions())
	}
	if resp := ask(t, ts, "DELETE", "", "Mcp-Session-Id", id, "MCP-Protocol-Version", "2025-11-25"); resp.StatusCode != 204 || h.Sessions() != 0 {
		t.Errorf("%d, %d sessions", resp.StatusCode, h.Sessions())
	}
}

// A type with the weight zero is one that the client does not take.
func TestWeightZero(t *testing.T) {
	ts, _ := start(t, testServer(nil), nil)
	body := modern("tools/call", `"name":"echo","arguments":{"text":"hi"}`)
	for accept, want := range map[string]int{
		"application/json;q=0.5, text/event-stream; q=1": 200,
		"application/json, text/event-stream;q=0":        406,
		"application/json;Q=0.000, text/event-stream":    406,
		"*/*;q=0":                    406,
		"*/*;q=0.1":                  200,
		"application/json;q=0, */*":  406,
		"application/json; q=x, */*": 200,
	} {
		resp := ask(t, ts, "POST", body, "Accept", accept, "MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "echo")
		if resp.StatusCode != want {
			t.Errorf("Accept: %s: %d, want %d", accept, resp.StatusCode, want)
		}
	}
}
