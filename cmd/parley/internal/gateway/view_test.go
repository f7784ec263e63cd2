package gateway_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/bridge"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/naming"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
)

// namedAs is a handler whose clients are all one principal.
type namedAs struct {
	mcp.Handler

	principal string
}

func (a namedAs) Describe(ctx context.Context, peer *mcp.Peer) *mcp.Description {
	if peer != nil {
		own := *peer
		own.Principal = a.principal
		peer = &own
	}
	return a.Handler.Describe(ctx, peer)
}

func (a namedAs) Serve(ctx context.Context, x *mcp.Exchange) (any, error) {
	own := *x
	own.Peer.Principal = a.principal
	return a.Handler.Serve(ctx, &own)
}

// oldest is a client of 2024-11-05, at /sse.
var oldest = mcptest.Mode{Revision: mcp.Revision20241105, Transport: mcptest.SSE}

// Where no view is named, a principal gets the one that is theirs, by whatever way they come:
// they see and call what it has, hear of that, and learn when it is another one.
func TestDefaultView(t *testing.T) {
	for _, front := range append(slices.Clone(modes), oldest) {
		t.Run(front.String(), func(t *testing.T) {
			w := &world{g: gateway.New(gateway.Options{Info: mcp.Implementation{Name: "gateway", Version: "1"}, Logger: mcptest.Quiet()})}
			setup := gateway.Setup{
				ListTimeout: 20 * time.Second,
				Servers: []gateway.Server{
					behind(t, "one", named("one"), modes[2], bridge.SharePrincipal), behind(t, "two", named("two"), modes[2], bridge.SharePrincipal),
				},
				Views: map[string]gateway.Part{
					"first":  {Backends: []string{"one"}, DefaultFor: []string{"alice"}, Principals: []string{"carol"}},
					"second": {Backends: []string{"two"}},
				},
			}
			t.Cleanup(func() { _ = w.g.Close() }) // before the servers are waited for
			if err := w.g.Load(setup); err != nil {
				t.Fatal(err)
			}
			w.g.Look(t.Context())
			connect := func(view, principal string) *client.Client {
				return mcptest.Connect(t, namedAs{w.g.View(view), principal}, front, nil)
			}
			alice := connect("", "alice")
			for _, test := range []struct {
				c    *client.Client
				name string
				want string
			}{
				{alice, "alice", "one__hello"},
				{connect("", "bob"), "bob", "one__hello two__hello"},
				{connect("first", "alice"), "alice at the view", "one__hello"},
				{connect("first", "carol"), "carol at the view", "one__hello"},
				{connect("second", "alice"), "alice at another view", "two__hello"},
			} {
				if got := listed(t, test.c); got != test.want {
					t.Errorf("%s sees %s, want %s", test.name, got, test.want)
				}
			}
			if text := alice.Instructions(); !strings.Contains(text, "This is one.") || strings.Contains(text, "This is two.") {
				t.Errorf("alice is told %q", text)
			}
			if got, err := client.Call[string](t.Context(), alice, "one__hello", nil); err != nil || got != "one" {
				t.Errorf("%q, %v", got, err)
			}
			if _, err := client.Call[string](t.Context(), alice, "two__hello", nil); err == nil || !strings.Contains(err.Error(), "unknown tool") {
				t.Errorf("a tool of another view: %v", err)
			}
			if _, err := connect("first", "bob").ListTools(t.Context(), nil); err == nil {
				t.Error("bob may use the view of others")
			}
			setup.Views = map[string]gateway.Part{"second": {Backends: []string{"two"}, DefaultFor: []string{"alice"}}}
			if err := w.g.Load(setup); err != nil {
				t.Fatal(err)
			}
			if got := listed(t, alice); got != "two__hello" {
				t.Errorf("with another configuration, alice sees %s", got)
			}
		})
	}
}

// What everybody may keep of a list is not what one principal is shown in its place.
func TestDefaultViewScope(t *testing.T) {
	g := gateway.New(gateway.Options{Info: mcp.Implementation{Name: "gateway", Version: "1"}, Logger: mcptest.Quiet()})
	one := server.New(mcp.Implementation{Name: "one", Version: "1"}, &server.Options{Logger: mcptest.Quiet(), Cache: map[string]server.CacheHint{mcp.MethodListTools: {TTL: time.Hour, Scope: mcp.CachePublic}}})
	server.AddTool(one, mcp.Tool{Name: "hello"}, func(context.Context, *server.Call, struct{}) (string, error) { return "", nil })
	setup := gateway.Setup{ListTimeout: 20 * time.Second, Servers: []gateway.Server{behind(t, "one", one, modes[3], bridge.SharePrincipal)}}
	t.Cleanup(func() { _ = g.Close() }) // before the server is waited for
	for scope, views := range map[string]map[string]gateway.Part{
		`"cacheScope":"public"`:  {"first": {}},
		`"cacheScope":"private"`: {"first": {DefaultFor: []string{"alice"}}},
	} {
		setup.Views = views
		if err := g.Load(setup); err != nil {
			t.Fatal(err)
		}
		raw, err := mcptest.Connect(t, g.View(""), modes[3], nil).Do(t.Context(), mcp.MethodListTools, nil)
		if err != nil || !strings.Contains(string(raw), scope) {
			t.Errorf("want %s: %s, %v", scope, raw, err)
		}
	}
}

// Nobody gets two views.
func TestDefaultViews(t *testing.T) {
	g := gateway.New(gateway.Options{Logger: mcptest.Quiet()})
	t.Cleanup(func() { _ = g.Close() })
	err := g.Load(gateway.Setup{Views: map[string]gateway.Part{"a": {DefaultFor: []string{"alice"}}, "b": {DefaultFor: []string{"alice"}}}})
	if err == nil || !strings.Contains(err.Error(), `"alice" gets both the view "a" and the view "b"`) {
		t.Errorf("error %v", err)
	}
}

// A list has pages of the size that is configured, and all of it arrives.
func TestPages(t *testing.T) {
	for _, front := range append(slices.Clone(modes), oldest) {
		t.Run(front.String(), func(t *testing.T) {
			g := gateway.New(gateway.Options{Info: mcp.Implementation{Name: "gateway", Version: "1"}, Logger: mcptest.Quiet()})
			const tools, size = 7, 3
			setup := gateway.Setup{ListTimeout: 20 * time.Second, PageSize: size}
			for _, name := range []string{"one", "two"} {
				s := server.New(mcp.Implementation{Name: name, Version: "1"}, &server.Options{Logger: mcptest.Quiet(), PageSize: 2})
				for i := range tools {
					server.AddTool(s, mcp.Tool{Name: fmt.Sprint("tool", i)}, func(context.Context, *server.Call, struct{}) (string, error) { return "", nil })
				}
				setup.Servers = append(setup.Servers, behind(t, name, s, modes[2], bridge.SharePrincipal))
			}
			setup.Views = map[string]gateway.Part{"few": {Tools: naming.Selection{Include: []string{"*tool1", "*tool2"}}}}
			t.Cleanup(func() { _ = g.Close() }) // before the servers are waited for
			if err := g.Load(setup); err != nil {
				t.Fatal(err)
			}
			for view, want := range map[string][]int{"": {3, 3, 3, 3, 2}, "few": {3, 1}} {
				c := mcptest.Connect(t, g.View(view), front, nil)
				seen := map[string]bool{}
				var sizes []int
				for cursor := (*string)(nil); ; {
					page, err := c.ListTools(t.Context(), cursor)
					if err != nil {
						t.Fatal(err)
					}
					for _, tool := range page.Tools {
						seen[tool.Name] = true
					}
					sizes = append(sizes, len(page.Tools))
					if cursor = page.NextCursor; cursor == nil {
						break
					}
				}
				total := 0
				for _, n := range want {
					total += n
				}
				if !slices.Equal(sizes, want) || len(seen) != total {
					t.Errorf("%q: pages of %v with %d tools, want %v", view, sizes, len(seen), want)
				}
				if all, err := client.Collect(c.Tools(t.Context())); err != nil || len(all) != total {
					t.Errorf("%q: a client gets %d tools, %v", view, len(all), err)
				}
			}
		})
	}
}

// named is a server with a tool that says its name.
func named(name string) *server.Server {
	s := server.New(mcp.Implementation{Name: name, Version: "1"}, &server.Options{Logger: mcptest.Quiet(), Instructions: "This is " + name + "."})
	server.AddTool(s, mcp.Tool{Name: "hello"}, func(context.Context, *server.Call, struct{}) (string, error) { return name, nil })
	return s
}

// listed returns the names of the tools that a client sees.
func listed(t *testing.T, c *client.Client) string {
	t.Helper()
	tools, err := client.Collect(c.Tools(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range tools {
		names = append(names, tool.Name)
	}
	return strings.Join(names, " ")
}
