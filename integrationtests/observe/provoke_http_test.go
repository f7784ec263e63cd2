package observe_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
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

// site serves a server over HTTP until the test ends. It returns a function
// that posts a message in a session, and returns the response.
func site(t *testing.T, h mcp.Handler, o observers, events streamable.EventStore) (s *mcptest.Site, post func(session, message string) *http.Response) {
	t.Helper()
	web, err := streamable.New(h, &streamable.Options{ServeOptions: o.serve(), Events: events, KeepAlive: -1})
	if err != nil {
		t.Fatal(err)
	}
	s = mcptest.NewSite(web)
	t.Cleanup(func() {
		if err := web.Close(context.Background()); err != nil {
			t.Error(err)
		}
		s.Close()
	})
	return s, func(session, message string) *http.Response {
		t.Helper()
		return send(t, s, http.MethodPost, session, message)
	}
}

// send sends a request, and returns the response, whose body ends with the test.
func send(t *testing.T, s *mcptest.Site, method, session, message string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, s.URL, bytes.NewReader([]byte(message)))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	if session != "" {
		r.Header.Set("Mcp-Session-Id", session)
	}
	resp, err := s.Client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() }) // the rest is not needed
	return resp
}

// opened opens a session, and returns its identifier.
func opened(t *testing.T, post func(session, message string) *http.Response) string {
	t.Helper()
	resp := post("", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)
	session := resp.Header.Get("Mcp-Session-Id")
	if session == "" {
		t.Fatalf("initialize was answered with %s", resp.Status)
	}
	if resp := post(session, `{"jsonrpc":"2.0","method":"notifications/initialized"}`); resp.StatusCode != http.StatusAccepted {
		t.Errorf("notifications/initialized was answered with %s", resp.Status)
	}
	return session
}

func notificationOfNoSession(t *testing.T, o observers) {
	_, post := site(t, with(idle, nil), o, nil)
	if resp := post("nobody", `{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`); resp.StatusCode != http.StatusNotFound {
		t.Errorf("the notification was answered with %s", resp.Status)
	}
}

// changing opens a session of a server over HTTP, makes a list change while
// nobody listens, and waits until the notification is due.
func changing(t *testing.T, o observers, events streamable.EventStore) (*mcptest.Site, string) {
	t.Helper()
	s := with(idle, nil)
	web, post := site(t, s, o, events)
	session := opened(t, post)
	server.AddTool(s, mcp.Tool{Name: "new"}, func(context.Context, *server.Call, struct{}) (string, error) { return "", nil })
	pass(time.Second) // changes are told after a window
	return web, session
}

func fullEventStore(t *testing.T, o observers) { changing(t, o, full{}) }

// full cannot keep anything.
type full struct{}

func (full) Append(string, string, uint64, []byte) error    { return errors.New("full") }
func (full) After(string, string, uint64) ([][]byte, error) { return nil, nil }
func (full) DropStream(string, string)                      {}
func (full) Drop(string)                                    {}

func forgetfulEventStore(t *testing.T, o observers) {
	web, session := changing(t, o, streamable.NewMemoryEvents(&streamable.MemoryOptions{MaxStream: 1}))
	if resp := send(t, web, http.MethodGet, session, ""); resp.StatusCode != http.StatusOK {
		t.Errorf("GET was answered with %s", resp.Status)
	}
}

// tooManyRequests: 256 requests of the server are being answered and 257 more
// are being refused, the first of which is stuck, so there is no room for the
// last.
func tooManyRequests(t *testing.T, o observers) {
	const most = 256
	first, rest := make(chan struct{}), make(chan struct{})
	release := make(chan struct{})
	web := mcptest.NewSite(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		switch {
		case err != nil:
			t.Error(err)
		case strings.Contains(string(body), `"initialize"`):
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}`)
		case r.Method == http.MethodGet:
			w.Header().Set("Content-Type", "text/event-stream")
			_ = http.NewResponseController(w).Flush() // the client's reading tells
			<-first
			for i := range 2*most + 2 {
				if i == most+1 { // the first refusal must be stuck before the others come
					_ = http.NewResponseController(w).Flush() // likewise
					<-rest
				}
				fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"sampling/createMessage\",\"params\":{\"messages\":[],\"maxTokens\":1}}\n\n", i)
			}
			_ = http.NewResponseController(w).Flush() // likewise
			<-release
		case strings.Contains(string(body), "notifications/initialized"):
			w.WriteHeader(http.StatusAccepted)
		default: // answers are not taken
			<-release
		}
	}))
	c, err := client.Connect(t.Context(), &streamable.Client{URL: web.URL, HTTP: web.Client, Logger: mcptest.Quiet()}, &client.Options{
		Revisions: []mcp.Revision{mcp.Revision20251125}, Logger: mcptest.Quiet(), Tap: o.tap, Drops: o.drops,
		Sample: func(ctx context.Context, _ *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		close(release)
		_ = c.Close() // its server is stuck
		web.Close()
	})
	close(first)
	synctest.Wait()
	close(rest)
	synctest.Wait()
}
