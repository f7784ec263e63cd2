package apps_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/parley-mcp/parley/apps"
	"github.com/parley-mcp/parley/mcp"
)

func TestOfTool(t *testing.T) {
	for meta, want := range map[string]struct {
		uri        string
		model, app bool
		err        string
	}{
		`{}`:          {"", true, true, ""},
		`{"ui":{}}`:   {"", true, true, ""},
		`{"other":1}`: {"", true, true, ""},
		`{"ui":{"resourceUri":"ui://a","later":{}}}`:                    {"ui://a", true, true, ""},
		`{"ui":{"visibility":["model"]}}`:                               {"", true, false, ""},
		`{"ui":{"visibility":["app"]}}`:                                 {"", false, true, ""},
		`{"ui":{"visibility":["app","user",7]}}`:                        {"", false, true, ""},
		`{"ui":{"visibility":[]}}`:                                      {"", false, false, ""},
		`{"ui":{"visibility":null}}`:                                    {"", true, true, ""},
		`{"ui/resourceUri":"ui://old"}`:                                 {"ui://old", true, true, ""},
		`{"ui":{"resourceUri":"ui://new"},"ui/resourceUri":"ui://old"}`: {"ui://new", true, true, ""},
		// What is wrong is never in anybody's favour.
		`{"ui":{"visibility":"app","resourceUri":"ui://a"}}`:      {"ui://a", false, false, "_meta.ui.visibility: it is not a list"},
		`{"ui":{"resourceUri":"https://a","visibility":["app"]}}`: {"", false, true, `_meta.ui.resourceUri: uri "https://a"`},
		`{"ui":{"resourceUri":7}}`:                                {"", true, true, "_meta.ui.resourceUri"},
		`{"ui":"x"}`:                                              {"", false, false, "_meta"},
		`{"ui":[]}`:                                               {"", false, false, "_meta"},
	} {
		tool := &mcp.Tool{Name: "t"}
		if err := json.Unmarshal([]byte(meta), &tool.Meta); err != nil {
			t.Fatal(err)
		}
		u, err := apps.OfTool(tool)
		verdict(t, meta, err, want.err)
		if u.ResourceURI != want.uri || u.ForModel() != want.model || u.ForApp() != want.app {
			t.Errorf("%s: %q, for the model %v, for apps %v; want %+v", meta, u.ResourceURI, u.ForModel(), u.ForApp(), want)
		}
	}
}

// Without anything declared, the policy is the one that hosts must have by default.
//
// Spec: extensions/apps 2026-01-26 specification#host-behavior.
func TestPolicy(t *testing.T) {
	const none = "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; media-src 'self' data:; " +
		"connect-src 'none'; frame-src 'none'; base-uri 'self'; object-src 'none'; form-action 'none'"
	for doc, want := range map[string]string{
		`{}`:         none,
		`{"csp":{}}`: none,
		`{"csp":{"connectDomains":["https://a.example; script-src *","https://a.example/ *","'unsafe-eval'"],"resourceDomains":["*","data:"],"frameDomains":[""]}}`: none,
		`{"csp":{"connectDomains":["https://a.example","bad","wss://b.example:1"],"resourceDomains":["https://*.c.example"],"frameDomains":["https://d.example"],"baseUriDomains":["https://e.example"]}}`: "default-src 'none'; script-src 'self' 'unsafe-inline' https://*.c.example; style-src 'self' 'unsafe-inline' https://*.c.example; " +
			"img-src 'self' data: https://*.c.example; font-src 'self' https://*.c.example; media-src 'self' data: https://*.c.example; " +
			"connect-src https://a.example wss://b.example:1; frame-src https://d.example; base-uri https://e.example; object-src 'none'; form-action 'none'",
	} {
		var ui apps.ResourceUI
		if err := json.Unmarshal([]byte(doc), &ui); err != nil {
			t.Fatal(err)
		}
		if got := ui.Policy(); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", doc, got, want)
		}
	}
}

func TestAllow(t *testing.T) {
	ui := apps.ResourceUI{Permissions: apps.Permissions{apps.ClipboardWrite, "midi; camera", apps.Geolocation}}
	if got, want := ui.Allow(), "geolocation; clipboard-write"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := (apps.ResourceUI{}).Allow(); got != "" {
		t.Errorf("an app that asks for nothing is allowed %q", got)
	}
}

// A host decides what its model is told of a server's tools, and which calls of an app
// it passes on.
func ExampleOfTool() {
	for _, t := range []*mcp.Tool{
		{Name: "report", Meta: apps.ToolUI{ResourceURI: "ui://sales/report.html"}.Meta()},
		{Name: "refresh", Meta: apps.ToolUI{Visibility: []apps.Visibility{apps.VisibleToApp}}.Meta()},
	} {
		u, _ := apps.OfTool(t)
		fmt.Printf("%s: app %q, for the model %t, for the app %t\n", t.Name, u.ResourceURI, u.ForModel(), u.ForApp())
	}
	// Output:
	// report: app "ui://sales/report.html", for the model true, for the app true
	// refresh: app "", for the model false, for the app true
}
