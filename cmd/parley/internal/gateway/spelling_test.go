package gateway_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/bridge"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/naming"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/pins"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/policy"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
)

// shelf is a server with a user interface, a file, notes that a template makes, and a tool
// that takes a path.
func shelf() *server.Server {
	s := server.New(mcp.Implementation{Name: "shelf", Version: "1"}, &server.Options{Logger: mcptest.Quiet()})
	read := func(_ context.Context, _ *server.Call, uri string) (*mcp.ReadResourceResult, error) {
		return server.Contents(mcp.TextResource(uri, "text/html;profile=mcp-app", "read "+uri)), nil
	}
	s.AddResource(mcp.Resource{URI: "ui://admin/panel", Name: "panel", MIMEType: "text/html;profile=mcp-app"}, read)
	s.AddResource(mcp.Resource{URI: "file:///odd/../listed", Name: "odd"}, read)
	server.AddTemplate(s, mcp.ResourceTemplate{URITemplate: "note://{id}", Name: "note"}, func(ctx context.Context, call *server.Call, uri string, _ map[string]string) (*mcp.ReadResourceResult, error) {
		return read(ctx, call, uri)
	})
	server.AddTemplate(s, mcp.ResourceTemplate{URITemplate: "file:///{+path}", Name: "files"}, func(ctx context.Context, call *server.Call, uri string, _ map[string]string) (*mcp.ReadResourceResult, error) {
		return read(ctx, call, uri)
	})
	schema := json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}}}`)
	s.AddRawTool(mcp.Tool{Name: "open", InputSchema: schema}, func(context.Context, *server.Call, json.RawMessage) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{mcp.Text("opened")}}, nil
	})
	return s
}

// shelved connects a client of a view to a gateway in front of the shelf.
func shelved(t *testing.T, view string, part gateway.Part, guards ...guard.Guard) *client.Client {
	t.Helper()
	behind := behind(t, "shelf", shelf(), modes[2], bridge.SharePrincipal)
	g := gateway.New(gateway.Options{Info: mcp.Implementation{Name: "gateway", Version: "1"}, Logger: mcptest.Quiet()})
	t.Cleanup(func() { _ = g.Close() }) // before the server is waited for
	err := g.Load(gateway.Setup{
		ListTimeout: 20 * time.Second, Guards: guards, Views: map[string]gateway.Part{"part": part}, Servers: []gateway.Server{behind},
	})
	if err != nil {
		t.Fatal(err)
	}
	g.Look(t.Context())
	return mcptest.Connect(t, g.View(view), modes[2], nil)
}

// reads reports whether a client can read a resource.
func reads(t *testing.T, c *client.Client, uri string) bool {
	t.Helper()
	r, err := c.ReadResource(t.Context(), uri)
	if err == nil && len(r.Contents) != 1 {
		t.Errorf("%s: %+v", uri, r.Contents)
	}
	return err == nil
}

const (
	panel      = "ui://shelf/admin/panel"
	otherPanel = "mcp:shelf:ui://admin/panel" // as a template of another scheme could make it
)

// What is kept from clients under one spelling of its URI is kept from them under all.
func TestSpellingsOfResources(t *testing.T) {
	rules, err := policy.New([]policy.Source{{Name: "p.cedar", Text: `permit(principal, action, resource); forbid(principal, action, resource == Resource::"` + panel + `");`}}, policy.Options{Logger: mcptest.Quiet()})
	if err != nil {
		t.Fatal(err)
	}
	pinned, err := pins.New(pins.Options{File: pins.Open(filepath.Join(t.TempDir(), "pins.json")), Known: true, Logger: mcptest.Quiet()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pinned.Close() })
	open := shelved(t, "", gateway.Part{})
	for name, c := range map[string]*client.Client{
		"view":   shelved(t, "part", gateway.Part{Resources: naming.Selection{Exclude: []string{"ui://shelf/admin/*"}}}),
		"policy": shelved(t, "", gateway.Part{}, rules),
		"pins":   shelved(t, "", gateway.Part{}, pinned),
	} {
		for _, uri := range []string{panel, otherPanel} {
			if !reads(t, open, uri) {
				t.Errorf("%s cannot be read at all", uri)
			}
			if reads(t, c, uri) {
				t.Errorf("%s: %s can be read", name, uri)
			}
		}
	}
}

// What a template that is withheld makes cannot be read, whoever has guessed its URI.
func TestPinsOfTemplates(t *testing.T) {
	file := pins.Open(filepath.Join(t.TempDir(), "pins.json"))
	pinned, err := pins.New(pins.Options{File: file, Known: true, Logger: mcptest.Quiet()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pinned.Close() })
	c := shelved(t, "", gateway.Part{}, pinned)
	if reads(t, c, "mcp:shelf:note://17") {
		t.Error("it can be read before its template is approved")
	}
	if !reads(t, shelved(t, "", gateway.Part{}), "mcp:shelf:note://17") {
		t.Error("it cannot be read without pins")
	}
}

// A URI that no list has is judged by its text, so it has to be one that servers read as
// it stands. What is listed is known.
func TestUnusualURIs(t *testing.T) {
	c := shelved(t, "", gateway.Part{})
	for uri, want := range map[string]bool{
		"mcp:shelf:file:///a/b": true, "mcp:shelf:file:///odd/../listed": true, "mcp:shelf:file:///pub/../secret": false, "mcp:shelf:file:////secret": false,
	} {
		if got := reads(t, c, uri); got != want {
			t.Errorf("%s can be read: %t, want %t", uri, got, want)
		}
	}
}

// With guards, arguments are not what another reader would take for those they have judged.
func TestSpellingsOfArguments(t *testing.T) {
	rules, err := policy.New([]policy.Source{{Name: "p.cedar", Text: `permit(principal, action, resource);`}}, policy.Options{Logger: mcptest.Quiet()})
	if err != nil {
		t.Fatal(err)
	}
	c := shelved(t, "", gateway.Part{}, rules)
	for arguments, want := range map[string]bool{`{"path":"/a"}`: true, `{"path":"/a","Path":"/etc"}`: false, `{"PATH":"/etc"}`: false} {
		_, err := c.Do(t.Context(), mcp.MethodCallTool, json.RawMessage(`{"name":"shelf__open","arguments":`+arguments+`}`))
		if (err == nil) != want {
			t.Errorf("%s: %v", arguments, err)
		}
	}
}

// Names are kept in many places, so there is a bound to what can be one.
func TestLongNames(t *testing.T) {
	c := shelved(t, "", gateway.Part{})
	if !reads(t, c, "mcp:shelf:note://"+strings.Repeat("a", 4<<10)) {
		t.Error("a URI of 4 KiB cannot be read")
	}
	if _, err := c.ReadResource(t.Context(), "mcp:shelf:note://"+strings.Repeat("a", naming.Longest)); err == nil || !strings.Contains(err.Error(), "too long") {
		t.Errorf("a URI of more than %d bytes: %v", naming.Longest, err)
	}
}
