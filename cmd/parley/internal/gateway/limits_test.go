package gateway_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/bridge"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	limits "github.com/parley-mcp/parley/cmd/parley/internal/gateway/limit"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
)

// What the gateway answers by itself counts for each principal where a limit names its
// method, and nothing else does.
func TestLimitedLists(t *testing.T) {
	for _, front := range modes {
		t.Run(front.String(), func(t *testing.T) {
			for _, test := range []struct {
				view, method, params string
			}{
				{"", mcp.MethodListTools, ""},
				{"", mcp.MethodListResources, ""},
				{"search", mcp.MethodListTools, ""},
				{"search", mcp.MethodCallTool, `{"name":"find_tools","arguments":{"query":"hello"}}`},
			} {
				g := gateway.New(gateway.Options{Info: mcp.Implementation{Name: "gateway", Version: "1"}, Logger: mcptest.Quiet()})
				setup := gateway.Setup{
					ListTimeout: 20 * time.Second, Views: map[string]gateway.Part{"search": {Search: true}},
					Servers: []gateway.Server{behind(t, "one", named("one"), modes[2], bridge.SharePrincipal)},
					Guards:  []guard.Guard{limits.New([]limits.Rule{{By: []limits.Dimension{limits.ByPrincipal}, Method: test.method, Rate: 0.001, Burst: 1}})},
				}
				t.Cleanup(func() { _ = g.Close() }) // before the server is waited for
				if err := g.Load(setup); err != nil {
					t.Fatal(err)
				}
				var params any
				if test.params != "" {
					params = json.RawMessage(test.params)
				}
				connect := func(principal string) *client.Client { // which asks each time
					return mcptest.Connect(t, namedAs{g.View(test.view), principal}, front, &client.Options{NoCache: true})
				}
				alice, bob := connect("alice"), connect("bob")
				if _, err := alice.Do(t.Context(), test.method, params); err != nil {
					t.Errorf("%+v: the first fails: %v", test, err)
				}
				if _, err := alice.Do(t.Context(), test.method, params); err == nil || !strings.Contains(err.Error(), "operations of this principal: there are too many; try again in") {
					t.Errorf("%+v: the second: %v", test, err)
				}
				if _, err := bob.Do(t.Context(), test.method, params); err != nil {
					t.Errorf("%+v: that of another principal fails: %v", test, err)
				}
				if _, err := alice.Do(t.Context(), mcp.MethodListPrompts, nil); err != nil {
					t.Errorf("%+v: another method fails: %v", test, err)
				}
			}
		})
	}
}

// So do lists of tasks, whichever servers have some.
func TestLimitedTasks(t *testing.T) {
	g := gateway.New(gateway.Options{Logger: mcptest.Quiet()})
	t.Cleanup(func() { _ = g.Close() })
	err := g.Load(gateway.Setup{Guards: []guard.Guard{limits.New([]limits.Rule{{Method: "*", Concurrent: 10, Rate: 0.001, Burst: 1}})}})
	if err != nil {
		t.Fatal(err)
	}
	for i, fails := range []bool{false, true} {
		_, err := g.View("").Serve(t.Context(), &mcp.Exchange{ID: jsonrpc.IntID(int64(i + 1)), Method: mcp.MethodListTasks})
		if (err != nil) != fails {
			t.Errorf("list %d: %v", i, err)
		}
	}
}
