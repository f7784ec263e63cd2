package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/bridge"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/transport/streamable"
)

// vanishing is a gateway over HTTP in front of a server that asks its client something.
type vanishing struct {
	g       *gateway.Gateway
	handler *streamable.Handler
	site    *mcptest.Site
	working atomic.Int64 // calls of the server that have not ended
}

func newVanishing(t *testing.T, back mcptest.Mode) *vanishing {
	t.Helper()
	v := &vanishing{g: gateway.New(gateway.Options{Info: mcp.Implementation{Name: "gateway", Version: "1"}, Logger: mcptest.Quiet()})}
	s := server.New(mcp.Implementation{Name: "asking", Version: "1"}, &server.Options{Logger: mcptest.Quiet()})
	server.AddTool(s, mcp.Tool{Name: "ask"}, func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
		v.working.Add(1)
		defer v.working.Add(-1)
		_, err := server.Elicit[struct {
			Name string `json:"name"`
		}](ctx, call, "who", "Who are you?")
		return "", err
	})
	srv := behind(t, "b", s, back, bridge.SharePrincipal)
	srv.OnDemand, srv.Backend.Idle = true, 10*time.Minute
	if err := v.g.Load(gateway.Setup{Servers: []gateway.Server{srv}}); err != nil {
		t.Fatal(err)
	}
	var err error
	v.handler, err = streamable.New(v.g.View(""), &streamable.Options{
		ServeOptions: mcp.ServeOptions{Logger: mcptest.Quiet()}, KeepAlive: -1, Principal: func(r *http.Request) string { return r.Header.Get("X-Who") },
	})
	if err != nil {
		t.Fatal(err)
	}
	v.site = mcptest.NewSite(v.handler)
	t.Cleanup(func() { // before the server behind is waited for
		_ = v.handler.Close(context.Background()) // it waits as long as that takes
		_ = v.g.Close()
		v.site.Close()
	})
	return v
}

// line is how a client reaches the gateway, until it is cut: then nothing that it says
// arrives, not even that it leaves.
type line struct {
	*http.Client
	gone atomic.Bool
}

func (v *vanishing) line() *line {
	l := new(line)
	dial := v.site.Client.Transport.(*http.Transport).DialContext
	l.Client = &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		if l.gone.Load() {
			return nil, &net.OpError{Op: "dial", Net: network, Err: syscall.ENETUNREACH}
		}
		return dial(ctx, network, addr)
	}}}
	return l
}

// leaves makes a client call the tool, and vanish when it is asked something.
func (v *vanishing) leaves(t *testing.T, front mcptest.Mode, who string) {
	t.Helper()
	l, asked := v.line(), make(chan struct{})
	way := &streamable.Client{URL: v.site.URL, HTTP: l.Client, Header: http.Header{"X-Who": {who}}, Logger: mcptest.Quiet(), MaxReconnects: -1}
	c, err := client.Connect(t.Context(), way, &client.Options{
		Revisions: []mcp.Revision{front.Revision}, Logger: mcptest.Quiet(),
		Capabilities: &mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapability{Form: &mcp.Empty{}}},
		Answer: func(ctx context.Context, _ string, _ json.RawMessage) (json.RawMessage, error) {
			close(asked)
			<-ctx.Done()
			return nil, context.Cause(ctx)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	called := make(chan error, 1)
	go func() { // ends with the client at the latest
		result, err := c.Do(t.Context(), mcp.MethodCallTool, json.RawMessage(`{"name":"b__ask"}`), client.WithInputRequired())
		if err == nil {
			err = fmt.Errorf("it is answered by %s", result)
		}
		called <- err
	}()
	if stateless(front) {
		err := <-called
		if _, ok := errors.AsType[*mcp.InputRequired](err); !ok {
			t.Fatalf("nothing is asked: %v", err)
		}
	} else {
		select {
		case <-asked:
		case err := <-called:
			t.Fatalf("nothing is asked: %v", err)
		}
	}
	l.gone.Store(true)
	v.site.Cut()
	_ = c.Close() // nobody hears of it
	if !stateless(front) {
		<-called
	}
	l.CloseIdleConnections()
}

// vanish makes clients vanish, and lets all time pass that anything of them has.
func (v *vanishing) vanish(t *testing.T, front, back mcptest.Mode, clients int) {
	t.Helper()
	for i := range clients {
		v.leaves(t, front, fmt.Sprint("client-", i))
	}
	synctest.Wait()
	parks := 0
	if stateless(front) && !stateless(back) {
		parks = clients
	}
	state := v.g.State()[0]
	if n := v.working.Load(); state.Parked != parks || parks > 0 && (state.ParkedSince.IsZero() || n != int64(clients)) {
		t.Errorf("at first it is %+v, and the server has %d calls", state, n)
	}
	pass(2 * time.Hour) // in which sessions, parked calls and connections end
	synctest.Wait()
	state = v.g.State()[0]
	if n := v.working.Load(); n != 0 || state.Parked != 0 || !state.ParkedSince.IsZero() || state.InFlight != 0 || state.Used != 0 || state.Connections != 0 {
		t.Errorf("in the end the server has %d calls, and it is %+v", n, state)
	}
}

// A client that vanishes while it is asked something leaves nothing behind for good: its
// calls end, and all that belonged to them.
func TestVanishesWhileAsked(t *testing.T) {
	const clients = 20
	for _, front := range []mcptest.Mode{modes[1], modes[3]} {
		for _, back := range modes {
			t.Run(front.String()+" to "+back.String(), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					v := newVanishing(t, back)
					v.vanish(t, front, back, 1) // after which there is what one needs for any number
					before := runtime.NumGoroutine()
					v.vanish(t, front, back, clients)
					if n := runtime.NumGoroutine() - before; n >= clients/2 { // fewer are of connections that HTTP keeps for another request
						t.Errorf("%d goroutines are left of %d clients", n, clients)
					}
				})
			})
		}
	}
}
