//go:build !race

package streamable_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/transport/streamable"
)

// What one validated typed call may cost a server over HTTP, including the share
// of net/http. The race detector makes its own allocations.
const (
	maxAllocations = 60
	maxBytes       = 6 << 10
)

func TestBudgetOfACall(t *testing.T) {
	for _, era := range []string{"session", "stateless"} {
		t.Run(era, func(t *testing.T) {
			result := testing.Benchmark(func(b *testing.B) { benchmarkCall(b, era == "stateless") })
			if got := result.AllocsPerOp(); got > maxAllocations {
				t.Errorf("a call makes %d allocations; the budget is %d", got, maxAllocations)
			}
			if got := result.AllocedBytesPerOp(); got > maxBytes {
				t.Errorf("a call takes %d bytes; the budget is %d", got, maxBytes)
			}
			t.Logf("%d allocations, %d bytes", result.AllocsPerOp(), result.AllocedBytesPerOp())
		})
	}
}

func BenchmarkCall(b *testing.B) {
	b.Run("session", func(b *testing.B) { benchmarkCall(b, false) })
	b.Run("stateless", func(b *testing.B) { benchmarkCall(b, true) })
}

func benchmarkCall(b *testing.B, stateless bool) {
	s := server.New(mcp.Implementation{Name: "b", Version: "1"}, &server.Options{Logger: mcptest.Quiet(), ToolRate: mcp.Rate{PerSecond: 1e9}})
	type pair struct {
		A int `json:"a"`
		B int `json:"b"`
	}
	type sum struct {
		Sum int `json:"sum"`
	}
	server.AddTool(s, mcp.Tool{Name: "add"}, func(_ context.Context, _ *server.Call, in pair) (sum, error) {
		return sum{in.A + in.B}, nil
	})
	h, err := streamable.New(s, &streamable.Options{ServeOptions: mcp.ServeOptions{Logger: mcptest.Quiet()}, Rate: -1})
	if err != nil {
		b.Fatal(err)
	}
	c := newRawClient(b, h)
	request := rawRequest("Mcp-Method: tools/call\r\nMcp-Name: add\r\nMCP-Protocol-Version: 2026-07-28\r\n",
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"a":1,"b":2},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"b","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`)
	if !stateless {
		head, _ := c.send(rawRequest("", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"b","version":"1"}}}`))
		_, id, _ := strings.Cut(head, "Mcp-Session-Id: ")
		id, _, _ = strings.Cut(id, "\r\n")
		request = rawRequest("Mcp-Session-Id: "+id+"\r\nMCP-Protocol-Version: 2025-11-25\r\n",
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"a":1,"b":2}}}`)
	}
	for range 2 {
		if head, body := c.send(request); !strings.Contains(body, `"sum":3`) {
			b.Fatalf("got %s%s", head, body)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		c.exchange(request)
	}
}

func rawRequest(header, body string) []byte {
	return fmt.Appendf(nil, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n%sContent-Length: %d\r\n\r\n%s", header, len(body), body)
}

// rawClient is a client that hardly allocates.
type rawClient struct {
	b    *testing.B
	conn net.Conn
	r    *bufio.Reader
}

func newRawClient(b *testing.B, h *streamable.Handler) *rawClient {
	web := httptest.NewServer(h)
	conn, err := new(net.Dialer).DialContext(b.Context(), "tcp", web.Listener.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = conn.Close()
		_ = h.Close(context.Background())
		web.Close()
	})
	return &rawClient{b: b, conn: conn, r: bufio.NewReader(conn)}
}

// send sends a request and returns the head and the body of its answer.
func (c *rawClient) send(request []byte) (head, body string) {
	c.write(request)
	length := c.head(func(line []byte) { head += string(line) })
	content, err := c.r.Peek(length)
	if err != nil {
		c.b.Fatal(err)
	}
	body = string(content)
	c.discard(length)
	return head, body
}

// exchange sends a request and skips its answer, which must be a result.
func (c *rawClient) exchange(request []byte) {
	c.write(request)
	ok := false
	c.discard(c.head(func(line []byte) { ok = ok || bytes.HasPrefix(line, []byte("HTTP/1.1 200")) }))
	if !ok {
		c.b.Fatal("a call was refused")
	}
}

func (c *rawClient) write(request []byte) {
	if _, err := c.conn.Write(request); err != nil {
		c.b.Fatal(err)
	}
}

func (c *rawClient) discard(n int) {
	if _, err := c.r.Discard(n); err != nil {
		c.b.Fatal(err)
	}
}

// head reads a head, shows its lines, and returns the length of the body.
func (c *rawClient) head(show func(line []byte)) (length int) {
	for {
		line, err := c.r.ReadSlice('\n')
		if err != nil {
			c.b.Fatal(err)
		}
		show(line)
		if digits, ok := bytes.CutPrefix(line, []byte("Content-Length: ")); ok {
			for _, d := range bytes.TrimSpace(digits) {
				length = 10*length + int(d-'0')
			}
		}
		if len(line) == 2 {
			return length
		}
	}
}
