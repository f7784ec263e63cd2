package hostile_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/transport/sse"
	"github.com/parley-mcp/parley/transport/streamable"
)

// A client that requests much and reads nothing is disconnected, while others
// are served.
func TestSlowReaders(t *testing.T) {
	s := newTarget()
	server.AddTool(s, mcp.Tool{Name: "big"}, func(context.Context, *server.Call, struct{}) (string, error) {
		return strings.Repeat("x", 6<<20), nil
	})
	opts := mcp.ServeOptions{Logger: mcptest.Quiet()}
	h, err := streamable.New(s, &streamable.Options{ServeOptions: opts, WriteTimeout: 5 * shortly})
	if err != nil {
		t.Fatal(err)
	}
	old, err := sse.New(s, &sse.Options{ServeOptions: opts, WriteTimeout: 5 * shortly})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range toServers[2:] { // over pipes, a server has only one client
		handler := http.Handler(h)
		if r.transport == "sse" {
			handler = old
		}
		t.Run(r.String(), func(t *testing.T) { stall(t, handler, r) })
	}
	for _, closing := range []interface {
		Close(ctx context.Context) error
	}{h, old} {
		if err := closing.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}
}

// stall makes one client over a route stop reading.
func stall(t *testing.T, h http.Handler, r route) {
	t.Helper()
	gone := make(chan string, 16)
	web := httptest.NewUnstartedServer(h)
	web.Config.ConnState = func(c net.Conn, s http.ConnState) {
		if s == http.StateClosed {
			gone <- c.RemoteAddr().String()
		}
	}
	web.Start()
	defer web.Close()
	a := &arena{web: web, sse: web}
	bystander, victim := a.peer(t, r, nil), a.peer(t, r, nil)
	defer bystander.end()
	defer victim.end()
	stalled := stop(t, victim, fmt.Sprintf(`{"jsonrpc":"2.0","id":"big","method":"tools/call","params":{%s,"name":"big","arguments":{}}}`, metaOf(r.era)))
	bystander.serves(t)
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for cut := ""; cut != stalled.LocalAddr().String(); {
		select {
		case cut = <-gone:
		case <-timer.C:
			t.Fatal("the client that does not read was not disconnected")
		}
	}
	bystander.serves(t)
	if p, ok := victim.(*ssePeer); ok {
		if got := p.exchange(p.request(new(entry), good("late", r.era))); got.status != http.StatusNotFound {
			t.Errorf("a POST of the client that was disconnected: %+v", got)
		}
	}
}

// stop sends a request, and returns the connection on which the answer arrives
// but is not read.
func stop(t *testing.T, victim peer, request string) net.Conn {
	t.Helper()
	if p, ok := victim.(*ssePeer); ok {
		small(p.down)
		p.post(request)
		return p.down
	}
	p, _ := victim.(*httpPeer)
	small(p.conn)
	if _, err := io.WriteString(p.conn, p.request(new(entry), request)); err != nil {
		t.Fatal(err)
	}
	return p.conn
}

// small makes the kernel buffer little for a reader.
func small(conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetReadBuffer(4096) // only makes the test faster
	}
}
