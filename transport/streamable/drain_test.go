package streamable_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/internal/sse"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/transport/streamable"
)

// asModern are the headers of a stateless request.
func asModern(method, name string) []string {
	return []string{"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", method, "Mcp-Name", name}
}

var errImpatient = errors.New("enough")

// drainBegins begins to drain a handler that has a call in flight.
func drainBegins(t *testing.T, h *streamable.Handler) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errImpatient)
	if err := h.Drain(ctx); !errors.Is(err, errImpatient) {
		t.Errorf("Drain: %v, want %v, as there is a call in flight", err, errImpatient)
	}
}

// While a handler drains, what was begun goes on, and nothing else begins.
func TestDrain(t *testing.T) {
	for version, send := range map[string]func(id string) (body string, headers []string){
		"2026-07-28": func(string) (string, []string) {
			return modern("tools/call", `"name":"ignore"`), asModern("tools/call", "ignore")
		},
		"2025-11-25": func(id string) (string, []string) { return call(2, "ignore"), []string{"Mcp-Session-Id", id} },
		"2025-03-26": func(id string) (string, []string) {
			return "[" + call(2, "ignore") + "]", []string{"Mcp-Session-Id", id}
		},
	} {
		t.Run(version, func(t *testing.T) {
			started, gate := make(chan struct{}), make(chan struct{})
			ts, h := start(t, stubborn(started, gate), nil)
			id, old := open(t, ts, "2025-11-25"), open(t, ts, "2025-03-26")
			mine := map[string]string{"2025-11-25": id, "2025-03-26": old}[version]
			answered := make(chan string, 1)
			go func() { // ends with the call
				body, headers := send(mine)
				answered <- text(t, ask(t, ts, "POST", body, headers...))
			}()
			<-started
			drainBegins(t, h)
			for what, resp := range map[string]*http.Response{
				"a stateless call":  ask(t, ts, "POST", modern("tools/call", `"name":"ignore"`), asModern("tools/call", "ignore")...),
				"a subscription":    ask(t, ts, "POST", modern("subscriptions/listen", `"notifications":{}`), asModern("subscriptions/listen", "")...),
				"a session":         ask(t, ts, "POST", hello),
				"a session's call":  ask(t, ts, "POST", call(3, "ignore"), "Mcp-Session-Id", id),
				"a session's batch": ask(t, ts, "POST", "["+call(3, "ignore")+"]", "Mcp-Session-Id", old),
			} {
				if got := text(t, resp); resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") == "" || !strings.Contains(got, "shutting down") {
					t.Errorf("%s: %s %v %s", what, resp.Status, resp.Header, got)
				}
			}
			const note = `{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`
			for what, resp := range map[string]*http.Response{
				"a notification":       ask(t, ts, "POST", note, "Mcp-Session-Id", id),
				"a batch without call": ask(t, ts, "POST", "["+note+"]", "Mcp-Session-Id", old),
			} {
				if resp.StatusCode != http.StatusAccepted {
					t.Errorf("%s: %s %s", what, resp.Status, text(t, resp))
				}
			}
			close(gate)
			if err := h.Drain(t.Context()); err != nil {
				t.Errorf("Drain: %v", err)
			}
			if got := <-answered; !strings.Contains(got, `"done"`) {
				t.Errorf("the call that was in flight: %s", got)
			}
		})
	}
}

// Streams that have no end of their own do not hold up a drain, and end with Close.
func TestDrainWaitsForNoStream(t *testing.T) {
	ts, h := start(t, testServer(nil), nil)
	get := ask(t, ts, "GET", "", "Mcp-Session-Id", open(t, ts, "2025-11-25"))
	listen := ask(t, ts, "POST", modern("subscriptions/listen", `"notifications":{"toolsListChanged":true}`), asModern("subscriptions/listen", "")...)
	events := sse.NewReader(listen.Body, 1<<20)
	if e, err := events.Next(); err != nil || !strings.Contains(string(e.Data), "acknowledged") {
		t.Fatalf("the subscription begins with %q, %v", e.Data, err)
	}
	if err := h.Drain(t.Context()); err != nil {
		t.Errorf("Drain: %v", err)
	}
	if err := h.Close(t.Context()); err != nil {
		t.Errorf("Close: %v", err)
	}
	_ = text(t, get) // ends
	if got := text(t, listen); !strings.Contains(got, `"resultType":"complete"`) {
		t.Errorf("the subscription ends with %q", got)
	}
}

// A call that waits for its client's answer gets it while the handler drains.
func TestDrainLetsAnswersIn(t *testing.T) {
	srv := server.New(mcp.Implementation{Name: "t", Version: "1"}, &server.Options{Logger: mcptest.Quiet()})
	type name struct {
		Name string `json:"name"`
	}
	server.AddTool(srv, mcp.Tool{Name: "greet"}, func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
		who, err := server.Elicit[name](ctx, call, "who", "Who?")
		if err != nil {
			return "", err
		}
		return "Hello, " + who.Name, nil
	})
	ts, h := start(t, srv, nil)
	c, err := client.Connect(t.Context(), &streamable.Client{URL: ts.URL}, &client.Options{
		Revisions: []mcp.Revision{mcp.Revision20251125}, Logger: mcptest.Quiet(),
		Elicit: func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			drainBegins(t, h)
			return &mcp.ElicitResult{Action: mcp.ActionAccept, Content: []byte(`{"name":"Di"}`)}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := client.Call[string](t.Context(), c, "greet", nil); err != nil || got != "Hello, Di" {
		t.Errorf("the call gave %q, %v", got, err)
	}
	if err := h.Drain(t.Context()); err != nil {
		t.Errorf("Drain: %v", err)
	}
	_ = c.Close() // nothing is lost
}

// A call that its client cancels no longer holds up a drain.
func TestDrainEndsWithCancellation(t *testing.T) {
	started := make(chan struct{})
	ts, h := start(t, stubborn(started, nil), nil)
	id := open(t, ts, "2025-11-25")
	ended := make(chan *http.Response, 1)
	go func() { ended <- ask(t, ts, "POST", call(2, "obey"), "Mcp-Session-Id", id) }() // ends with the call
	<-started
	drainBegins(t, h)
	ask(t, ts, "POST", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`, "Mcp-Session-Id", id)
	<-ended
	if err := h.Drain(t.Context()); err != nil {
		t.Errorf("Drain: %v", err)
	}
}
