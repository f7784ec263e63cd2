package observe_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/transport/frames"
)

// peer is the other side of a connection in memory: it says what it is told to.
type peer struct {
	t    *testing.T
	conn frames.Conn
	end  func() // waits for what runs
}

func (p *peer) say(format string, args ...any) {
	p.t.Helper()
	if err := p.conn.Write(fmt.Appendf(nil, format, args...)); err != nil {
		p.t.Errorf("say: %v", err)
	}
}

// hear reads until a frame has a part in it.
func (p *peer) hear(part string) {
	p.t.Helper()
	for {
		frame, err := p.conn.Read()
		if err != nil {
			p.t.Fatalf("nothing more comes, and there was no %q: %v", part, err)
		}
		if strings.Contains(string(frame), part) {
			return
		}
	}
}

// close ends the connection, and waits for the other side.
func (p *peer) close() {
	_ = p.conn.Close() // closing a pipe does not fail
	p.end()
}

// pass lets time pass, in a bubble.
func pass(d time.Duration) { <-time.NewTimer(d).C }

// clientOf returns a client of a server, whose observers they are.
func clientOf(t *testing.T, h mcp.Handler, o observers) *peer {
	t.Helper()
	near, far := frames.Pipe()
	var served sync.WaitGroup
	served.Go(func() { // ends with the connection; close waits for it
		_ = frames.Serve(context.Background(), h, far, &frames.Options{ServeOptions: o.serve()}) // how it ends is not what this is about
	})
	p := &peer{t, near, served.Wait}
	t.Cleanup(p.close)
	return p
}

// initialize opens a session.
func (p *peer) initialize() {
	p.t.Helper()
	p.say(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)
	p.hear(`"id":0`)
	p.say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

// call calls the tool "t"; meta is the _meta of the request.
func (p *peer) call(meta string) {
	p.t.Helper()
	p.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":{},"_meta":{%s}}}`, meta)
}

// wantsProgress is the _meta of a call that wants progress.
const wantsProgress = `"progressToken":"p"`

// with returns a server with the tool "t".
func with(tool func(ctx context.Context, call *server.Call), opts *server.Options) *server.Server {
	o := server.Options{}
	if opts != nil {
		o = *opts
	}
	o.Logger, o.Revisions = mcptest.Quiet(), []mcp.Revision{mcp.Revision20251125}
	s := server.New(mcp.Implementation{Name: "s", Version: "1"}, &o)
	server.AddTool(s, mcp.Tool{Name: "t"}, func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
		tool(ctx, call)
		return "done", nil
	})
	return s
}

// serverOf returns a client, whose observers they are, and its server. answer is
// the result of what the client asks first.
func serverOf(t *testing.T, o observers, r mcp.Revision, answer string) (*client.Client, *peer) {
	t.Helper()
	near, far := frames.Pipe()
	p := &peer{t, far, func() {}}
	opened := make(chan struct{})
	go func() { // ends when the client has asked
		defer close(opened)
		p.hear(`"id":1`)
		p.say(`{"jsonrpc":"2.0","id":1,"result":%s}`, answer)
	}()
	transport := &frames.Client{Label: "p", Dial: func(context.Context) (frames.Conn, error) { return near, nil }}
	c, err := client.Connect(t.Context(), transport, &client.Options{Revisions: []mcp.Revision{r}, Logger: mcptest.Quiet(), Tap: o.tap, Drops: o.drops})
	if err != nil {
		t.Fatal(err)
	}
	<-opened
	t.Cleanup(func() { _ = c.Close() }) // the connection may have ended before
	return c, p
}

func sessionOf(t *testing.T, o observers) (*client.Client, *peer) {
	t.Helper()
	return serverOf(t, o, mcp.Revision20251125, `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}`)
}

func statelessOf(t *testing.T, o observers) (*client.Client, *peer) {
	t.Helper()
	return serverOf(t, o, mcp.Revision20260728,
		`{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{},"ttlMs":0,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}}`)
}
