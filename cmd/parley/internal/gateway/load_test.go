package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/bridge"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/naming"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
)

// A server that is described as before goes on when the others change; clients stay, are
// told, and keep their subscriptions.
func TestLoad(t *testing.T) {
	for _, front := range modes {
		t.Run(front.String(), func(t *testing.T) {
			w := &world{g: gateway.New(gateway.Options{Info: mcp.Implementation{Name: "gateway", Version: "1"}, Logger: mcptest.Quiet()})}
			one, two, other := w.server("one"), w.server("two"), w.server("one")
			back := modes[0]
			first := []gateway.Server{behind(t, "one", one, back, bridge.SharePrincipal), behind(t, "two", two, back, bridge.SharePrincipal)}
			next := []gateway.Server{behind(t, "one", other, back, bridge.SharePrincipal), first[1], behind(t, "three", w.server("three"), back, bridge.SharePrincipal)}
			next[0].Same = "another"
			t.Cleanup(func() { _ = w.g.Close() })
			if err := w.g.Load(gateway.Setup{Servers: first}); err != nil {
				t.Fatal(err)
			}
			c := mcptest.Connect(t, w.g.View(""), front, nil)
			events := make(chan client.Event, 100)
			uris := []string{"mcp:one:test://static", "mcp:two:test://static"}
			sub, err := c.Listen(t.Context(), mcp.SubscriptionFilter{ToolsListChanged: true, ResourceSubscriptions: uris}, func(_ context.Context, e client.Event) { events <- e })
			if err != nil {
				t.Fatal(err)
			}
			if err := w.g.Load(gateway.Setup{Servers: next, Views: map[string]gateway.Part{"x": {Backends: []string{"none"}}}}); err == nil || !strings.Contains(err.Error(), `there is no backend "none"`) {
				t.Errorf("a wrong setup: %v", err)
			}
			if err := w.g.Load(gateway.Setup{Servers: next}); err != nil {
				t.Fatal(err)
			}
			want := map[mcp.Change]bool{{Kind: mcp.ToolsChanged}: true, {Kind: mcp.ResourceUpdated, URI: uris[0]}: true}
			for len(want) > 0 {
				e := within(t, "the change", events)
				if e.Change.URI == uris[1] {
					t.Error("what stays is said to have changed")
				}
				delete(want, e.Change)
			}
			other.ResourceUpdated("test://static")
			if e := within(t, "an update of the new server", events); e.Change.URI != uris[0] {
				t.Errorf("%+v", e)
			}
			two.ResourceUpdated("test://static")
			if e := within(t, "an update of the server that stays", events); e.Change.URI != uris[1] {
				t.Errorf("%+v", e)
			}
			if _, err := c.CallTool(t.Context(), "three__work", nil); err != nil {
				t.Error(err)
			}
			for _, s := range w.g.State() {
				if s.Name == "two" && s.Connected != 1 {
					t.Errorf("the server that stays was connected to %d times", s.Connected)
				}
			}
			if err := sub.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// A client that subscribes while another setup takes the place of the first is subscribed
// at the server that there is then.
func TestLoadWhileSubscribing(t *testing.T) {
	for _, front := range modes {
		for _, back := range modes {
			t.Run(front.String()+" to "+back.String(), func(t *testing.T) {
				w := &world{g: gateway.New(gateway.Options{Info: mcp.Implementation{Name: "gateway", Version: "1"}, Logger: mcptest.Quiet()})}
				one, other := w.server("one"), w.server("one")
				first, next := behind(t, "one", one, back, bridge.SharePrincipal), behind(t, "one", other, back, bridge.SharePrincipal)
				next.Same = "another"
				t.Cleanup(func() { _ = w.g.Close() })
				asked := make(chan struct{}, 10)
				one.Use(func(serve mcp.ServeFunc) mcp.ServeFunc {
					return func(ctx context.Context, x *mcp.Exchange) (any, error) {
						if x.Watch == nil || len(x.Watch.Filter.ResourceSubscriptions) == 0 {
							return serve(ctx, x)
						}
						asked <- struct{}{}
						<-ctx.Done() // until the gateway has left it
						return nil, ctx.Err()
					}
				})
				if err := w.g.Load(gateway.Setup{Servers: []gateway.Server{first}}); err != nil {
					t.Fatal(err)
				}
				w.g.Look(t.Context())
				c := mcptest.Connect(t, w.g.View(""), front, nil)
				events := make(chan client.Event, 100)
				listened := make(chan error, 1)
				go func() { // ends with the call
					_, err := c.Listen(t.Context(), mcp.SubscriptionFilter{ResourceSubscriptions: []string{"mcp:one:test://static"}}, func(_ context.Context, e client.Event) { events <- e })
					listened <- err
				}()
				within(t, "the subscription", asked)
				if err := w.g.Load(gateway.Setup{Servers: []gateway.Server{next}}); err != nil {
					t.Fatal(err)
				}
				if err := within(t, "the answer", listened); err != nil {
					t.Fatal(err)
				}
				other.ResourceUpdated("test://static")
				if e := within(t, "the change", events); e.Change.URI != "mcp:one:test://static" {
					t.Errorf("%+v", e)
				}
			})
		}
	}
}

// Nobody learns anything of what a view does not show.
func TestViews(t *testing.T) {
	w := &world{g: gateway.New(gateway.Options{Info: mcp.Implementation{Name: "gateway", Version: "1"}, Logger: mcptest.Quiet()})}
	servers := []gateway.Server{behind(t, "one", w.server("one"), modes[0], bridge.SharePrincipal), behind(t, "two", w.server("two"), modes[0], bridge.SharePrincipal)}
	t.Cleanup(func() { _ = w.g.Close() })
	err := w.g.Load(gateway.Setup{Servers: servers, Views: map[string]gateway.Part{
		"small":  {Backends: []string{"one"}, Tools: naming.Selection{Include: []string{"*work"}}, Prompts: naming.Selection{Include: []string{}}},
		"closed": {Principals: []string{"ann"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	w.g.Look(t.Context())
	for _, front := range modes {
		t.Run(front.String(), func(t *testing.T) {
			c := mcptest.Connect(t, w.g.View("small"), front, nil)
			if text := c.Instructions(); text != "# one\n\nUse one." {
				t.Errorf("the instructions are %q", text)
			}
			tools, err := client.Collect(c.Tools(t.Context()))
			if err != nil || len(tools) != 1 || tools[0].Name != "one__work" {
				t.Errorf("the tools are %+v, error %v", tools, err)
			}
			if prompts, err := client.Collect(c.Prompts(t.Context())); err != nil || len(prompts) != 0 {
				t.Errorf("the prompts are %+v, error %v", prompts, err)
			}
			for _, tool := range []string{"one__task", "two__work"} {
				if _, err := c.CallTool(t.Context(), tool, nil); err == nil || !strings.Contains(err.Error(), "unknown tool") {
					t.Errorf("%s: %v", tool, err)
				}
			}
			if _, err := c.ReadResource(t.Context(), "mcp:two:test://static"); !errors.Is(err, client.ErrNotFound) {
				t.Errorf("a resource of another view: %v", err)
			}
			for _, view := range []string{"closed", "none"} {
				c := mcptest.Connect(t, w.g.View(view), front, nil)
				if c.Instructions() != "" {
					t.Errorf("%s: %q", view, c.Instructions())
				}
				if _, err := c.CallTool(t.Context(), "one__work", nil); err == nil || !strings.Contains(err.Error(), "not for you") {
					t.Errorf("%s: %v", view, err)
				}
			}
		})
	}
}

// Params that can be read in two ways reach no server.
func TestTwoReadings(t *testing.T) {
	w := newWorld(t, modes[0], modes[0], bridge.SharePrincipal)
	for _, params := range []string{
		`{"name":"one__work","Name":"two__work"}`,
		`{"name":"one__work","arguments":{"a":1},"ARGUMENTS":{"a":2}}`,
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		_, err := w.c.Do(ctx, mcp.MethodCallTool, json.RawMessage(params))
		cancel()
		if err == nil || !strings.Contains(err.Error(), "-32602") && !strings.Contains(err.Error(), "case") {
			t.Errorf("%s: %v", params, err)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, got := range w.got {
		if strings.Contains(got, "work") {
			t.Errorf("it reached a server: %s", got)
		}
	}
}
