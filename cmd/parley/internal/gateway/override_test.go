package gateway_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-mcp/parley/cmd/parley/internal/bridge"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/naming"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
)

// watchful keeps what the backend itself says of what is listed, as pins do.
type watchful struct {
	mu   sync.Mutex
	said string
}

func (g *watchful) Serve(ctx context.Context, op *guard.Operation, next guard.Next) (any, error) {
	return next(ctx, op)
}

func (g *watchful) Sees(_ context.Context, _ *mcp.Peer, d *guard.Definition) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.said += string(d.Raw)
	return true
}

// described is a server whose features say something of themselves.
func described() *server.Server {
	s := server.New(mcp.Implementation{Name: "one", Version: "1"}, &server.Options{Logger: mcptest.Quiet()})
	server.AddPrompt(s, mcp.Prompt{Name: "greet", Description: "own words"}, func(context.Context, *server.Call, struct{}) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{Description: "own words", Messages: []*mcp.PromptMessage{{Role: mcp.RoleUser, Content: mcp.Text("Hello.")}}}, nil
	})
	read := func(_ context.Context, _ *server.Call, uri string) (*mcp.ReadResourceResult, error) {
		return server.Contents(mcp.TextResource(uri, "text/plain", "x")), nil
	}
	s.AddResource(mcp.Resource{URI: "test://static", Name: "static", Description: "own words", Annotations: &mcp.Annotations{Audience: []mcp.Role{mcp.RoleUser}}}, read)
	server.AddTemplate(s, mcp.ResourceTemplate{URITemplate: "note://{id}", Name: "note", Description: "own words"}, func(ctx context.Context, c *server.Call, uri string, _ struct {
		ID string `json:"id"`
	},
	) (*mcp.ReadResourceResult, error) {
		return read(ctx, c, uri)
	})
	return s
}

// Prompts, resources and templates say what the configuration has them say, also where a
// prompt is got; guards, and so pins, see what the server says.
func TestOverride(t *testing.T) {
	for _, front := range modes {
		t.Run(front.String(), func(t *testing.T) {
			title, text := "Title", "other words"
			o := naming.Override{Title: &title, Description: &text}
			annotated := o
			annotated.Annotations = json.RawMessage(`{"priority":0.5}`)
			srv := behind(t, "one", described(), modes[2], bridge.SharePrincipal)
			srv.Rules.OverridePrompts = map[string]naming.Override{"greet": o}
			srv.Rules.OverrideResources = map[string]naming.Override{"test://static": annotated, "note://{id}": annotated}
			g, seen := gateway.New(gateway.Options{Info: mcp.Implementation{Name: "gateway", Version: "1"}, Logger: mcptest.Quiet()}), new(watchful)
			t.Cleanup(func() { _ = g.Close() }) // before the server is waited for
			if err := g.Load(gateway.Setup{Servers: []gateway.Server{srv}, Guards: []guard.Guard{seen}, ListTimeout: 20 * time.Second}); err != nil {
				t.Fatal(err)
			}
			g.Look(t.Context()) // so that clients learn what it has
			c := mcptest.Connect(t, g.View(""), front, nil)
			for method, wants := range map[string][]string{
				mcp.MethodListPrompts:   {`"title":"Title"`, `"description":"other words"`},
				mcp.MethodListResources: {`"title":"Title"`, `"description":"other words"`, `"annotations":{"audience":["user"],"priority":0.5}`},
				mcp.MethodListTemplates: {`"title":"Title"`, `"description":"other words"`, `"annotations":{"priority":0.5}`},
			} {
				raw, err := c.Do(t.Context(), method, json.RawMessage(`{}`))
				if has(t, string(raw), wants...); err != nil || strings.Contains(string(raw), "own words") {
					t.Errorf("%s: %s, error %v", method, raw, err)
				}
			}
			raw, err := c.Do(t.Context(), mcp.MethodGetPrompt, json.RawMessage(`{"name":"one__greet"}`))
			if has(t, string(raw), `"description":"other words"`); err != nil {
				t.Error(err)
			}
			seen.mu.Lock()
			defer seen.mu.Unlock()
			if strings.Contains(seen.said, "other words") || strings.Count(seen.said, "own words") < 3 {
				t.Errorf("guards see %s", seen.said)
			}
		})
	}
}
