package gateway_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/bridge"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway"
	"github.com/parley-mcp/parley/internal/access"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
)

// A resource that its server lets everybody keep is read once, until it says that it has
// changed; guards decide about each request all the same.
func TestReadsAreKept(t *testing.T) {
	for _, front := range modes {
		t.Run(front.String(), func(t *testing.T) {
			w := newWorld(t, front, modes[2], bridge.SharePrincipal)
			read := func(uri string, want int) {
				t.Helper()
				if _, err := w.c.ReadResource(t.Context(), uri, client.WithFresh()); err != nil {
					t.Fatal(err)
				}
				if got := w.reads.Load(); got != int64(want) {
					t.Errorf("%s: the servers were asked %d times, want %d", uri, got, want)
				}
			}
			read("mcp:one:test://static", 1)
			read("mcp:one:test://static", 1)
			read("mcp:two:test://static", 2)
			events := make(chan client.Event, 100)
			sub, err := w.c.Listen(t.Context(), mcp.SubscriptionFilter{ResourceSubscriptions: []string{"mcp:one:test://static"}},
				func(_ context.Context, e client.Event) { events <- e })
			if err != nil {
				t.Fatal(err)
			}
			w.one.ResourceUpdated("test://static")
			within(t, "the changed resource", events)
			read("mcp:one:test://static", 3)
			read("mcp:two:test://static", 3)
			if err := sub.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// What a server has said is not what another one of its name says that takes its place,
// however long it takes until the old one has left.
func TestReadsOfAnotherServer(t *testing.T) {
	w := &world{g: gateway.New(gateway.Options{Info: mcp.Implementation{Name: "gateway", Version: "1"}, Logger: mcptest.Quiet()})}
	setup := func(same string) gateway.Setup {
		s := gateway.Setup{ReadCache: 1 << 20}
		for _, name := range []string{"one", "two"} {
			srv := behind(t, name, w.server(name), modes[2], bridge.SharePrincipal)
			srv.Same = same
			s.Servers = append(s.Servers, srv)
		}
		return s
	}
	first, next, asked := setup("first"), setup("next"), make(chan struct{})
	reach := sync.OnceFunc(func() { close(asked) })
	t.Cleanup(func() { _ = w.g.Close() }) // before the servers are waited for
	t.Cleanup(reach)
	if err := w.g.Load(first); err != nil {
		t.Fatal(err)
	}
	c := mcptest.Connect(t, w.g.View(""), modes[2], nil)
	read := func(want int64) {
		t.Helper()
		if _, err := c.ReadResource(t.Context(), "mcp:one:test://static", client.WithFresh()); err != nil {
			t.Fatal(err)
		}
		if got := w.reads.Load(); got != want {
			t.Errorf("the servers were asked %d times, want %d", got, want)
		}
	}
	read(1)
	sub, err := c.Listen(t.Context(), mcp.SubscriptionFilter{ResourceSubscriptions: []string{"mcp:two:test://static"}}, func(context.Context, client.Event) {})
	if err != nil {
		t.Fatal(err)
	}
	next.Servers[1].Backend.Connect = func(ctx context.Context, _ *mcp.Peer, _ *client.Options) (*client.Client, error) {
		<-asked // the subscription does not get there before
		return nil, context.Canceled
	}
	if err := w.g.Load(next); err != nil {
		t.Fatal(err)
	}
	read(2)
	reach()
	if err := sub.Close(); err != nil {
		t.Error(err)
	}
}

// What a principal's access token lets it read is not shown to it with another one, which
// may be worth less.
//
// Spec: 2026-07-28 server/utilities/caching#cache-scope-field.
func TestReadsByToken(t *testing.T) {
	w := &world{g: gateway.New(gateway.Options{Info: mcp.Implementation{Name: "gateway", Version: "1"}, Logger: mcptest.Quiet()})}
	asked := 0
	s := server.New(mcp.Implementation{Name: "one", Version: "1"}, &server.Options{
		Logger: mcptest.Quiet(), Cache: map[string]server.CacheHint{mcp.MethodReadResource: {TTL: time.Hour, Scope: mcp.CachePrivate}},
	})
	s.AddResource(mcp.Resource{URI: "test://own", Name: "own"}, func(_ context.Context, _ *server.Call, uri string) (*mcp.ReadResourceResult, error) {
		asked++
		return server.Contents(mcp.TextResource(uri, "text/plain", "own")), nil
	})
	setup := gateway.Setup{ReadCache: 1 << 20, Servers: []gateway.Server{behind(t, "one", s, modes[2], bridge.SharePrincipal)}}
	t.Cleanup(func() { _ = w.g.Close() }) // before the server is waited for
	if err := w.g.Load(setup); err != nil {
		t.Fatal(err)
	}
	for i, token := range []string{"broad", "broad", "narrow", "broad", ""} {
		a := new(mcp.Authorization)
		access.KeepToken(a, token)
		_, err := w.g.View("").Serve(t.Context(), &mcp.Exchange{
			ID: jsonrpc.IntID(1), Method: mcp.MethodReadResource, Params: json.RawMessage(`{"uri":"mcp:one:test://own"}`), Back: unasked{},
			Peer: mcp.Peer{Revision: mcp.Revision20260728, Principal: "ann", Authorization: a},
		})
		if want := []int{1, 1, 2, 2, 3}[i]; err != nil || asked != want {
			t.Errorf("%d, the token %q: asked %d times, want %d; error %v", i, token, asked, want, err)
		}
	}
}

// What a server lists for one access token of a principal is not what it lists for
// another; what changes changes for all of them.
//
// Spec: 2026-07-28 server/utilities/caching#cache-scope-field.
func TestListsByToken(t *testing.T) {
	w := &world{g: gateway.New(gateway.Options{Info: mcp.Implementation{Name: "gateway", Version: "1"}, Logger: mcptest.Quiet()})}
	asked := 0
	s := server.New(mcp.Implementation{Name: "one", Version: "1"}, &server.Options{
		Logger: mcptest.Quiet(), Cache: map[string]server.CacheHint{mcp.MethodListTools: {TTL: time.Hour, Scope: mcp.CachePrivate}},
	})
	server.AddTool(s, mcp.Tool{Name: "own"}, func(context.Context, *server.Call, struct{}) (string, error) { return "", nil })
	s.Use(func(next mcp.ServeFunc) mcp.ServeFunc {
		return func(ctx context.Context, x *mcp.Exchange) (any, error) {
			if x.Method == mcp.MethodListTools {
				asked++
			}
			return next(ctx, x)
		}
	})
	setup := gateway.Setup{Servers: []gateway.Server{behind(t, "one", s, modes[2], bridge.SharePrincipal)}}
	t.Cleanup(func() { _ = w.g.Close() }) // before the server is waited for
	if err := w.g.Load(setup); err != nil {
		t.Fatal(err)
	}
	list := func(token string, want int) {
		t.Helper()
		a := new(mcp.Authorization)
		access.KeepToken(a, token)
		_, err := w.g.View("").Serve(t.Context(), &mcp.Exchange{
			ID: jsonrpc.IntID(1), Method: mcp.MethodListTools, Back: unasked{},
			Peer: mcp.Peer{Revision: mcp.Revision20260728, Principal: "ann", Authorization: a},
		})
		if err != nil || asked != want {
			t.Errorf("the token %q: asked %d times, want %d; error %v", token, asked, want, err)
		}
	}
	list("broad", 1)
	list("broad", 1)
	list("narrow", 2)
	list("broad", 2)
	list("", 3)
	w.g.Changed("one")
	list("broad", 4)
	list("narrow", 5)
	list("narrow", 5)
}

// unasked is the way to a client that wants nothing but the answer.
type unasked struct{ mcp.Backchannel }

func (unasked) LogEnabled(mcp.LoggingLevel) bool { return false }
