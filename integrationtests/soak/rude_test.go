package soak_test

import (
	"fmt"
	"io"
	"net"
	"time"
)

const (
	head  = "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: %s\r\n%sContent-Length: %d\r\n\r\n"
	meta  = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	big   = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{` + meta + `,"name":"big","arguments":{}}}`
	watch = `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{` + meta + `,"notifications":{"toolsListChanged":true}}}`
)

// dial connects to the server directly, without net/http.
func (r *run) dial() *net.TCPConn {
	conn, err := net.Dial("tcp", r.web.Listener.Addr().String())
	if err != nil {
		r.t.Errorf("dial: %v", err)
		return nil
	}
	tcp, _ := conn.(*net.TCPConn)
	_ = tcp.SetReadBuffer(4096)
	return tcp
}

// lazy requests much, and reads it slowly or not at all.
func (r *run) lazy() {
	for n := 0; r.ctx.Err() == nil; n++ {
		conn := r.dial()
		if conn == nil {
			return
		}
		method, name, body := "tools/call", "Mcp-Name: big\r\n", big
		if n%2 == 1 {
			method, name, body = "subscriptions/listen", "", watch
		}
		_, _ = fmt.Fprintf(conn, head+"%s", method, name, len(body), body)
		for i := 0; i < n%10 && pause(r.ctx, 20*time.Millisecond); i++ {
			_ = conn.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
			_, _ = io.CopyN(io.Discard, conn, 100)
		}
		pause(r.ctx, 100*time.Millisecond)
		_ = conn.Close()
	}
}

// halfway sends a part of a request, and then disconnects abruptly or stays.
func (r *run) halfway() {
	for n := 0; r.ctx.Err() == nil; n++ {
		conn := r.dial()
		if conn == nil {
			return
		}
		request := fmt.Sprintf(head+"%s", "tools/call", "Mcp-Name: big\r\n", len(big), big)
		_, _ = io.WriteString(conn, request[:len(request)*(n%11)/11])
		if n%3 == 0 {
			pause(r.ctx, 400*time.Millisecond) // longer than the server waits for a body
		}
		pause(r.ctx, 5*time.Millisecond)
		_ = conn.SetLinger(0) // a reset instead of an end
		_ = conn.Close()
	}
}
