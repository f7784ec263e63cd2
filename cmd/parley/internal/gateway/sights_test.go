package gateway_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/bridge"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/policy"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
)

// withPolicies returns a gateway in front of the servers "one" and "two", with policies.
func withPolicies(t *testing.T, rules string, views map[string]gateway.Part) *gateway.Gateway {
	t.Helper()
	p, err := policy.New([]policy.Source{{Name: "rules.cedar", Text: "permit(principal, action, resource); " + rules}}, policy.Options{Logger: mcptest.Quiet()})
	if err != nil {
		t.Fatal(err)
	}
	g := gateway.New(gateway.Options{Info: mcp.Implementation{Name: "gateway", Version: "1"}, Logger: mcptest.Quiet()})
	setup := gateway.Setup{Guards: []guard.Guard{p}, Views: views, Servers: []gateway.Server{
		behind(t, "one", named("one"), modes[2], bridge.SharePrincipal), behind(t, "two", named("two"), modes[2], bridge.SharePrincipal),
	}}
	t.Cleanup(func() { _ = g.Close() }) // before the servers are waited for
	if err := g.Load(setup); err != nil {
		t.Fatal(err)
	}
	g.Look(t.Context())
	return g
}

// What a view lists, or finds, is what can be called in it, if policies ask for the view.
func TestListsOfViews(t *testing.T) {
	g := withPolicies(t, `
		forbid(principal, action, resource == Tool::"one__hello") when { ["work", "look"].contains(context.view) };
		forbid(principal, action, resource == Tool::"two__hello") unless { ["work", "look"].contains(context.view) };`,
		map[string]gateway.Part{"work": {DefaultFor: []string{"ann"}}, "look": {Search: true}})
	for _, test := range []struct{ view, principal, shows, hides string }{
		{"", "bob", "one__hello", "two__hello"}, {"work", "ann", "two__hello", "one__hello"}, {"", "ann", "two__hello", "one__hello"},
	} {
		c := mcptest.Connect(t, namedAs{g.View(test.view), test.principal}, modes[3], nil)
		if got := listed(t, c); got != test.shows {
			t.Errorf("%s sees %s in the view %q, want %s", test.principal, got, test.view, test.shows)
		}
		if _, err := client.Call[string](t.Context(), c, test.shows, nil); err != nil {
			t.Errorf("%s is listed, but %v", test.shows, err)
		}
		if _, err := client.Call[string](t.Context(), c, test.hides, nil); err == nil {
			t.Errorf("%s is not listed, but can be called", test.hides)
		}
	}
	c := mcptest.Connect(t, namedAs{g.View("look"), "bob"}, modes[3], nil)
	found, err := c.Do(t.Context(), mcp.MethodCallTool, json.RawMessage(`{"name":"find_tools","arguments":{"query":"hello"}}`))
	if text := string(found); err != nil || !strings.Contains(text, "two__hello") || strings.Contains(text, "one__hello") {
		t.Errorf("found %s, error %v", text, err)
	}
}

// What a server tells models reaches only those to whom policies permit something of it.
func TestInstructionsByPolicy(t *testing.T) {
	g := withPolicies(t, `
		forbid(principal, action, resource in Backend::"two") unless { principal == User::"ann" };
		forbid(principal, action, resource in Backend::"one") when { context.view == "work" };`, map[string]gateway.Part{"work": {}})
	for _, front := range []mcptest.Mode{modes[0], modes[3]} {
		for range 2 { // they come in turn
			for _, test := range []struct{ view, principal, want string }{
				{"", "ann", "# one\n\nThis is one.\n\n# two\n\nThis is two."},
				{"", "eve", "# one\n\nThis is one."},
				{"work", "ann", "# two\n\nThis is two."},
				{"work", "eve", ""},
			} {
				c := mcptest.Connect(t, namedAs{g.View(test.view), test.principal}, front, nil)
				if got := c.Instructions(); got != test.want {
					t.Errorf("%s: %s is told %q in the view %q, want %q", front, test.principal, got, test.view, test.want)
				}
			}
		}
	}
}
