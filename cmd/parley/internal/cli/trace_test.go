package cli

import (
	"context"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
)

func TestTraceShowsEveryMessageOnce(t *testing.T) {
	s := server.New(mcp.Implementation{Name: "s", Version: "1"}, nil)
	server.AddTool(s, mcp.Tool{Name: "ask"}, func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
		call.Progress(ctx, 1, 2, "")
		return server.SampleText(ctx, call, "q", "why?", 1)
	})
	ctx, cancel := context.WithCancel(t.Context())
	server.AddTool(s, mcp.Tool{Name: "hang"}, func(own context.Context, _ *server.Call, _ struct{}) (string, error) {
		cancel()
		<-own.Done()
		return "", own.Err()
	})
	a, c := newTestApp("", false)
	inner := &mcptest.Transport{Handler: s, Serve: &mcp.ServeOptions{Logger: mcptest.Quiet()}}
	conn, err := client.Connect(t.Context(), inner, &client.Options{
		Tap:       a.traceEvent,
		Revisions: []mcp.Revision{mcp.Revision20250618},
		Logger:    mcptest.Quiet(),
		Sample: func(context.Context, *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) {
			return &mcp.CreateMessageResult{Role: mcp.RoleAssistant, Content: mcp.OneOrMany{mcp.Text("because")}, Model: "m"}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.CallTool(t.Context(), "ask", nil, client.WithProgress(func(*mcp.ProgressParams) {})); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.CallTool(ctx, "hang", nil); err == nil {
		t.Error("a cancelled call has no error")
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	inner.Wait()
	trace := c.err.String()
	for _, part := range []string{
		`→ {"jsonrpc":"2.0","id":1,"method":"initialize"`,
		`← {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18"`,
		`→ {"jsonrpc":"2.0","method":"notifications/initialized"`,
		`→ {"jsonrpc":"2.0","id":2,"method":"tools/call"`,
		`← {"jsonrpc":"2.0","method":"notifications/progress"`,
		`"method":"sampling/createMessage"`,
		`"text":"because"},"model":"m"`,
		`← {"jsonrpc":"2.0","id":2,"result"`,
		`✗ no answer to tools/call: context canceled`,
	} {
		if n := strings.Count(trace, part); n != 1 {
			t.Errorf("%s is there %d times in\n%s", part, n, trace)
		}
	}
}

// Over HTTP, requests and responses are shown as well, but nothing of their
// headers.
func TestTraceOverHTTP(t *testing.T) {
	a, c := newTestApp("", false)
	inner := &mcptest.Transport{Handler: server.New(mcp.Implementation{Name: "s", Version: "1"}, nil), Over: mcptest.HTTP, Serve: &mcp.ServeOptions{Logger: mcptest.Quiet()}}
	conn, err := client.Connect(t.Context(), inner, &client.Options{Tap: a.traceEvent, Revisions: []mcp.Revision{mcp.Revision20250618}, Logger: mcptest.Quiet()})
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	inner.Wait()
	trace := c.err.String()
	for _, part := range []string{"→ HTTP POST\n", "← HTTP 200 OK\n", "← HTTP 202 Accepted\n", "→ HTTP GET\n", "→ HTTP DELETE\n", "← HTTP 204 No Content\n"} {
		if !strings.Contains(trace, part) {
			t.Errorf("%q is not in\n%s", part, trace)
		}
	}
	if strings.Contains(trace, "Mcp-Session-Id") {
		t.Errorf("headers are in\n%s", trace)
	}
}

func TestPrefixedLines(t *testing.T) {
	a, c := newTestApp("", false)
	p := &prefixed{out: a.err, prefix: "> "}
	for _, part := range []string{"one\ntw", "o\n", "\nrest"} {
		if n, err := p.Write([]byte(part)); n != len(part) || err != nil {
			t.Fatalf("Write(%q) = %d, %v", part, n, err)
		}
	}
	if got, want := c.err.String(), "> one\n> two\n> \n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
