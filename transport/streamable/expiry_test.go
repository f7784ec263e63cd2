package streamable_test

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/transport/streamable"
)

// A stream that a client only listens to ends cleanly when the token that opened it
// expires; sessions and calls go on.
func TestStreamsEndWithTheAuthorization(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		h, err := streamable.New(testServer(gate), &streamable.Options{ServeOptions: mcp.ServeOptions{Logger: mcptest.Quiet()}, KeepAlive: -1, SessionIdle: -1})
		if err != nil {
			t.Fatal(err)
		}
		life := func(d time.Duration) *mcp.Authorization {
			return &mcp.Authorization{Issuer: "i", Subject: "ann", Expires: time.Now().Add(d)}
		}
		send := func(a *mcp.Authorization, method, body string, headers ...string) *httptest.ResponseRecorder {
			r := httptest.NewRequestWithContext(mcp.WithAuthorization(t.Context(), a), method, "http://localhost/mcp", strings.NewReader(body))
			r.Header.Set("Content-Type", "application/json")
			for i := 0; i+1 < len(headers); i += 2 {
				r.Header.Set(headers[i], headers[i+1])
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			return w
		}
		id := send(life(time.Minute), "POST", initialize).Header().Get("Mcp-Session-Id")

		begin := time.Now()
		w := send(life(time.Hour), "GET", "", "Mcp-Session-Id", id)
		if took := time.Since(begin); w.Code != 200 || took != time.Hour {
			t.Errorf("GET: %d after %v", w.Code, took)
		}
		begin = time.Now()
		w = send(life(time.Hour), "POST", modern("subscriptions/listen", `"notifications":{"toolsListChanged":true}`),
			"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "subscriptions/listen")
		got := w.Body.String()
		if took := time.Since(begin); took != time.Hour {
			t.Errorf("listen ended after %v", took)
		}
		for _, want := range []string{"subscriptions/acknowledged", "notifications/cancelled", "the authorization has expired", `"result":`} {
			if !strings.Contains(got, want) {
				t.Errorf("listen: no %s in %s", want, got)
			}
		}

		done := make(chan string, 2)
		go func() {
			done <- send(life(time.Minute), "POST", call(3, "wait"), "Mcp-Session-Id", id).Body.String()
		}()
		go func() {
			done <- send(life(time.Minute), "POST", modern("tools/call", `"name":"wait","arguments":{}`),
				"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "wait").Body.String()
		}()
		<-time.NewTimer(time.Hour).C
		close(gate)
		for range 2 {
			if got := <-done; !strings.Contains(got, "waited") {
				t.Errorf("a call that took longer than the token: %s", got)
			}
		}
		if err := h.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
