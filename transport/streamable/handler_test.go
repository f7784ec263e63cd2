package streamable_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/parley-mcp/parley/internal/sse"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/transport/streamable"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// testServer has tools that answer at once, report, wait, and ask.
func testServer(gate chan struct{}) *server.Server {
	s := server.New(mcp.Implementation{Name: "test", Version: "1"}, &server.Options{Logger: mcptest.Quiet(), Logging: true, Subscriptions: true, ProgressInterval: -1})
	server.AddTool(s, mcp.Tool{Name: "echo"}, func(_ context.Context, _ *server.Call, in struct {
		Text   string `json:"text"`
		Region string `json:"region,omitempty" header:"Region"`
	},
	) (string, error) {
		return in.Text, nil
	})
	server.AddTool(s, mcp.Tool{Name: "count"}, func(ctx context.Context, call *server.Call, in struct {
		To int `json:"to"`
	},
	) (string, error) {
		for i := range in.To {
			call.Progress(ctx, float64(i+1), 0, "")
		}
		return fmt.Sprint("counted ", in.To), nil
	})
	server.AddTool(s, mcp.Tool{Name: "wait"}, func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
		call.Progress(ctx, 1, 0, "")
		select {
		case <-gate:
		case <-ctx.Done():
			return "", ctx.Err()
		}
		call.Progress(ctx, 2, 0, "")
		return "waited", nil
	})
	server.AddTool(s, mcp.Tool{Name: "poll"}, func(_ context.Context, call *server.Call, _ struct{}) (string, error) {
		if detach := call.Exchange().Detach; detach != nil {
			if err := detach(time.Millisecond); err != nil {
				return "", err
			}
		}
		<-gate
		return "polled", nil
	})
	return s
}

func start(t *testing.T, s mcp.Handler, o *streamable.Options) (*httptest.Server, *streamable.Handler) {
	t.Helper()
	if o == nil {
		o = &streamable.Options{}
	}
	o.Logger = mcptest.Quiet()
	h, err := streamable.New(s, o)
	if err != nil {
		t.Fatal(err)
	}
	ts := httptest.NewServer(h)
	t.Cleanup(func() {
		if err := h.Close(context.Background()); err != nil {
			t.Errorf("Close: %v", err)
		}
		ts.Close()
	})
	return ts, h
}

// ask sends one message with headers in pairs; an empty value leaves one out.
func ask(t *testing.T, ts *httptest.Server, method, body string, headers ...string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, ts.URL, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i+1 < len(headers); i += 2 {
		if headers[i] == "Host" {
			req.Host = headers[i+1]
			continue
		}
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := ts.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

func text(t *testing.T, resp *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"progressToken":1}`

func modern(method, params string) string {
	if params != "" {
		params = "," + params
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s%s}}`, method, modernMeta, params)
}

func TestStatelessStatuses(t *testing.T) {
	ts, _ := start(t, testServer(nil), nil)
	call := modern("tools/call", `"name":"echo","arguments":{"text":"hi"}`)
	good := []string{"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "echo"}
	with := func(pairs ...string) []string { return append(append([]string{}, good...), pairs...) }
	tests := []struct {
		name    string
		body    string
		headers []string
		status  int
		want    string
	}{
		{"good", call, good, 200, `"text":"hi"`},
		{"encoded name", call, with("Mcp-Name", "=?base64?ZWNobw==?="), 200, `"text":"hi"`},
		{"no version header", call, []string{"Mcp-Method", "tools/call", "Mcp-Name", "echo"}, 400, "-32020"},
		{"other version header", call, with("MCP-Protocol-Version", "2025-11-25"), 400, "-32020"},
		{"mismatch before support", strings.Replace(call, "2026-07-28", "v999", 1), good, 400, "-32020"},
		{"unknown version", strings.Replace(call, "2026-07-28", "v999", 1), with("MCP-Protocol-Version", "v999"), 400, "-32022"},
		{"wrong method", call, with("Mcp-Method", "tools/list"), 400, "-32020"},
		{"wrong case of a value", call, with("Mcp-Method", "Tools/Call"), 400, "-32020"},
		{"wrong name", call, with("Mcp-Name", "other"), 400, "-32020"},
		{"bad base64", call, with("Mcp-Name", "=?base64?ZWNobw?="), 400, "-32020"},
		{"no meta", `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{}}`, []string{"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "server/discover"}, 400, "-32602"},
		{"unknown method", modern("no/such", ""), []string{"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "no/such"}, 404, "-32601"},
		{"unknown tool", modern("tools/call", `"name":"nope"`), with("Mcp-Name", "nope"), 200, "-32602"},
		{"not JSON", `{`, good, 400, "-32700"},
		{"a response", `{"jsonrpc":"2.0","id":1,"result":{}}`, good, 400, "-32600"},
		{"a batch", `[` + call + `]`, good, 400, ``},
		{"mirrored parameter", modern("tools/call", `"name":"echo","arguments":{"text":"hi","region":"eu"}`), with("Mcp-Param-Region", "eu"), 200, `"hi"`},
		{"mirrored parameter differs", modern("tools/call", `"name":"echo","arguments":{"text":"hi","region":"eu"}`), with("Mcp-Param-Region", "us"), 400, "-32020"},
		{"mirrored parameter missing", modern("tools/call", `"name":"echo","arguments":{"text":"hi","region":"eu"}`), good, 400, "-32020"},
		{"mirror of nothing", call, with("Mcp-Param-Region", "us"), 400, "-32020"},
		{"wrong type of content", call, with("Content-Type", "text/plain"), 415, ""},
		{"wrong accept", call, with("Accept", "text/html"), 406, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			resp := ask(t, ts, "POST", tt.body, tt.headers...)
			if got := text(t, resp); resp.StatusCode != tt.status || !strings.Contains(got, tt.want) {
				t.Errorf("%d %s; want %d with %q", resp.StatusCode, got, tt.status, tt.want)
			}
			if resp.Header.Get("Mcp-Session-Id") != "" {
				t.Error("a session was made")
			}
		})
	}
	resp := ask(t, ts, "PUT", "")
	if resp.StatusCode != 405 || resp.Header.Get("Allow") != "GET, POST, DELETE" {
		t.Errorf("PUT: %d, Allow %q", resp.StatusCode, resp.Header.Get("Allow"))
	}
}

func TestStreamOnlyWhenSomethingPrecedes(t *testing.T) {
	ts, _ := start(t, testServer(nil), nil)
	resp := ask(t, ts, "POST", modern("tools/call", `"name":"count","arguments":{"to":3}`), "MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "count")
	if got := resp.Header.Get("Content-Type"); got != sse.ContentType {
		t.Fatalf("Content-Type = %q", got)
	}
	if resp.Header.Get("X-Accel-Buffering") != "no" {
		t.Error("proxies may buffer the stream")
	}
	if n := strings.Count(text(t, resp), "data: "); n != 4 {
		t.Errorf("%d events, want 3 of progress and the answer", n)
	}
}

func TestDNSRebindingIsRefused(t *testing.T) {
	ts, _ := start(t, testServer(nil), nil)
	body := modern("server/discover", "")
	ok := []string{"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "server/discover"}
	port := ts.URL[strings.LastIndex(ts.URL, ":"):]
	for _, tt := range []struct {
		name   string
		extra  []string
		status int
	}{
		{"as it should be", nil, 200},
		{"own origin", []string{"Host", "localhost" + port, "Origin", "http://localhost" + port}, 200},
		{"foreign host", []string{"Host", "evil.example.com"}, 403},
		{"foreign origin", []string{"Origin", "http://evil.example.com"}, 403},
		{"both", []string{"Host", "evil.example.com", "Origin", "http://evil.example.com"}, 403},
		{"null origin", []string{"Origin", "null"}, 403},
		{"a name that begins like ours", []string{"Host", "localhost.evil.example.com"}, 403},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if resp := ask(t, ts, "POST", body, append(append([]string{}, ok...), tt.extra...)...); resp.StatusCode != tt.status {
				t.Errorf("%d, want %d: %s", resp.StatusCode, tt.status, text(t, resp))
			}
		})
	}
	behindProxy, _ := start(t, testServer(nil), &streamable.Options{Hosts: []string{"mcp.example.com"}, Origins: []string{"https://app.example.com"}})
	if resp := ask(t, behindProxy, "POST", body, append(append([]string{}, ok...), "Host", "mcp.example.com", "Origin", "https://app.example.com")...); resp.StatusCode != 200 {
		t.Errorf("an allowed proxy: %d", resp.StatusCode)
	}
}

func TestTooLargeBodyIsRefusedWithoutBeingRead(t *testing.T) {
	ts, _ := start(t, testServer(nil), &streamable.Options{ServeOptions: mcp.ServeOptions{MaxMessageBytes: 1 << 20}})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, chunked := range []bool{false, true} {
		body := io.LimitReader(zeros{}, 64<<20)
		req, err := http.NewRequestWithContext(t.Context(), "POST", ts.URL, body)
		if err != nil {
			t.Fatal(err)
		}
		if !chunked {
			req.ContentLength = 64 << 20
		}
		req.Header.Set("Content-Type", "application/json")
		resp, err := ts.Client().Do(req)
		if err != nil {
			continue // the server may close before the body is sent
		}
		resp.Body.Close()
		if resp.StatusCode != 413 {
			t.Errorf("chunked %v: %d, want 413", chunked, resp.StatusCode)
		}
	}
	runtime.ReadMemStats(&after)
	if grown := int64(after.TotalAlloc) - int64(before.TotalAlloc); grown > 16<<20 {
		t.Errorf("%d bytes were allocated for bodies that are refused", grown)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

func TestSlowBodyTimesOut(t *testing.T) {
	ts, _ := start(t, testServer(nil), &streamable.Options{ReadTimeout: 50 * time.Millisecond})
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", ts.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{")
	answer, err := io.ReadAll(conn) // ends when the server gives up
	if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 400") {
		t.Errorf("got %q, %v", answer, err)
	}
}

func TestRateLimit(t *testing.T) {
	ts, _ := start(t, testServer(nil), &streamable.Options{Rate: 0.001, Burst: 2})
	var last *http.Response
	for range 3 {
		last = ask(t, ts, "POST", modern("server/discover", ""), "MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "server/discover")
	}
	if last.StatusCode != 429 || last.Header.Get("Retry-After") == "" {
		t.Errorf("%d, Retry-After %q", last.StatusCode, last.Header.Get("Retry-After"))
	}
}

// Closing the response cancels the request.
func TestDisconnectCancels(t *testing.T) {
	ended := make(chan error, 1)
	s := server.New(mcp.Implementation{Name: "t", Version: "1"}, &server.Options{Logger: mcptest.Quiet()})
	server.AddTool(s, mcp.Tool{Name: "t"}, func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
		call.Progress(ctx, 1, 0, "")
		<-ctx.Done()
		ended <- ctx.Err()
		return "", ctx.Err()
	})
	ts, _ := start(t, s, nil)
	resp := ask(t, ts, "POST", modern("tools/call", `"name":"t"`), "MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "t")
	if _, err := sse.NewReader(resp.Body, 1<<20).Next(); err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	<-ended
}

func TestListen(t *testing.T) {
	s := testServer(nil)
	ts, h := start(t, s, &streamable.Options{KeepAlive: 5 * time.Millisecond})
	resp := ask(t, ts, "POST", modern("subscriptions/listen", `"notifications":{"toolsListChanged":true}`), "MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "subscriptions/listen")
	events := sse.NewReader(resp.Body, 1<<20)
	next := func() string {
		t.Helper()
		e, err := events.Next()
		if err != nil {
			t.Fatal(err)
		}
		return string(e.Data)
	}
	if got := next(); !strings.Contains(got, "acknowledged") {
		t.Errorf("first: %s", got)
	}
	s.RemoveTools("echo")
	if got := next(); !strings.Contains(got, "tools/list_changed") || !strings.Contains(got, `"io.modelcontextprotocol/subscriptionId":1`) {
		t.Errorf("second: %s", got)
	}
	go h.Close(context.Background())
	if got := next(); !strings.Contains(got, "notifications/cancelled") {
		t.Errorf("third: %s", got)
	}
	if got := next(); !strings.Contains(got, `"resultType":"complete"`) {
		t.Errorf("last: %s", got)
	}
}

// Two requests never see each other's notifications.
func TestNotificationsStayOnTheirStream(t *testing.T) {
	ts, _ := start(t, testServer(nil), nil)
	session := open(t, ts, "2025-11-25")
	var wg sync.WaitGroup
	for i := range 40 {
		wg.Go(func() {
			token := fmt.Sprint("token-", i)
			body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"count","arguments":{"to":25},"_meta":{"progressToken":%q}}}`, i+10, token)
			headers := []string{"Mcp-Session-Id", session, "MCP-Protocol-Version", "2025-11-25"}
			if i%2 == 0 {
				body = strings.Replace(strings.Replace(body, `"_meta":{`, `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},`, 1), "x", "x", 1)
				headers = []string{"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "count"}
			}
			got := text(t, ask(t, ts, "POST", body, headers...))
			if n := strings.Count(got, token); n != 25 || strings.Count(got, "token-") != 25 {
				t.Errorf("%s: %d of its own, %d in all; want 25:\n%s", token, n, strings.Count(got, "token-"), got)
			}
		})
	}
	wg.Wait()
}

// open opens a session and returns its identifier.
func open(t *testing.T, ts *httptest.Server, version string) string {
	t.Helper()
	resp := ask(t, ts, "POST", fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, version))
	id := resp.Header.Get("Mcp-Session-Id")
	if resp.StatusCode != 200 || len(id) != 32 {
		t.Fatalf("initialize: %d, session %q: %s", resp.StatusCode, id, text(t, resp))
	}
	resp.Body.Close()
	resp = ask(t, ts, "POST", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, "Mcp-Session-Id", id)
	if resp.StatusCode != 202 {
		t.Fatalf("initialized: %d", resp.StatusCode)
	}
	return id
}

func TestSessionRules(t *testing.T) {
	ts, h := start(t, testServer(nil), nil)
	id := open(t, ts, "2025-11-25")
	ping := `{"jsonrpc":"2.0","id":2,"method":"ping"}`
	for _, tt := range []struct {
		name    string
		method  string
		body    string
		headers []string
		status  int
	}{
		{"good", "POST", ping, []string{"Mcp-Session-Id", id, "MCP-Protocol-Version", "2025-11-25"}, 200},
		{"no version header", "POST", ping, []string{"Mcp-Session-Id", id}, 200},
		{"unsupported version header", "POST", ping, []string{"Mcp-Session-Id", id, "MCP-Protocol-Version", "1.0"}, 400},
		{"no session", "POST", ping, nil, 400},
		{"forged session", "POST", ping, []string{"Mcp-Session-Id", strings.Repeat("0", 32)}, 404},
		{"batch in 2025-11-25", "POST", "[" + ping + "]", []string{"Mcp-Session-Id", id}, 400},
		{"draft headers that agree", "POST", ping, []string{"Mcp-Session-Id", id, "Mcp-Method", "ping"}, 200},
		{"draft headers that differ", "POST", ping, []string{"Mcp-Session-Id", id, "Mcp-Method", "pong"}, 400},
		{"stream without session", "GET", "", nil, 400},
		{"delete", "DELETE", "", []string{"Mcp-Session-Id", id}, 204},
		{"after delete", "POST", ping, []string{"Mcp-Session-Id", id}, 404},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if resp := ask(t, ts, tt.method, tt.body, tt.headers...); resp.StatusCode != tt.status {
				t.Errorf("%d, want %d: %s", resp.StatusCode, tt.status, text(t, resp))
			}
		})
	}
	if n := h.Sessions(); n != 0 {
		t.Errorf("%d sessions are left", n)
	}
}

func TestSessionBelongsToItsPrincipal(t *testing.T) {
	ts, _ := start(t, testServer(nil), &streamable.Options{Principal: func(r *http.Request) string { return r.Header.Get("X-User") }})
	resp := ask(t, ts, "POST", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, "X-User", "ann")
	id := resp.Header.Get("Mcp-Session-Id")
	ping := `{"jsonrpc":"2.0","id":2,"method":"ping"}`
	if resp := ask(t, ts, "POST", ping, "Mcp-Session-Id", id, "X-User", "ann"); resp.StatusCode != 200 {
		t.Errorf("the owner: %d", resp.StatusCode)
	}
	if resp := ask(t, ts, "POST", ping, "Mcp-Session-Id", id, "X-User", "bob"); resp.StatusCode != 404 {
		t.Errorf("somebody else: %d, want 404", resp.StatusCode)
	}
}

func TestBatches(t *testing.T) {
	ts, _ := start(t, testServer(nil), nil)
	id := open(t, ts, "2025-03-26")
	resp := ask(t, ts, "POST", `[{"jsonrpc":"2.0","id":5,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/x"},3]`, "Mcp-Session-Id", id)
	var answers []json.RawMessage
	if err := json.Unmarshal([]byte(text(t, resp)), &answers); err != nil || len(answers) != 2 {
		t.Errorf("%d answers, %v", len(answers), err)
	}
	resp = ask(t, ts, "POST", `[{"jsonrpc":"2.0","method":"notifications/x"}]`, "Mcp-Session-Id", id)
	if resp.StatusCode != 202 {
		t.Errorf("notifications only: %d, want 202", resp.StatusCode)
	}
}

// A client that loses its stream comes back for the rest: nothing is lost,
// nothing comes twice.
func TestResume(t *testing.T) {
	gate := make(chan struct{})
	ts, _ := start(t, testServer(gate), nil)
	id := open(t, ts, "2025-11-25")
	resp := ask(t, ts, "POST", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"wait","_meta":{"progressToken":"p"}}}`, "Mcp-Session-Id", id)
	events := sse.NewReader(resp.Body, 1<<20)
	prime, err := events.Next()
	if err != nil || prime.ID == "" || len(prime.Data) != 0 || prime.Retry == 0 {
		t.Fatalf("priming event = %+v, %v", prime, err)
	}
	first, err := events.Next()
	if err != nil || !strings.Contains(string(first.Data), `"progress":1`) {
		t.Fatalf("first event = %+v, %v", first, err)
	}
	resp.Body.Close()
	close(gate)

	resp = ask(t, ts, "GET", "", "Mcp-Session-Id", id, "Last-Event-ID", first.ID)
	rest := text(t, resp)
	if strings.Count(rest, `"progress":2`) != 1 || strings.Count(rest, "waited") != 1 || strings.Contains(rest, `"progress":1`) {
		t.Errorf("the rest is\n%s", rest)
	}
	resp = ask(t, ts, "GET", "", "Mcp-Session-Id", id, "Last-Event-ID", prime.ID)
	if all := text(t, resp); strings.Count(all, `"progress"`) != 2+2 && strings.Count(all, "data: {") != 3 {
		t.Errorf("from the start:\n%s", all)
	}
	resp = ask(t, ts, "GET", "", "Mcp-Session-Id", id, "Last-Event-ID", "99_1")
	if resp.StatusCode != 400 {
		t.Errorf("a stream that never was: %d", resp.StatusCode)
	}
}

// A handler may end its response and go on; the client polls for the answer.
func TestPolling(t *testing.T) {
	for _, proto := range []string{"HTTP/1.1", "HTTP/2.0"} {
		t.Run(proto, func(t *testing.T) {
			gate := make(chan struct{})
			ts := startProto(t, testServer(gate), proto)
			id := open(t, ts, "2025-11-25")
			resp := ask(t, ts, "POST", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"poll"}}`, "Mcp-Session-Id", id)
			if resp.Proto != proto {
				t.Fatalf("this is %s", resp.Proto)
			}
			e, err := sse.NewReader(resp.Body, 1<<20).Next()
			if err != nil || e.ID == "" || e.Retry != time.Millisecond {
				t.Fatalf("event = %+v, %v", e, err)
			}
			if rest := text(t, resp); rest != "" {
				t.Errorf("the response goes on: %q", rest)
			}
			close(gate)
			resp = ask(t, ts, "GET", "", "Mcp-Session-Id", id, "Last-Event-ID", e.ID)
			if got := text(t, resp); !strings.Contains(got, "polled") {
				t.Errorf("got %q", got)
			}
		})
	}
}

// Resuming a stream takes it away from the response that carried it, which ends.
func TestTakeOver(t *testing.T) {
	for _, proto := range []string{"HTTP/1.1", "HTTP/2.0"} {
		t.Run(proto, func(t *testing.T) {
			gate := make(chan struct{})
			ts := startProto(t, testServer(gate), proto)
			id := open(t, ts, "2025-11-25")
			old := ask(t, ts, "POST", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"wait","_meta":{"progressToken":"p"}}}`, "Mcp-Session-Id", id)
			prime, err := sse.NewReader(old.Body, 1<<20).Next()
			if err != nil {
				t.Fatal(err)
			}
			resp := ask(t, ts, "GET", "", "Mcp-Session-Id", id, "Last-Event-ID", prime.ID)
			_ = text(t, old) // returns, although the request goes on
			close(gate)
			if got := text(t, resp); !strings.Contains(got, `"progress":1`) || !strings.Contains(got, "waited") {
				t.Errorf("got %q", got)
			}
		})
	}
}

// startProto starts a server that speaks the given version of HTTP.
func startProto(t *testing.T, s mcp.Handler, proto string) *httptest.Server {
	t.Helper()
	h, err := streamable.New(s, &streamable.Options{ServeOptions: mcp.ServeOptions{Logger: mcptest.Quiet()}, KeepAlive: -1})
	if err != nil {
		t.Fatal(err)
	}
	ts := httptest.NewUnstartedServer(h)
	ts.EnableHTTP2 = proto == "HTTP/2.0"
	ts.StartTLS()
	t.Cleanup(func() {
		_ = h.Close(context.Background())
		ts.Close()
	})
	return ts
}

func TestAbandonedSessionsLeaveNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, err := streamable.New(testServer(nil), &streamable.Options{ServeOptions: mcp.ServeOptions{Logger: mcptest.Quiet()}, SessionIdle: time.Minute, Rate: -1})
		if err != nil {
			t.Fatal(err)
		}
		body := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
		for range 1000 {
			req := httptest.NewRequestWithContext(t.Context(), "POST", "/mcp", strings.NewReader(body))
			req.Header.Set("Content-Type", "application/json")
			h.ServeHTTP(httptest.NewRecorder(), req)
		}
		if n := h.Sessions(); n != 1000 {
			t.Fatalf("%d sessions were opened", n)
		}
		<-time.NewTimer(59 * time.Second).C
		if n := h.Sessions(); n != 1000 {
			t.Errorf("%d sessions are left before the idle time", n)
		}
		<-time.NewTimer(2 * time.Second).C
		if n := h.Sessions(); n != 0 {
			t.Errorf("%d sessions are left after the idle time", n)
		}
		if err := h.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// A client that does not read is cut off; others are served meanwhile.
func TestSlowReader(t *testing.T) {
	big := bytes.Repeat([]byte("x"), 1<<20)
	s := server.New(mcp.Implementation{Name: "t", Version: "1"}, &server.Options{Logger: mcptest.Quiet()})
	cut := make(chan error, 1)
	server.AddTool(s, mcp.Tool{Name: "flood"}, func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
		for {
			if err := call.Notify(ctx, "acme/data", map[string]string{"d": string(big)}); err != nil {
				cut <- err
				return "", err
			}
		}
	})
	ts, _ := start(t, s, &streamable.Options{WriteTimeout: 200 * time.Millisecond})
	ask(t, ts, "POST", modern("tools/call", `"name":"flood"`), "MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "flood")
	if resp := ask(t, ts, "POST", modern("server/discover", ""), "MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "server/discover"); resp.StatusCode != 200 {
		t.Errorf("another client: %d", resp.StatusCode)
	}
	<-cut
}
