package streamable_test

import (
	"net/http"
	"testing"

	"github.com/parley-mcp/parley/internal/sse"
)

// Clients of the official Java SDK before 2.0.1, and what builds on them, drop an
// event with a message whose type is not named, although the format's default is
// "message". An event that carries nothing must not claim to be a message.
func TestEventsWithMessagesNameTheirType(t *testing.T) {
	s := testServer(nil)
	ts, _ := start(t, s, nil)
	session := []string{"Mcp-Session-Id", open(t, ts, "2025-11-25")}
	stateless := []string{"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "count"}
	standing := ask(t, ts, "GET", "", session...)
	s.RemoveTools("echo")
	for name, tt := range map[string]struct {
		resp     *http.Response
		messages int
	}{
		"a session's answer":       {ask(t, ts, "POST", countTo2, session...), 3},
		"a stateless answer":       {ask(t, ts, "POST", modern("tools/call", `"name":"count","arguments":{"to":2}`), stateless...), 3},
		"a session's own messages": {standing, 1},
	} {
		t.Run(name, func(t *testing.T) {
			events := sse.NewReader(tt.resp.Body, 1<<20)
			for messages := 0; messages < tt.messages; {
				e, err := events.Next()
				if err != nil {
					t.Fatal(err)
				}
				want := ""
				if len(e.Data) > 0 {
					messages++
					want = "message"
				}
				if e.Name != want {
					t.Errorf("the type is %q, want %q, of the event with the data %q", e.Name, want, e.Data)
				}
			}
		})
	}
}

const countTo2 = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"count","arguments":{"to":2},"_meta":{"progressToken":"p"}}}`
