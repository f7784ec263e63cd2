package server

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/apps"
	"github.com/parley-mcp/parley/mcp"
)

const appPage = "<!doctype html><title>t</title>"

func appTool(name, ui string) mcp.Tool {
	return mcp.Tool{Name: name, Meta: mcp.Meta{apps.MetaKey: json.RawMessage(ui)}}
}

func nothing(context.Context, *Call, struct{}) (struct{}, error) { return struct{}{}, nil }

// Everything that an app says is checked when it is added, however it is added.
func TestAppsThatMustNotBeOffered(t *testing.T) {
	s, _ := newServer(Options{})
	read := func(context.Context, *Call, string) (*mcp.ReadResourceResult, error) { return Contents(), nil }
	family := func(context.Context, *Call, string, map[string]string) (*mcp.ReadResourceResult, error) {
		return Contents(), nil
	}
	resource := func(uri, mimeType, ui string) mcp.Resource {
		return mcp.Resource{URI: uri, Name: "a", MIMEType: mimeType, Meta: mcp.Meta{apps.MetaKey: json.RawMessage(ui)}}
	}
	for _, c := range []struct {
		err  error
		want string
	}{
		{s.TryAddApp(apps.App{URI: "https://a", Name: "a", HTML: appPage}), `app "https://a": uri "https://a" does not begin with "ui://"`},
		{s.TryAddApp(apps.App{URI: "ui://a", Name: "a", HTML: "<p>"}), `app "ui://a": its HTML begins with "<p>"`},
		{s.TryAddApp(apps.App{URI: "ui://a", Name: "a", HTML: appPage, Icons: []mcp.Icon{{}}}), "icons[0]"},
		{TryAddTool(s, appTool("t", `{"resourceUri":"file:///a"}`), nothing), `tool "t": _meta.ui: resourceUri: uri "file:///a"`},
		{TryAddTool(s, appTool("t", `{"visibility":["user"]}`), nothing), `tool "t": _meta.ui: visibility "user"`},
		{TryAddTool(s, appTool("t", `{"visibility":"app"}`), nothing), `tool "t": _meta.ui: `},
		{TryAddTool(s, appTool("t", `null`), nothing), ""},
		{s.TryAddResource(resource("ui://a", "text/html", `{}`), read), `resource "ui://a": the scheme "ui://" is kept for apps, whose MIME type is "text/html;profile=mcp-app", not "text/html"`},
		{s.TryAddResource(resource("ui://a", apps.MIMEType, `{"csp":{"connectDomains":["*"]}}`), read), `_meta.ui: csp.connectDomains: "*" is not an origin`},
		{s.TryAddResource(resource("ui://a", apps.MIMEType, `{"permissions":{"midi":{}}}`), read), `_meta.ui: permission "midi"`},
		{s.TryAddResource(resource("ui://a", apps.MIMEType, `[]`), read), "_meta.ui: "},
		{s.TryAddResource(resource("file:///a", "text/html", `[]`), read), ""},
		{TryAddTemplate(s, mcp.ResourceTemplate{URITemplate: "ui://a/{b}", Name: "a"}, family), `template "ui://a/{b}": the scheme`},
	} {
		switch {
		case c.want == "" && c.err != nil:
			t.Errorf("refused with %v", c.err)
		case c.want != "" && (c.err == nil || !strings.Contains(c.err.Error(), c.want)):
			t.Errorf("got %v, want %q", c.err, c.want)
		}
	}
}

// So is what a handler returns when an app is read.
func TestContentsOfApps(t *testing.T) {
	s, log := newServer(Options{})
	contents := mcp.TextResource("", "text/html", appPage)
	s.AddResource(mcp.Resource{URI: "ui://a", Name: "a", MIMEType: apps.MIMEType}, func(context.Context, *Call, string) (*mcp.ReadResourceResult, error) {
		return Contents(contents), nil
	})
	if r, err := s.Serve(t.Context(), request(mcp.MethodReadResource, `{"uri":"ui://a"}`)); err == nil || !strings.Contains(log.String(), "kept for apps") {
		t.Errorf("a page of another type was sent: %v, %v; the log says %s", r, err, log)
	}
	contents.MIMEType = apps.MIMEType
	if _, err := s.Serve(t.Context(), request(mcp.MethodReadResource, `{"uri":"ui://a"}`)); err != nil {
		t.Error(err)
	}
}

// A tool whose app does not exist is reported when it is listed, once, and not if the
// app was added after it.
//
// Spec: extensions/apps 2026-01-26 specification#resource-discovery.
func TestMissingAppsAreReported(t *testing.T) {
	s, log := newServer(Options{})
	for name, uri := range map[string]string{"first": "ui://first", "templated": "ui://family/x", "lost": "ui://lost", "gone": "ui://gone"} {
		AddTool(s, appTool(name, `{"resourceUri":"`+uri+`"}`), nothing)
	}
	AddTool(s, appTool("none", `{"visibility":["model"]}`), nothing)
	s.AddApp(apps.App{URI: "ui://first", Name: "first", HTML: appPage})
	AddTemplate(s, mcp.ResourceTemplate{URITemplate: "ui://family/{name}", Name: "family", MIMEType: apps.MIMEType},
		func(context.Context, *Call, string, map[string]string) (*mcp.ReadResourceResult, error) {
			return Contents(), nil
		})
	s.RemoveTools("gone")
	for range 2 {
		if _, err := s.Serve(t.Context(), request(mcp.MethodListTools, `{}`)); err != nil {
			t.Fatal(err)
		}
	}
	if got := log.String(); strings.Count(got, "level=WARN") != 1 || !strings.Contains(got, "tool=lost uri=ui://lost") {
		t.Errorf("the log is\n%swant one warning, of the tool %q", got, "lost")
	}
}

// The extension is declared once there is something to declare, and from then on.
func TestAppsAreDeclared(t *testing.T) {
	declared := func(s *Server) string {
		return string(s.Describe(t.Context(), &mcp.Peer{}).Capabilities.Extensions[apps.Extension])
	}
	for what, add := range map[string]func(*Server){
		"an app": func(s *Server) { s.AddApp(apps.App{URI: "ui://a", Name: "a", HTML: appPage}) },
		"a tool": func(s *Server) { AddTool(s, appTool("t", `{"visibility":["app"]}`), nothing) },
		"a family": func(s *Server) {
			AddTemplate(s, mcp.ResourceTemplate{URITemplate: "ui://a/{b}", Name: "a", MIMEType: apps.MIMEType},
				func(context.Context, *Call, string, map[string]string) (*mcp.ReadResourceResult, error) {
					return Contents(), nil
				})
		},
	} {
		s, _ := newServer(Options{Extensions: map[string]any{"com.example/x": nil}})
		if got := declared(s); got != "" {
			t.Errorf("%s: declared before: %s", what, got)
		}
		add(s)
		s.RemoveResources("ui://a")
		if got := declared(s); got != "{}" {
			t.Errorf("%s: declared %q", what, got)
		}
		if n := len(s.Describe(t.Context(), &mcp.Peer{}).Capabilities.Extensions); n != 2 {
			t.Errorf("%s: %d extensions, want both", what, n)
		}
	}
	own, _ := newServer(Options{Extensions: map[string]any{apps.Extension: map[string]int{"own": 1}}})
	own.AddApp(apps.App{URI: "ui://a", Name: "a", HTML: appPage})
	if got := declared(own); got != `{"own":1}` {
		t.Errorf("the author's settings became %s", got)
	}
	none, _ := newServer(Options{})
	AddTool(none, mcp.Tool{Name: "t"}, nothing)
	if got := none.Describe(t.Context(), &mcp.Peer{}).Capabilities.Extensions; got != nil {
		t.Errorf("a server without apps declares %s", got)
	}
}
