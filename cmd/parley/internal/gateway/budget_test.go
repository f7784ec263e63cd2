//go:build !race

package gateway_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/cmd/parley/internal/bridge"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/transport/streamable"
)

// endpoint is a gateway over HTTP, with servers in this process behind it.
type endpoint struct{ http *streamable.Handler }

type said struct {
	Text string `json:"text"`
}

// newEndpoint serves a gateway with a number of servers, named s0, s1 and so on.
func newEndpoint(t testing.TB, servers int, back mcptest.Mode, share bridge.Share) *endpoint {
	t.Helper()
	g := gateway.New(gateway.Options{Info: mcp.Implementation{Name: "gateway", Version: "1"}, Logger: mcptest.Quiet()})
	var setup gateway.Setup
	for i := range servers {
		s := server.New(mcp.Implementation{Name: "server", Version: "1"}, &server.Options{Logger: mcptest.Quiet(), ToolRate: mcp.Rate{PerSecond: 1e9}})
		server.AddTool(s, mcp.Tool{Name: "echo"}, func(_ context.Context, _ *server.Call, in said) (said, error) { return in, nil })
		member := behind(t, fmt.Sprintf("s%d", i), s, back, share)
		member.Backend.MaxConnections = 1 << 20
		setup.Servers = append(setup.Servers, member)
	}
	t.Cleanup(func() { _ = g.Close() }) // before the servers are waited for
	if err := g.Load(setup); err != nil {
		t.Fatal(err)
	}
	h, err := streamable.New(g.View(""), &streamable.Options{
		ServeOptions: mcp.ServeOptions{Logger: mcptest.Quiet()}, Rate: -1, MaxSessions: 1 << 20, MaxSessionsPerClient: -1,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close(context.Background()) })
	return &endpoint{h}
}

// send sends a request, in a session unless that is "".
func (e *endpoint) send(t testing.TB, method, session, body string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, "http://127.0.0.1/", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if session != "" {
		r.Header.Set("Mcp-Session-Id", session)
		r.Header.Set("Mcp-Protocol-Version", "2025-11-25")
	} else if strings.Contains(body, "2026-07-28") {
		r.Header.Set("Mcp-Protocol-Version", "2026-07-28")
		r.Header.Set("Mcp-Method", "tools/call")
		r.Header.Set("Mcp-Name", "s0__echo")
	}
	w := httptest.NewRecorder()
	e.http.ServeHTTP(w, r)
	return w
}

// call calls the tool of a server. meta is the _meta of the request, with a comma, or "".
func (e *endpoint) call(t testing.TB, session string, number int, meta string) {
	t.Helper()
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{%s"name":"s%d__echo","arguments":{"text":"a"}}}`, meta, number)
	if w := e.send(t, http.MethodPost, session, body); !strings.Contains(w.Body.String(), `"structuredContent":{"text":"a"}`) {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
}

// open opens a session.
func (e *endpoint) open(t testing.TB) (session string) {
	t.Helper()
	w := e.send(t, http.MethodPost, "", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"b","version":"1"}}}`)
	session = w.Header().Get("Mcp-Session-Id")
	if w := e.send(t, http.MethodPost, session, `{"jsonrpc":"2.0","method":"notifications/initialized"}`); session == "" || w.Code != http.StatusAccepted {
		t.Fatalf("%q, %d %s", session, w.Code, w.Body)
	}
	return session
}

const statelessMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"b","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}},`

func benchmarkCall(b *testing.B, front, back mcptest.Mode) {
	e := newEndpoint(b, 1, back, bridge.SharePrincipal)
	session, meta := "", statelessMeta
	if !stateless(front) {
		session, meta = e.open(b), ""
	}
	e.call(b, session, 0, meta)
	b.ReportAllocs()
	for b.Loop() {
		e.call(b, session, 0, meta)
	}
}

// eachCell runs something for the two eras of clients, over HTTP, and of servers.
func eachCell(run func(name string, front, back mcptest.Mode)) {
	for _, front := range []mcptest.Mode{modes[1], modes[3]} {
		for _, back := range []mcptest.Mode{modes[0], modes[2]} {
			run(front.Revision.String()+" to "+back.Revision.String(), front, back)
		}
	}
}

func BenchmarkCall(b *testing.B) {
	eachCell(func(name string, front, back mcptest.Mode) {
		b.Run(name, func(b *testing.B) { benchmarkCall(b, front, back) })
	})
}

// A call makes few allocations on its way: in the gateway, in the server behind it, and
// in this test.
func TestBudgetOfACall(t *testing.T) {
	const most = 170
	eachCell(func(name string, front, back mcptest.Mode) {
		result := testing.Benchmark(func(b *testing.B) { benchmarkCall(b, front, back) })
		if got := result.AllocsPerOp(); got > most {
			t.Errorf("%s: a call makes %d allocations; the budget is %d", name, got, most)
		}
		t.Logf("%s: %d allocations, %d bytes", name, result.AllocsPerOp(), result.AllocedBytesPerOp())
	})
}

// A session that is not used takes little, however many servers it has used. When it has
// ended, all of that is there again.
func TestBudgetOfASession(t *testing.T) {
	for share, budget := range map[bridge.Share]struct {
		name             string
		back             mcptest.Mode
		sessions, memory int // bytes for each session
	}{
		bridge.SharePrincipal: {"principal", modes[0], 2000, 12 << 10},
		bridge.ShareSession:   {"session", modes[1], 100, 1 << 20}, // five connections, with both of their ends
	} {
		t.Run(budget.name, func(t *testing.T) {
			const servers = 5
			e := newEndpoint(t, servers, budget.back, share)
			used := func() string {
				session := e.open(t)
				for i := range servers {
					e.call(t, session, i, "")
				}
				return session
			}
			end := func(session string) {
				if w := e.send(t, http.MethodDelete, session, ""); w.Code >= 300 {
					t.Fatalf("%d %s", w.Code, w.Body)
				}
			}
			for range 20 { // what is made once is not of a session
				end(used())
			}
			before := inUse()
			sessions := make([]string, budget.sessions)
			for i := range sessions {
				sessions[i] = used()
			}
			each := (inUse() - before) / budget.sessions
			for _, s := range sessions {
				end(s)
			}
			left, most := each, max(1<<10, each/5)
			for range 200 { // connections end in the background
				if left = (inUse() - before) / budget.sessions; left <= most {
					break
				}
			}
			t.Logf("%.1f KiB for each session, and %.1f KiB when it has ended", float64(each)/1024, float64(left)/1024)
			if each > budget.memory {
				t.Errorf("each session takes %d bytes; the budget is %d", each, budget.memory)
			}
			if left > most {
				t.Errorf("%d bytes are left of each session that has ended, and not at most %d", left, most)
			}
		})
	}
}

// inUse returns the bytes that are in use.
func inUse() int {
	runtime.GC()
	runtime.GC() // pools give back what they have with the second one
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
