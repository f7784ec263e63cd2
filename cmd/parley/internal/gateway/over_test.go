package gateway_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/cmd/parley/internal/bridge"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/transport/streamable"
)

// ends is a guard that remembers which sessions have ended.
type ends struct {
	mu   sync.Mutex
	over []string
}

func (*ends) Sees(context.Context, *mcp.Peer, *guard.Definition) bool { return true }

func (*ends) Serve(ctx context.Context, op *guard.Operation, next guard.Next) (any, error) {
	return next(ctx, op)
}

func (e *ends) Record(ev *guard.Event) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if ev.Over {
		e.over = append(e.over, ev.Exchange.Peer.SessionID)
	}
	return nil
}

// plainly sends a gateway what a test says, over HTTP.
type plainly struct {
	t    *testing.T
	site *mcptest.Site
}

func newPlainly(t *testing.T, h mcp.Handler) *plainly {
	t.Helper()
	site, err := streamable.New(h, &streamable.Options{ServeOptions: mcp.ServeOptions{Logger: mcptest.Quiet()}, KeepAlive: -1})
	if err != nil {
		t.Fatal(err)
	}
	r := &plainly{t, mcptest.NewSite(site)}
	t.Cleanup(func() {
		_ = site.Close(context.Background()) // it waits as long as that takes
		r.site.Close()
	})
	return r
}

// send sends a request, and returns the session that it belongs to from then on.
func (r *plainly) send(method, session, body string) string {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), method, r.site.URL, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if session != "" {
		req.Header.Set("Mcp-Session-Id", session)
		req.Header.Set("Mcp-Protocol-Version", "2025-11-25")
	}
	resp, err := r.site.Client.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode >= 300 || strings.Contains(string(text), `"error":`) || strings.Contains(string(text), `"isError":true`) {
		r.t.Errorf("%s %s is answered by %s %s, error %v", method, body, resp.Status, text, err)
	}
	return resp.Header.Get("Mcp-Session-Id")
}

// session opens a session, sends requests in it, and ends it.
func (r *plainly) session(bodies ...string) (id string) {
	r.t.Helper()
	id = r.send(http.MethodPost, "", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`)
	for _, body := range bodies {
		r.send(http.MethodPost, id, body)
	}
	r.send(http.MethodDelete, id, "")
	return id
}

const saysInitialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`

// A session that has ended leaves no connection behind, and is heard of by those who keep
// records, whether its client has ever said that it is initialized or not.
func TestSessionIsOver(t *testing.T) {
	for _, first := range [][]string{{saysInitialized}, nil} {
		t.Run(fmt.Sprintf("after %d notifications", len(first)), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := gateway.New(gateway.Options{Info: mcp.Implementation{Name: "gateway", Version: "1"}, Logger: mcptest.Quiet()})
				srv := behind(t, "one", named("one"), modes[0], bridge.ShareSession)
				srv.OnDemand, srv.Backend.Idle, srv.Backend.MaxConnections = true, time.Hour, 4
				t.Cleanup(func() { _ = g.Close() }) // before the server is waited for
				heard := new(ends)
				if err := g.Load(gateway.Setup{Servers: []gateway.Server{srv}, Guards: []guard.Guard{heard}}); err != nil {
					t.Fatal(err)
				}
				r := newPlainly(t, g.View(""))
				for range 6 { // more than there can be at a time
					id := r.session(append(first, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"one__hello","arguments":{}}}`)...)
					synctest.Wait()
					if state := g.State()[0]; state.Connections != 0 {
						t.Fatalf("%d connections are left of a session that has ended", state.Connections)
					}
					if last := len(heard.over) - 1; last < 0 || heard.over[last] != id {
						t.Fatalf("the end of the session %s is not recorded: %v", id, heard.over)
					}
				}
				if len(heard.over) != 6 {
					t.Errorf("%d ends are recorded of 6 sessions", len(heard.over))
				}
			})
		})
	}
}

// What a session has asked for, and no list has waited for, does not open a connection for
// it again once it has ended.
func TestSessionIsOverWhileListing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gateway.New(gateway.Options{Info: mcp.Implementation{Name: "gateway", Version: "1"}, Logger: mcptest.Quiet()})
		s := named("one")
		s.Use(func(next mcp.ServeFunc) mcp.ServeFunc {
			return func(ctx context.Context, x *mcp.Exchange) (any, error) {
				if x.Method == mcp.MethodListTools {
					pass(10 * time.Second)
				}
				return next(ctx, x)
			}
		})
		srv := behind(t, "one", s, modes[0], bridge.ShareSession)
		srv.OnDemand, srv.Backend.Idle = true, time.Hour
		t.Cleanup(func() { _ = g.Close() }) // before the server is waited for
		if err := g.Load(gateway.Setup{Servers: []gateway.Server{srv}}); err != nil {
			t.Fatal(err)
		}
		r := newPlainly(t, g.View(""))
		for range 3 {
			r.session(saysInitialized, `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`)
		}
		pass(time.Minute)
		if state := g.State()[0]; state.Connections != 0 {
			t.Errorf("%d connections are left of sessions that have ended while a list was fetched", state.Connections)
		}
	})
}
