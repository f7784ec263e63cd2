package apps_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/apps"
	"github.com/parley-mcp/parley/mcp"
)

const page = "<!doctype html><title>t</title>"

func verdict(t *testing.T, what string, err error, want string) {
	t.Helper()
	switch {
	case err == nil && want != "":
		t.Errorf("%s was accepted, not refused with %q", what, want)
	case err != nil && (want == "" || !strings.Contains(err.Error(), want)):
		t.Errorf("%s: error %q, want %q", what, err, want)
	}
}

func TestCheckApp(t *testing.T) {
	for what, c := range map[string]struct {
		app  apps.App
		want string
	}{
		"an app":          {apps.App{URI: "ui://a/b.html", Name: "a", HTML: page}, ""},
		"after a space":   {apps.App{URI: "ui://a", Name: "a", HTML: "\ufeff \n<!DOCTYPE HTML>"}, ""},
		"after comments":  {apps.App{URI: "ui://a", Name: "a", HTML: "<!-- made by\n a bundler --> <!----><!DOCTYPE\thtml >"}, ""},
		"a legacy string": {apps.App{URI: "ui://a", Name: "a", HTML: `<!DOCTYPE html SYSTEM "about:legacy-compat"><p>`}, ""},
		"HTML 4":          {apps.App{URI: "ui://a", Name: "a", HTML: `<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01//EN">`}, "not with"},
		"a long comment":  {apps.App{URI: "ui://a", Name: "a", HTML: "<!--" + strings.Repeat("-", 1<<20)}, "not with"},
		"no URI":          {apps.App{Name: "a", HTML: page}, `uri "" does not begin with "ui://"`},
		"another scheme":  {apps.App{URI: "https://a", Name: "a", HTML: page}, `does not begin with "ui://"`},
		"only a scheme":   {apps.App{URI: "ui://", Name: "a", HTML: page}, "and a name"},
		"a bad URI":       {apps.App{URI: "ui://a b", Name: "a", HTML: page}, "percent-encoded"},
		"no name":         {apps.App{URI: "ui://a", HTML: page}, "no name"},
		"no HTML":         {apps.App{URI: "ui://a", Name: "a"}, "no HTML"},
		"a part of HTML":  {apps.App{URI: "ui://a", Name: "a", HTML: "<p>Hello"}, `begins with "<p>Hello", not with "<!doctype html>"`},
		"not UTF-8":       {apps.App{URI: "ui://a", Name: "a", HTML: page + "\xff"}, "UTF-8"},
		"wrong in its UI": {apps.App{URI: "ui://a", Name: "a", HTML: page, UI: apps.ResourceUI{Domain: "a b"}}, "domain"},
	} {
		verdict(t, what, c.app.Check(), c.want)
	}
}

func TestCheckToolUI(t *testing.T) {
	for doc, want := range map[string]string{
		`{}`:                                         "",
		`{"resourceUri":"ui://a"}`:                   "",
		`{"visibility":["model","app"]}`:             "",
		`{"resourceUri":"https://a/"}`:               `resourceUri: uri "https://a/" does not begin with "ui://"`,
		`{"visibility":[]}`:                          "nobody could call",
		`{"visibility":["model","user"]}`:            `"user" is neither "model" nor "app"`,
		`{"resourceUri":"ui://a","visibility":null}`: "",
	} {
		var u apps.ToolUI
		if err := json.Unmarshal([]byte(doc), &u); err != nil {
			t.Fatal(err)
		}
		verdict(t, doc, u.Check(), want)
	}
}

func TestCheckResourceUI(t *testing.T) {
	csp := func(c apps.CSP) apps.ResourceUI { return apps.ResourceUI{CSP: &c} }
	for what, c := range map[string]struct {
		ui   apps.ResourceUI
		want string
	}{
		"nothing":                {},
		"all permissions":        {ui: apps.ResourceUI{Permissions: apps.Permissions{"camera", "microphone", "geolocation", "clipboardWrite"}}},
		"an unknown permission":  {apps.ResourceUI{Permissions: apps.Permissions{"midi"}}, `permission "midi" is none of`},
		"a name as domain":       {ui: apps.ResourceUI{Domain: "a904.example.com"}},
		"an origin as domain":    {ui: apps.ResourceUI{Domain: "https://app.example.com"}},
		"no domain":              {apps.ResourceUI{Domain: "app.example.com/x"}, `domain "app.example.com/x" is not one`},
		"origins":                {ui: csp(apps.CSP{ConnectDomains: []string{"https://a.example", "wss://b.example:8443", "http://127.0.0.1:9"}})},
		"a wildcard":             {ui: csp(apps.CSP{ResourceDomains: []string{"https://*.example.com"}})},
		"all":                    {csp(apps.CSP{ResourceDomains: []string{"*"}}), `csp.resourceDomains: "*" is not an origin`},
		"all hosts":              {csp(apps.CSP{ResourceDomains: []string{"https://*"}}), "is not an origin"},
		"a scheme":               {csp(apps.CSP{ResourceDomains: []string{"https:"}}), "is not an origin"},
		"no scheme":              {csp(apps.CSP{FrameDomains: []string{"www.example.com"}}), `csp.frameDomains: "www.example.com"`},
		"a path":                 {csp(apps.CSP{BaseURIDomains: []string{"https://a.example/"}}), `csp.baseUriDomains: "https://a.example/"`},
		"a socket for resources": {csp(apps.CSP{ResourceDomains: []string{"wss://a.example"}}), `schemes ["https" "http"]`},
		"another directive":      {csp(apps.CSP{ConnectDomains: []string{"https://a.example; script-src *"}}), "csp.connectDomains"},
		"a keyword":              {csp(apps.CSP{ConnectDomains: []string{"'unsafe-eval'"}}), "csp.connectDomains"},
		"a port of 0":            {csp(apps.CSP{ConnectDomains: []string{"https://a.example:0"}}), "csp.connectDomains"},
		"a user":                 {csp(apps.CSP{ConnectDomains: []string{"https://me@a.example"}}), "csp.connectDomains"},
		"letters beyond ASCII":   {csp(apps.CSP{ConnectDomains: []string{"https://bücher.example"}}), "csp.connectDomains"},
	} {
		verdict(t, what, c.ui.Check(), c.want)
	}
}

// What this package writes, it reads again, and permissions that it does not know are
// not forgotten.
func TestUIOnTheWire(t *testing.T) {
	yes := true
	ui := apps.ResourceUI{
		CSP:           &apps.CSP{ConnectDomains: []string{"https://a.example"}, BaseURIDomains: []string{}},
		Permissions:   apps.Permissions{apps.ClipboardWrite, apps.Camera},
		PrefersBorder: &yes,
	}
	const want = `{"csp":{"connectDomains":["https://a.example"],"baseUriDomains":[]},"permissions":{"camera":{},"clipboardWrite":{}},"prefersBorder":true}`
	if got := string(ui.Meta()[apps.MetaKey]); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if m := (apps.ResourceUI{}).Meta(); m != nil {
		t.Errorf("an app that needs nothing says %s", m)
	}
	if got := string(apps.ToolUI{}.Meta()[apps.MetaKey]); got != `{}` {
		t.Errorf("a tool without an app says %s", got)
	}
	var back apps.ResourceUI
	m := mcp.Meta{apps.MetaKey: json.RawMessage(`{"permissions":{"midi":{},"camera":{},"geolocation":true,"microphone":null},"new":1}`)}
	if _, err := m.Get(apps.MetaKey, &back); err != nil || len(back.Permissions) != 2 || back.Permissions[0] != apps.Camera || back.Permissions[1] != "midi" {
		t.Errorf("got %q, %v", back.Permissions, err)
	}
}

func TestIsMIMEType(t *testing.T) {
	for text, want := range map[string]bool{
		apps.MIMEType:                               true,
		"text/html; profile=mcp-app":                true,
		`Text/HTML;charset=utf-8;Profile="mcp-app"`: true,
		"text/html":                                 false,
		"text/html;profile=other":                   false,
		"text/uri-list;profile=mcp-app":             false,
		"":                                          false,
	} {
		if got := apps.IsMIMEType(text); got != want {
			t.Errorf("IsMIMEType(%q) is %v", text, got)
		}
	}
	if !apps.Supported().Shows() || (apps.Settings{MIMETypes: []string{"text/html"}}).Shows() {
		t.Error("the settings of a client do not say what it shows")
	}
}
