package soak_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/transport/streamable"
)

// jump makes time pass at once, as after a machine was asleep.
func jump(d time.Duration) {
	timer := time.NewTimer(d)
	<-timer.C
	synctest.Wait()
}

// asking has a tool that asks, and one that never returns on its own.
func asking() *server.Server {
	s := server.New(mcp.Implementation{Name: "clock", Version: "1"}, &server.Options{Logger: mcptest.Quiet()})
	server.AddTool(s, mcp.Tool{Name: "ask"}, func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
		in, err := server.Elicit[tellOut](ctx, call, "tag", "Which tag?")
		return in.Tag, err
	})
	server.AddTool(s, mcp.Tool{Name: "wait"}, func(ctx context.Context, _ *server.Call, _ struct{}) (string, error) {
		<-ctx.Done()
		return "", context.Cause(ctx)
	})
	server.AddTool(s, mcp.Tool{Name: "echo"}, func(_ context.Context, _ *server.Call, in tellOut) (string, error) { return in.Tag, nil })
	return s
}

// post sends a message to a handler, without a network.
func post(h http.Handler, session, method, name, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(context.Background(), http.MethodPost, "http://127.0.0.1/", strings.NewReader(body))
	r.RemoteAddr = "127.0.0.1:1"
	r.Header.Set("Content-Type", "application/json")
	if session != "" {
		r.Header.Set("Mcp-Session-Id", session)
	}
	if method != "" {
		r.Header.Set("MCP-Protocol-Version", "2026-07-28")
		r.Header.Set("Mcp-Method", method)
		r.Header.Set("Mcp-Name", name)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

const opening = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`

// Sessions that were idle while the clock jumped have ended, and so have their
// questions; new ones can be opened.
func TestClockJumpsOverSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, err := streamable.New(asking(), &streamable.Options{ServeOptions: mcp.ServeOptions{Logger: mcptest.Quiet()}})
		if err != nil {
			t.Fatal(err)
		}
		ping := `{"jsonrpc":"2.0","id":2,"method":"ping"}`
		id := post(h, "", "", "", opening).Header().Get("Mcp-Session-Id")
		jump(29 * time.Minute)
		if w := post(h, id, "", "", ping); w.Code != http.StatusOK {
			t.Errorf("after 29 minutes: %d %s", w.Code, w.Body)
		}
		jump(30 * 24 * time.Hour)
		if w := post(h, id, "", "", ping); w.Code != http.StatusNotFound {
			t.Errorf("after a month: %d %s", w.Code, w.Body)
		}
		if n := h.Sessions(); n != 0 {
			t.Errorf("%d sessions are left", n)
		}
		id = post(h, "", "", "", opening).Header().Get("Mcp-Session-Id")
		if w := post(h, id, "", "", ping); w.Code != http.StatusOK {
			t.Errorf("a new session: %d %s", w.Code, w.Body)
		}
		if err := h.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

// The state of an exchange that waited for its user while the clock jumped is
// refused, and the exchange can be started again.
func TestClockJumpsOverQuestions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, err := streamable.New(asking(), &streamable.Options{ServeOptions: mcp.ServeOptions{Logger: mcptest.Quiet()}})
		if err != nil {
			t.Fatal(err)
		}
		params := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}},"name":"ask","arguments":{}`
		ask := func(more string) (state, text string) {
			w := post(h, "", "tools/call", "ask", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{`+params+more+`}}`)
			var m struct {
				Result struct {
					State string `json:"requestState"`
				} `json:"result"`
			}
			if err := json.Unmarshal(w.Body.Bytes(), &m); err != nil {
				t.Fatalf("%v: %s", err, w.Body)
			}
			return m.Result.State, w.Body.String()
		}
		answer := func(state string) string {
			_, text := ask(`,"requestState":"` + state + `","inputResponses":{"tag":{"action":"accept","content":{"tag":"here"}}}`)
			return text
		}
		state, _ := ask("")
		jump(14 * time.Minute)
		if got := answer(state); !strings.Contains(got, "here") {
			t.Errorf("in time: %s", got)
		}
		jump(24 * time.Hour)
		if got := answer(state); !strings.Contains(got, "-32602") {
			t.Errorf("too late: %s", got)
		}
		state, _ = ask("")
		if got := answer(state); !strings.Contains(got, "here") {
			t.Errorf("anew: %s", got)
		}
		if err := h.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

// A call that was under way while the clock jumped has timed out; the
// connection still works.
func TestClockJumpsOverCalls(t *testing.T) {
	for _, revision := range []mcp.Revision{mcp.Revision20251125, mcp.Revision20260728} {
		synctest.Test(t, func(t *testing.T) {
			transport := &mcptest.Transport{Handler: asking(), Serve: &mcp.ServeOptions{Logger: mcptest.Quiet()}, Over: mcptest.Lines}
			c, err := client.Connect(t.Context(), transport, &client.Options{Revisions: []mcp.Revision{revision}, Logger: mcptest.Quiet(), KeepAlive: time.Minute})
			if err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { // ends when the call has timed out
				_, err := client.Call[string](t.Context(), c, "wait", nil)
				ended <- err
			}()
			synctest.Wait()
			jump(24 * time.Hour)
			if err := <-ended; !errors.Is(err, client.ErrTimeout) {
				t.Errorf("%s: the call ended with %v", revision, err)
			}
			if got, err := client.Call[string](t.Context(), c, "echo", tellOut{"fine"}); err != nil || got != "fine" {
				t.Errorf("%s: after the jump: %q, %v", revision, got, err)
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
			transport.Wait()
		})
	}
}
