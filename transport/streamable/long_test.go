package streamable_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/internal/sse"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/transport/streamable"
)

// A call that says nothing for a long time becomes a stream with comments, so that no
// proxy takes its connection for dead. In a session, the client can come back for it.
func TestSilentCallIsKeptAlive(t *testing.T) {
	const call = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"wait"}}`
	for _, tt := range []struct {
		version, body string
		primed        bool
	}{
		{"2026-07-28", strings.Replace(modern("tools/call", `"name":"wait"`), `,"progressToken":1`, "", 1), false},
		{"2025-11-25", call, true},
		{"2025-06-18", call, false},
	} {
		t.Run(tt.version, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				gate := make(chan struct{})
				h, err := streamable.New(testServer(gate), &streamable.Options{ServeOptions: mcp.ServeOptions{Logger: mcptest.Quiet()}})
				if err != nil {
					t.Fatal(err)
				}
				site := mcptest.NewSite(h)
				defer site.Close()
				defer h.Close(context.Background())
				send := func(body string, headers ...string) *http.Response {
					r, err := http.NewRequestWithContext(t.Context(), "POST", site.URL, strings.NewReader(body))
					if err != nil {
						t.Fatal(err)
					}
					r.Header.Set("Content-Type", "application/json")
					for i := 0; i < len(headers); i += 2 {
						r.Header.Set(headers[i], headers[i+1])
					}
					resp, err := site.Client.Do(r)
					if err != nil {
						t.Fatal(err)
					}
					return resp
				}
				headers := []string{"MCP-Protocol-Version", tt.version, "Mcp-Method", "tools/call", "Mcp-Name", "wait"}
				if tt.version != "2026-07-28" {
					opened := send(strings.Replace(hello, "2025-11-25", tt.version, 1))
					_ = opened.Body.Close()
					headers = append(headers, "Mcp-Session-Id", opened.Header.Get("Mcp-Session-Id"))
				}
				begin := time.Now()
				resp := send(tt.body, headers...)
				defer resp.Body.Close()
				if waited := time.Since(begin); waited != 15*time.Second || !strings.HasPrefix(resp.Header.Get("Content-Type"), sse.ContentType) {
					t.Fatalf("the response begins after %v, with %v", waited, resp.Header)
				}
				time.AfterFunc(time.Minute, func() { close(gate) })
				rest, err := io.ReadAll(resp.Body)
				if err != nil {
					t.Fatal(err)
				}
				got := string(rest)
				if n := strings.Count(got, string(sse.Comment)); n < 3 || n > 5 {
					t.Errorf("%d comments in 75 s: %q", n, got)
				}
				if strings.Contains(got, "id: 1_0") != tt.primed || !strings.Contains(got, "waited") {
					t.Errorf("got %q", got)
				}
			})
		})
	}
}

// Each event of a session has an ID of its own, also where a handler ends its stream
// early, and again after the client has come back.
//
// Spec: 2025-11-25 basic/transports#resumability-and-redelivery.
func TestEventIDsAreUnique(t *testing.T) {
	s := server.New(mcp.Implementation{Name: "t", Version: "1"}, &server.Options{Logger: mcptest.Quiet(), ProgressInterval: -1})
	back := make(chan struct{})
	server.AddTool(s, mcp.Tool{Name: "away"}, func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
		for i := range 3 {
			call.Progress(ctx, float64(2*i), 0, "")
			if err := call.Exchange().Detach(time.Millisecond); err != nil {
				return "", err
			}
			call.Progress(ctx, float64(2*i+1), 0, "")
			<-back
		}
		return "done", nil
	})
	ts, _ := start(t, s, nil)
	id := open(t, ts, "2025-11-25")
	resp := ask(t, ts, "POST", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"away","_meta":{"progressToken":1}}}`, "Mcp-Session-Id", id)
	seen, last, retries := map[string]bool{}, "", 0
	for i := range 4 {
		for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
			field, value, _ := strings.Cut(lines.Text(), ": ")
			switch {
			case field == "retry" && value == "1":
				retries++
			case field == "id":
				if seen[value] {
					t.Errorf("the ID %s occurs again", value)
				}
				seen[value], last = true, value
			case field == "data" && strings.Contains(value, fmt.Sprintf(`"progress":%d`, 2*i-1)): // the client is back
				back <- struct{}{}
			}
		}
		if i < 3 {
			resp = ask(t, ts, "GET", "", "Mcp-Session-Id", id, "Last-Event-ID", last)
		}
	}
	if len(seen) != 8 || retries != 3 { // six reports, the answer, and the first event
		t.Errorf("%d IDs: %v; %d retries", len(seen), seen, retries)
	}
}

// A GET that gives way to another, or ends with its session, first says when to come
// back.
//
// Spec: 2025-11-25 basic/transports#listening-for-messages-from-the-server.
func TestDisplacedStreamSaysWhenToComeBack(t *testing.T) {
	ts, h := start(t, testServer(nil), nil)
	id := open(t, ts, "2025-11-25")
	first := ask(t, ts, "GET", "", "Mcp-Session-Id", id)
	second := ask(t, ts, "GET", "", "Mcp-Session-Id", id, "Last-Event-ID", "0_0")
	if got := text(t, first); !strings.HasSuffix(got, "retry: 1000\ndata: \n\n") {
		t.Errorf("the first ends with %q", got)
	}
	third := ask(t, ts, "GET", "", "Mcp-Session-Id", id)
	go func() { // ends with the sessions
		if err := h.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	for _, resp := range []*http.Response{second, third} {
		if got := text(t, resp); strings.Count(got, "retry: 1000") != 1 {
			t.Errorf("at the end of the server: %q", got)
		}
	}
}
