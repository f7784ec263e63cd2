package inspect

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/apps"
	"github.com/parley-mcp/parley/cmd/parley/internal/page/appframe"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/transport/streamable"
)

const appHTML = "<!doctype html><p>app"

// newAppServer returns a server with apps, and tools for them.
func newAppServer() *server.Server {
	s := server.New(mcp.Implementation{Name: "apps", Version: "1"}, &server.Options{Logger: mcptest.Quiet()})
	for _, app := range []apps.App{
		{URI: "ui://plain", Name: "plain", HTML: appHTML},
		{URI: "ui://asks", Name: "asks", HTML: appHTML, UI: apps.ResourceUI{
			CSP:         &apps.CSP{ConnectDomains: []string{"https://api.example.com", "http://127.0.0.1:7000"}},
			Permissions: apps.Permissions{apps.Camera, apps.Microphone},
		}},
	} {
		s.AddApp(app)
	}
	s.AddResource(mcp.Resource{URI: "test://text", Name: "text", MIMEType: "text/plain"}, func(_ context.Context, _ *server.Call, uri string) (*mcp.ReadResourceResult, error) {
		return server.Contents(mcp.TextResource(uri, "text/plain", "read")), nil
	})
	tool := func(name string, ui apps.ToolUI, err error) {
		server.AddTool(s, mcp.Tool{Name: name, Meta: ui.Meta()}, func(_ context.Context, _ *server.Call, in struct {
			N int64 `json:"n,omitzero"`
		},
		) (int64, error) {
			return in.N, err
		})
	}
	tool("shown", apps.ToolUI{ResourceURI: "ui://plain"}, nil)
	tool("app-only", apps.ToolUI{ResourceURI: "ui://plain", Visibility: []apps.Visibility{apps.VisibleToApp}}, nil)
	tool("model-only", apps.ToolUI{Visibility: []apps.Visibility{apps.VisibleToModel}}, errors.New("an app has called it"))
	return s
}

// appStage is a stage that is connected to a server with apps.
func appStage(t *testing.T, revision string) *stage {
	frames, err := appframe.Listen(t.Context(), []string{"http://127.0.0.1:7000"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		if err := frames.Serve(ended, mcptest.Quiet()); err != nil { // closes the listener
			t.Error(err)
		}
	})
	h, err := streamable.New(newAppServer(), nil)
	if err != nil {
		t.Fatal(err)
	}
	site := httptest.NewServer(h)
	t.Cleanup(site.Close)
	s := newStage(t, Options{Frames: frames})
	c := s.open(map[string]any{"url": site.URL, "revision": revision})
	if c.State != "up" {
		t.Fatalf("the connection is %s: %+v", c.State, c.Error)
	}
	return s
}

func TestApps(t *testing.T) {
	for _, revision := range []string{"2025-03-26", "2026-07-28"} {
		t.Run(revision, func(t *testing.T) { testApps(t, appStage(t, revision)) })
	}
}

func testApps(t *testing.T, s *stage) {
	const base = "/connections/c1/apps"
	app := must[readApp](s, "POST", base, map[string]string{"uri": "ui://plain"})
	if app.HTML != appHTML || app.URI != "ui://plain" || app.ID == "" {
		t.Errorf("the app is %+v", app)
	}
	frame := must[appframe.Frame](s, "POST", base+"/"+app.ID+"/frame", map[string]any{})
	if !strings.HasPrefix(frame.URL, "http://localhost:") || !strings.Contains(frame.Policy, "connect-src 'none'") {
		t.Errorf("the frame is %+v", frame)
	}
	for _, name := range []string{"shown", "app-only"} {
		said := must[answer](s, "POST", base+"/"+app.ID+"/calls", map[string]any{"name": name, "arguments": map[string]int{"n": 7}})
		if said.Error != nil || !strings.Contains(string(said.Result), "7") {
			t.Errorf("%s answers %s, %v", name, said.Result, said.Error)
		}
	}
	read := must[answer](s, "POST", base+"/"+app.ID+"/reads", map[string]string{"uri": "test://text"})
	if !strings.Contains(string(read.Result), `"read"`) {
		t.Errorf("the resource is %s", read.Result)
	}
	missing := must[answer](s, "POST", base+"/"+app.ID+"/reads", map[string]string{"uri": "test://none"})
	if missing.Error == nil || missing.Result != nil {
		t.Errorf("a resource that is not there is %+v", missing)
	}
	for what, c := range map[string]struct {
		path   string
		body   any
		status int
		code   string
	}{
		"a tool for models":     {base + "/" + app.ID + "/calls", map[string]string{"name": "model-only"}, http.StatusForbidden, "not_for_apps"},
		"no tool":               {base + "/" + app.ID + "/calls", map[string]string{"name": "none"}, http.StatusForbidden, "not_for_apps"},
		"no app":                {base + "/a99/calls", map[string]string{"name": "shown"}, http.StatusNotFound, "no_app"},
		"what is no app":        {base, map[string]string{"uri": "test://text"}, http.StatusBadGateway, "app"},
		"an app that is not":    {base, map[string]string{"uri": "ui://none"}, http.StatusBadGateway, "app"},
		"a member that is none": {base, map[string]string{"url": "ui://plain"}, http.StatusBadRequest, "body"},
	} {
		if err := s.refused("POST", c.path, c.body); err.Status != c.status || err.Code != c.code {
			t.Errorf("%s: %d %s: %s", what, err.Status, err.Code, err.Message)
		}
	}
	must[any](s, "DELETE", base+"/"+app.ID, nil)
	if err := s.refused("POST", base+"/"+app.ID+"/frame", map[string]any{}); err.Code != "no_app" {
		t.Errorf("an app that was closed: %s", err.Message)
	}
}

// What an app declares, it gets only if the person who looks at it agrees, and this page never.
func TestAppGrants(t *testing.T) {
	s := appStage(t, "2026-07-28")
	app := must[readApp](s, "POST", "/connections/c1/apps", map[string]string{"uri": "ui://asks"})
	open := func(body string) shownFrame {
		return must[shownFrame](s, "POST", "/connections/c1/apps/"+app.ID+"/frame", json.RawMessage(body))
	}
	if frame := open(`{}`); strings.Contains(frame.Policy, "example.com") || frame.Allow != "" || frame.CSP != nil {
		t.Errorf("without a grant: %+v %+v", frame.Frame, frame)
	}
	frame := open(`{"network":true,"permissions":{"camera":{},"geolocation":{}}}`)
	if !strings.Contains(frame.Policy, "connect-src https://api.example.com;") || frame.Allow != "camera" || len(frame.Permissions) != 1 {
		t.Errorf("with grants: %+v %+v", frame.Frame, frame)
	}
	if err := s.refused("POST", "/connections/c1/apps/"+app.ID+"/frame", json.RawMessage(`{"all":true}`)); err.Field != "all" {
		t.Errorf("an unknown grant: %+v", err)
	}
}

// A page without frames does not say that it shows apps.
func TestNoFrames(t *testing.T) {
	s := newStage(t, Options{})
	c := s.open(itself(t))
	if err := s.refused("POST", "/connections/"+c.ID+"/apps", map[string]string{"uri": "ui://plain"}); err.Code != "app" {
		t.Errorf("reading an app that is not there: %+v", err)
	}
}
