package sse_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"

	codec "github.com/parley-mcp/parley/internal/sse"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/transport/sse"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func start(t *testing.T) *httptest.Server {
	t.Helper()
	s := server.New(mcp.Implementation{Name: "t", Version: "1"}, &server.Options{Logger: mcptest.Quiet()})
	server.AddTool(s, mcp.Tool{Name: "count"}, func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
		call.Progress(ctx, 1, 1, "")
		return "one", nil
	})
	server.AddTool(s, mcp.Tool{Name: "ask"}, func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
		_, err := server.Roots(ctx, call)
		return "", err
	})
	h, err := sse.New(s, &sse.Options{ServeOptions: mcp.ServeOptions{Logger: mcptest.Quiet()}})
	if err != nil {
		t.Fatal(err)
	}
	ts := httptest.NewServer(h)
	t.Cleanup(func() {
		if err := h.Close(context.Background()); err != nil {
			t.Error(err)
		}
		ts.Close()
	})
	return ts
}

func TestConversation(t *testing.T) {
	ts := start(t)
	resp, err := ts.Client().Get(ts.URL + "/sse")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	events := codec.NewReader(resp.Body, 1<<20)
	first, err := events.Next()
	if err != nil || first.Name != "endpoint" || !strings.HasPrefix(string(first.Data), "/sse?sessionId=") {
		t.Fatalf("first event = %+v, %v", first, err)
	}
	for _, step := range []struct{ send, want string }{
		{`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, `"protocolVersion":"2024-11-05"`},
		{`{"jsonrpc":"2.0","method":"notifications/initialized"}`, ""},
		{`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"count","_meta":{"progressToken":"p"}}}`, `"progressToken":"p"`},
		{"", `"text":"one"`},
	} {
		if step.send != "" {
			answer, err := ts.Client().Post(ts.URL+string(first.Data), "application/json", strings.NewReader(step.send))
			if err != nil {
				t.Fatal(err)
			}
			answer.Body.Close()
			if answer.StatusCode != http.StatusAccepted {
				t.Fatalf("POST: %d", answer.StatusCode)
			}
		}
		if step.want == "" {
			continue
		}
		e, err := events.Next()
		if err != nil || e.Name != "message" || !strings.Contains(string(e.Data), step.want) {
			t.Fatalf("event = %s %s, %v; want %s", e.Name, e.Data, err, step.want)
		}
	}
}

// Each stream is a session, until its client is gone.
func TestSessionsAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, err := sse.New(server.New(mcp.Implementation{Name: "t", Version: "1"}, nil), &sse.Options{ServeOptions: mcp.ServeOptions{Logger: mcptest.Quiet()}})
		if err != nil {
			t.Fatal(err)
		}
		var leave []context.CancelFunc
		for want := range 3 {
			if got := h.Sessions(); got != want {
				t.Errorf("%d sessions, want %d", got, want)
			}
			ctx, cancel := context.WithCancel(t.Context())
			leave = append(leave, cancel)
			go h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, http.MethodGet, "/sse", nil)) // ends with ctx
			synctest.Wait()
		}
		for i, cancel := range leave {
			cancel()
			synctest.Wait()
			if got, want := h.Sessions(), len(leave)-i-1; got != want {
				t.Errorf("%d sessions, want %d", got, want)
			}
		}
		if err := h.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestRefusals(t *testing.T) {
	ts := start(t)
	for _, tt := range []struct {
		name, method, query, host string
		status                    int
	}{
		{"no stream", "POST", "?sessionId=x", "", 404},
		{"other method", "PUT", "", "", 405},
		{"foreign host", "GET", "", "evil.example.com", 403},
	} {
		req, err := http.NewRequestWithContext(t.Context(), tt.method, ts.URL+"/sse"+tt.query, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		if tt.host != "" {
			req.Host = tt.host
		}
		resp, err := ts.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode != tt.status {
			t.Errorf("%s: %d, want %d: %s", tt.name, resp.StatusCode, tt.status, body)
		}
	}
}

// Two Content-Types are refused: an intermediary may have gone by the other one.
func TestTwoContentTypes(t *testing.T) {
	ts := start(t)
	stream, err := ts.Client().Get(ts.URL + "/sse")
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	first, err := codec.NewReader(stream.Body, 1<<20).Next()
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, ts.URL+string(first.Data), strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header["Content-Type"] = []string{"application/json", "text/plain"}
	resp, err := ts.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusUnsupportedMediaType {
		t.Errorf("status %d", resp.StatusCode)
	}
}

// A nil handler is refused before the first request could reach it.
func TestNewRefusesNil(t *testing.T) {
	if _, err := sse.New(nil, nil); err == nil || !strings.Contains(err.Error(), "mcp.Handler is nil") {
		t.Errorf("error = %v, want one that names the handler", err)
	}
}

// dial opens a stream, and returns its events and its endpoint.
func dial(t *testing.T, ts *httptest.Server, target string) (*codec.Reader, string) {
	t.Helper()
	resp, err := ts.Client().Get(ts.URL + target)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	events := codec.NewReader(resp.Body, 1<<20)
	first, err := events.Next()
	if err != nil || first.Name != "endpoint" {
		t.Fatalf("first event = %+v, %v", first, err)
	}
	return events, string(first.Data)
}

func post(t *testing.T, ts *httptest.Server, endpoint, body string) int {
	t.Helper()
	resp, err := ts.Client().Post(ts.URL+endpoint, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

// The stream speaks every revision that has sessions, and one has batches.
//
// Spec: 2025-03-26 basic#batching.
func TestBatch(t *testing.T) {
	ts := start(t)
	for _, tt := range []struct {
		revision string
		status   int
	}{{"2025-03-26", http.StatusAccepted}, {"2024-11-05", http.StatusBadRequest}} {
		events, endpoint := dial(t, ts, "/sse")
		opening := `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"` + tt.revision + `","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
		if status := post(t, ts, endpoint, opening); status != http.StatusAccepted {
			t.Fatalf("initialize: %d", status)
		}
		if _, err := events.Next(); err != nil {
			t.Fatal(err)
		}
		batch := `[{"jsonrpc":"2.0","method":"notifications/initialized"},{"jsonrpc":"2.0","id":1,"method":"ping"},{"id":2}]`
		if status := post(t, ts, endpoint, batch); status != tt.status {
			t.Errorf("%s: a batch has the status %d", tt.revision, status)
		}
		if tt.status != http.StatusAccepted {
			continue
		}
		e, err := events.Next()
		if got := string(e.Data); err != nil || !strings.HasPrefix(got, "[") || !strings.Contains(got, `"id":1,"result":{}`) || !strings.Contains(got, `"id":2,"error"`) {
			t.Errorf("%s: the batch is answered by %s, %v", tt.revision, got, err)
		}
	}
}

// A malformed answer fails the question that it is for.
func TestMalformedAnswerFailsItsQuestion(t *testing.T) {
	ts := start(t)
	events, endpoint := dial(t, ts, "/sse")
	for _, step := range []struct {
		send   string
		status int
		want   string
	}{
		{`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{"roots":{}},"clientInfo":{"name":"t","version":"1"}}}`, 202, `"protocolVersion"`},
		{`{"jsonrpc":"2.0","method":"notifications/initialized"}`, 202, ""},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask"}}`, 202, `"roots/list"`},
		{`{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}}`, 400, "the client sent a malformed answer"},
	} {
		if status := post(t, ts, endpoint, step.send); status != step.status {
			t.Fatalf("%s: status %d", step.send, status)
		}
		if step.want == "" {
			continue
		}
		if e, err := events.Next(); err != nil || !strings.Contains(string(e.Data), step.want) {
			t.Fatalf("%s: the server said %s, %v", step.send, e.Data, err)
		}
	}
}

// The endpoint is on this server, whatever the path of the stream looks like.
func TestEndpointOfAStrangePath(t *testing.T) {
	ts := start(t)
	for _, path := range []string{"//evil.example/sse", "/a%0d%0ab", "/%2f/x"} {
		_, endpoint := dial(t, ts, path)
		if strings.HasPrefix(endpoint, "//") {
			t.Errorf("%s: the endpoint %q leads away", path, endpoint)
		}
		if status := post(t, ts, endpoint, `{"jsonrpc":"2.0","method":"notifications/x"}`); status != http.StatusAccepted {
			t.Errorf("%s: a POST to %q has the status %d", path, endpoint, status)
		}
	}
}

// A message whose version header names no revision of a session here is refused.
//
// Spec: 2025-11-25 basic/transports#protocol-version-header.
func TestVersionHeader(t *testing.T) {
	ts := start(t)
	_, endpoint := dial(t, ts, "/sse")
	for version, want := range map[string]int{"": 202, "2025-06-18": 202, "1999-01-01": 400, "2026-07-28": 400} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, ts.URL+endpoint, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		if version != "" {
			r.Header.Set("MCP-Protocol-Version", version)
		}
		resp, err := ts.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("version %q: status %d, want %d", version, resp.StatusCode, want)
		}
	}
}

// tenantKey is the key of what the test's middleware puts into contexts.
type tenantKey struct{}

// A message comes with the values and the headers of its own POST, not with those of
// the stream.
func TestValuesOfAPost(t *testing.T) {
	s := server.New(mcp.Implementation{Name: "t", Version: "1"}, &server.Options{Logger: mcptest.Quiet()})
	server.AddTool(s, mcp.Tool{Name: "whose"}, func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
		return fmt.Sprint(ctx.Value(tenantKey{}), " ", call.Header("X-Tenant"), " ", ctx.Err()), nil
	})
	h, err := sse.New(s, &sse.Options{ServeOptions: mcp.ServeOptions{Logger: mcptest.Quiet()}})
	if err != nil {
		t.Fatal(err)
	}
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), tenantKey{}, r.Header.Get("X-Tenant"))))
	}))
	defer ts.Close()
	defer h.Close(context.Background())
	events, endpoint := dial(t, ts, "/sse")
	post(t, ts, endpoint, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)
	if _, err := events.Next(); err != nil {
		t.Fatal(err)
	}
	for _, tenant := range []string{"ann", "bob"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, ts.URL+endpoint, strings.NewReader(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"whose"}}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("X-Tenant", tenant)
		resp, err := ts.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if e, err := events.Next(); err != nil || !strings.Contains(string(e.Data), tenant+" "+tenant+" <nil>") {
			t.Errorf("%s: got %s, %v", tenant, e.Data, err)
		}
	}
}
