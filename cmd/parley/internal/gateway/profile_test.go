package gateway_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/bridge"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/profile"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
)

// Clients see tools in the form that their models take, by what they say they are or by
// their view, and what they send goes through as it is.
func TestProfiles(t *testing.T) {
	for _, front := range modes {
		t.Run(front.String(), func(t *testing.T) {
			w := &world{g: gateway.New(gateway.Options{Info: mcp.Implementation{Name: "gateway", Version: "1"}, Logger: mcptest.Quiet()})}
			one := w.server("one")
			addTool(one, "choose", `{"type":"object","oneOf":[{"required":["a"],"properties":{"a":{"type":"string"}}}]}`)
			addTool(one, "odd", `{"type":"object","required":["a b"],"properties":{"a b":{"type":"string"}}}`)
			setup := gateway.Setup{
				ListTimeout: 20 * time.Second, Profile: profile.Auto, Clients: []profile.Client{{Pattern: "acme-*", Profile: "openai"}},
				Views:   map[string]gateway.Part{"plain": {Profile: profile.None}, "claude": {Profile: "claude"}},
				Servers: []gateway.Server{behind(t, "one", one, modes[2], bridge.SharePrincipal)},
			}
			t.Cleanup(func() { _ = w.g.Close() })
			if err := w.g.Load(setup); err != nil {
				t.Fatal(err)
			}
			for _, c := range []struct {
				view, client string
				adapted      bool // the root of the schema
				odd          bool // the tool whose parameter Claude refuses
			}{
				{"", "claude-code", true, false}, {"", "other", false, true}, {"", "acme-agent", true, true}, {"plain", "claude-code", false, true}, {"claude", "acme-agent", true, false},
			} {
				connected := mcptest.Connect(t, w.g.View(c.view), front, &client.Options{Info: mcp.Implementation{Name: c.client, Version: "1"}})
				raw, err := connected.Do(t.Context(), mcp.MethodListTools, nil)
				text := string(raw)
				if err != nil || strings.Contains(text, `"oneOf"`) == c.adapted || strings.Contains(text, `"name":"one__odd"`) != c.odd || strings.Contains(text, `"com.github.parley-mcp/unfit":{"one__odd":"it needs the parameter`) == c.odd {
					t.Errorf("%+v: %s, %v", c, text, err)
				}
				if stateless(front) && c.view == "" && !strings.Contains(text, `"cacheScope":"private"`) {
					t.Errorf("anybody may keep %s", text)
				}
				result, err := connected.Do(t.Context(), mcp.MethodCallTool, json.RawMessage(`{"name":"one__choose","arguments":{"a":"x","b":1.0}}`))
				if err != nil || !strings.Contains(string(result), `{\"a\":\"x\",\"b\":1.0}`) {
					t.Errorf("%s, %v", result, err)
				}
			}
		})
	}
}

// addTool adds a tool that returns its arguments.
func addTool(s *server.Server, name, schema string) {
	s.AddRawTool(mcp.Tool{Name: name, Description: "Does it.", InputSchema: json.RawMessage(schema)},
		func(_ context.Context, _ *server.Call, arguments json.RawMessage) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: mcp.Contents{mcp.Text(string(arguments))}}, nil
		})
}
