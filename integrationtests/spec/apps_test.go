package spec_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/apps"
	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/internal/check/specdir"
	"github.com/parley-mcp/parley/internal/schema"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
)

const (
	appURI  = "ui://sales/report.html"
	appPage = "<!doctype html><title>Sales</title>"
)

var appUI = apps.ResourceUI{
	CSP:         &apps.CSP{ConnectDomains: []string{"https://api.example.com"}, ResourceDomains: []string{"https://*.example.com"}},
	Permissions: apps.Permissions{apps.ClipboardWrite},
}

// withApp has a tool with an app, and one for the app alone.
func withApp() mcp.Handler {
	s := server.New(mcp.Implementation{Name: "s", Version: "1"}, &server.Options{Logger: mcptest.Quiet()})
	server.AddTool(s, mcp.Tool{Name: "report", Meta: apps.ToolUI{ResourceURI: appURI}.Meta()}, func(_ context.Context, call *server.Call, _ struct{}) (string, error) {
		if call.ShowsApps() {
			return "shown", nil
		}
		return "told", nil
	})
	refresh := apps.ToolUI{ResourceURI: appURI, Visibility: []apps.Visibility{apps.VisibleToApp}}
	server.AddTool(s, mcp.Tool{Name: "refresh", Meta: refresh.Meta()}, func(context.Context, *server.Call, struct{}) (string, error) { return "", nil })
	server.AddTool(s, mcp.Tool{Name: "plain"}, func(context.Context, *server.Call, struct{}) (string, error) { return "", nil })
	s.AddApp(apps.App{URI: appURI, Name: "report", Title: "Sales", HTML: appPage, UI: appUI})
	return s
}

// An app, and what a host has to know to show it, arrives in every revision, although
// some have no extensions, and some no _meta on tools.
//
// Spec: extensions/apps 2026-01-26 specification#client-server-capability-negotiation.
func TestApps(t *testing.T) {
	host := func() *client.Options {
		return &client.Options{Extensions: map[string]any{apps.Extension: apps.Supported()}}
	}
	mcptest.RunModes(t, mcptest.AllModes(), withApp, host, func(t *testing.T, c *client.Client) {
		if got := string(c.ServerCapabilities().Extensions[apps.Extension]); got != "{}" {
			t.Errorf("the server declares %q", got)
		}
		tools, err := client.Collect(c.Tools(t.Context()))
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []struct {
			name, uri  string
			model, app bool
		}{{"report", appURI, true, true}, {"refresh", appURI, false, true}, {"plain", "", true, true}} {
			u, err := apps.OfTool(tools[i])
			if err != nil || tools[i].Name != want.name || u.ResourceURI != want.uri || u.ForModel() != want.model || u.ForApp() != want.app {
				t.Errorf("tool %q: %+v, %v; want %+v", tools[i].Name, u, err, want)
			}
		}
		app, err := c.ReadApp(t.Context(), appURI)
		if err != nil {
			t.Fatal(err)
		}
		if app.HTML != appPage || app.UI.Policy() != appUI.Policy() || app.UI.Allow() != "clipboard-write" {
			t.Errorf("the app is %+v", app)
		}
		if got, err := client.Call[string](t.Context(), c, "report", nil); err != nil || got != "shown" {
			t.Errorf("the tool gave %q, %v", got, err)
		}
	})
}

// A tool with an app works without, for clients that cannot show it.
//
// Spec: extensions/apps 2026-01-26 specification#server-behavior.
func TestAppsAreNotForEveryClient(t *testing.T) {
	for _, settings := range []any{nil, apps.Settings{MIMETypes: []string{"text/html"}}, map[string]any{"mimeTypes": "x"}} {
		mcptest.Run(t, withApp, func() *client.Options {
			o := &client.Options{}
			if settings != nil {
				o.Extensions = map[string]any{apps.Extension: settings}
			}
			return o
		}, func(t *testing.T, c *client.Client) {
			if got, err := client.Call[string](t.Context(), c, "report", nil); err != nil || got != "told" {
				t.Errorf("with %v, the tool gave %q, %v", settings, got, err)
			}
		})
	}
}

// Nothing of another extension is sent where the revision has none.
func TestOnlyAppsAreInEveryRevision(t *testing.T) {
	make := func() mcp.Handler {
		s := server.New(mcp.Implementation{Name: "s", Version: "1"}, &server.Options{Logger: mcptest.Quiet(), Extensions: map[string]any{"com.example/x": nil}})
		ui := apps.ToolUI{ResourceURI: appURI}.Meta()
		ui["com.example/x"] = json.RawMessage("1")
		server.AddTool(s, mcp.Tool{Name: "t", Meta: ui}, func(_ context.Context, call *server.Call, _ struct{}) (string, error) {
			x, ui := call.Extension("com.example/x", nil) == nil, call.ShowsApps()
			return map[bool]string{true: "x"}[x] + map[bool]string{true: "ui"}[ui], nil
		})
		s.AddApp(apps.App{URI: appURI, Name: "a", HTML: appPage})
		return s
	}
	both := func() *client.Options {
		return &client.Options{Extensions: map[string]any{apps.Extension: apps.Supported(), "com.example/x": nil}}
	}
	mcptest.Run(t, make, both, func(t *testing.T, c *client.Client) {
		wantExtensions, wantKeys, wantHeard := 2, 2, "xui"
		if c.Revision() != mcp.Revision20260728 {
			wantExtensions, wantHeard = 1, "ui"
		}
		if r := c.Revision(); r == mcp.Revision20241105 || r == mcp.Revision20250326 {
			wantKeys = 1
		}
		if got := c.ServerCapabilities().Extensions; len(got) != wantExtensions {
			t.Errorf("the server declares %s", got)
		}
		page, err := c.ListTools(t.Context(), nil)
		if err != nil || len(page.Tools[0].Meta) != wantKeys {
			t.Errorf("the tool's _meta is %s, %v", page.Tools[0].Meta, err)
		}
		if got, err := client.Call[string](t.Context(), c, "t", nil); err != nil || got != wantHeard {
			t.Errorf("the server heard of %q, %v; want %q", got, err, wantHeard)
		}
	})
}

// A host gets nothing that is not an app, and no app gets more than it declares.
//
// Spec: extensions/apps 2026-01-26 specification#content-requirements, specification#host-behavior.
func TestReadingApps(t *testing.T) {
	const none = "connect-src 'none'; frame-src 'none'"
	for _, c := range []struct{ what, contents, listed, err, policy string }{
		{"no _meta at all", `{"uri":"ui://a","mimeType":"text/html;profile=mcp-app","text":"<p>"}`, `{}`, "", none},
		{"bytes", `{"uri":"ui://a","mimeType":"text/html;profile=mcp-app","blob":"PHA+"}`, `{}`, "", none},
		{"another spelling", `{"uri":"ui://A","mimeType":"text/html; charset=utf-8; profile=\"mcp-app\"","text":"<p>"}`, `{}`, "", none},
		{"listed", `{"uri":"ui://a","mimeType":"text/html;profile=mcp-app","text":"<p>"}`, `{"ui":{"csp":{"connectDomains":["https://listed.example"]}}}`, "", "connect-src https://listed.example;"},
		{"both", `{"uri":"ui://a","mimeType":"text/html;profile=mcp-app","text":"<p>","_meta":{"ui":{"csp":{}}}}`, `{"ui":{"csp":{"connectDomains":["https://listed.example"]}}}`, "", none},
		{"a bad origin", `{"uri":"ui://a","mimeType":"text/html;profile=mcp-app","text":"<p>","_meta":{"ui":{"csp":{"connectDomains":["https://a.example; script-src *"]}}}}`, `{}`, "", none},
		{"plain HTML", `{"uri":"ui://a","mimeType":"text/html","text":"<p>"}`, `{}`, `app "ui://a": it has the type "text/html", not "text/html;profile=mcp-app"`, ""},
		{"no type", `{"uri":"ui://a","text":"<p>"}`, `{}`, `it has the type ""`, ""},
		{"nothing", `{"uri":"ui://a","mimeType":"text/html;profile=mcp-app","text":""}`, `{}`, "it is empty", ""},
		{"no UTF-8", `{"uri":"ui://a","mimeType":"text/html;profile=mcp-app","blob":"/w=="}`, `{}`, "it is not UTF-8", ""},
		{"too long", `{"uri":"ui://a","mimeType":"text/html;profile=mcp-app","text":"` + strings.Repeat("x", 101) + `"}`, `{}`, "it has 101 bytes, and 100 is the bound of Options.MaxAppBytes", ""},
		{"others", `{"uri":"ui://b","mimeType":"text/html;profile=mcp-app","text":"<p>"},{"uri":"ui://c","mimeType":"text/html;profile=mcp-app","text":"<p>"}`, `{}`, "does not hold it", ""},
		{"no contents", ``, `{}`, "does not hold it", ""},
		{"a wrong _meta", `{"uri":"ui://a","mimeType":"text/html;profile=mcp-app","text":"<p>","_meta":{"ui":{"csp":"*"}}}`, `{}`, "_meta.ui: ", ""},
		{"no list", `{"uri":"ui://a","mimeType":"text/html;profile=mcp-app","text":"<p>"}`, ``, "", none},
	} {
		serve := func() mcp.Handler { return someApp(c.contents, c.listed) }
		mcptest.Run(t, serve, func() *client.Options { return &client.Options{MaxAppBytes: 100, Logger: mcptest.Quiet()} }, func(t *testing.T, cl *client.Client) {
			app, err := cl.ReadApp(t.Context(), "ui://a")
			switch {
			case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
				t.Errorf("%s: got %v, want %q", c.what, err, c.err)
			case c.err != "":
			case err != nil:
				t.Errorf("%s: %v", c.what, err)
			case app.URI != "ui://a" || app.HTML != "<p>" || !strings.Contains(app.UI.Policy(), c.policy):
				t.Errorf("%s: got %q under %q, want %q in it", c.what, app.HTML, app.UI.Policy(), c.policy)
			}
		})
	}
}

// Only what begins with ui:// is an app, whatever the server says it is.
//
// Spec: extensions/apps 2026-01-26 specification#content-requirements.
func TestOnlyAppsAreReadAsApps(t *testing.T) {
	serve := func() mcp.Handler {
		return someApp(`{"uri":"https://a","mimeType":"text/html;profile=mcp-app","text":"<p>"}`, "")
	}
	mcptest.Run(t, serve, nil, func(t *testing.T, c *client.Client) {
		if app, err := c.ReadApp(t.Context(), "https://a"); err == nil || !strings.Contains(err.Error(), `begins with "ui://"`) {
			t.Errorf("got %+v, %v; want an error that says how URIs of apps begin", app, err)
		}
	})
}

// someApp answers with these contents, valid or not, and lists the app with this _meta.
// Without one, it has no list.
func someApp(contents, listed string) mcp.Handler {
	return rawHandler(func(method string) (string, error) {
		switch {
		case method == mcp.MethodReadResource:
			return `{"contents":[` + contents + `]}`, nil
		case method == mcp.MethodListResources && listed != "":
			return `{"resources":[{"uri":"ui://other","name":"o"},{"uri":"ui://a","name":"a","_meta":` + listed + `}]}`, nil
		}
		return "", &mcp.MethodNotFoundError{Method: method}
	})
}

// rawHandler answers with the JSON of results.
type rawHandler func(method string) (string, error)

func (h rawHandler) Serve(_ context.Context, x *mcp.Exchange) (any, error) {
	result, err := h(x.Method)
	return json.RawMessage(result), err
}

func (h rawHandler) Describe(context.Context, *mcp.Peer) *mcp.Description {
	return &mcp.Description{
		Info:         mcp.Implementation{Name: "raw", Version: "1"},
		Capabilities: mcp.ServerCapabilities{Resources: &mcp.ResourcesCapability{}},
	}
}

// What is sent fits the schemas that are published with the extension.
func TestAppsFitTheirSchemas(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(specdir.Of(t), "extensions", "apps", "apps.schema.json"))
	if err != nil {
		t.Skipf("the schemas of the extension are not there: %v", err)
	}
	var doc struct {
		Defs map[string]json.RawMessage `json:"$defs"`
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	yes := true
	all := apps.ResourceUI{
		CSP:         &apps.CSP{ConnectDomains: []string{"wss://a.example"}, ResourceDomains: []string{}, FrameDomains: []string{"https://b.example"}, BaseURIDomains: []string{"https://c.example"}},
		Permissions: apps.Permissions{apps.Camera, apps.Microphone, apps.Geolocation, apps.ClipboardWrite},
		Domain:      "app.example.com", PrefersBorder: &yes,
	}
	for _, c := range []struct {
		definition string
		values     []any
	}{
		{"McpUiToolMeta", []any{apps.ToolUI{}, apps.ToolUI{ResourceURI: appURI, Visibility: []apps.Visibility{apps.VisibleToModel, apps.VisibleToApp}}}},
		{"McpUiResourceMeta", []any{apps.ResourceUI{}, apps.ResourceUI{CSP: &apps.CSP{}, Permissions: apps.Permissions{}}, all}},
		{"McpUiClientCapabilities", []any{apps.Supported()}},
	} {
		s, err := schema.Compile(doc.Defs[c.definition])
		if err != nil {
			t.Fatalf("%s: %v", c.definition, err)
		}
		for _, v := range c.values {
			sent, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Validate(sent); err != nil {
				t.Errorf("%s: %s: %v", c.definition, sent, err)
			}
		}
	}
}
