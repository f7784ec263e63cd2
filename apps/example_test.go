package apps_test

import (
	"fmt"

	"github.com/parley-mcp/parley/apps"
)

// A host shows an app under a policy that allows what the app has asked for, and
// nothing else.
func ExampleResourceUI_Policy() {
	ui := apps.ResourceUI{CSP: &apps.CSP{ConnectDomains: []string{"https://api.example.com"}}}
	fmt.Println(ui.Policy())
	// Output: default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; media-src 'self' data:; connect-src https://api.example.com; frame-src 'none'; base-uri 'self'; object-src 'none'; form-action 'none'
}

// What would not work is found where the app is made.
func ExampleApp_Check() {
	app := apps.App{URI: "https://example.com/chart", Name: "chart", HTML: "<!doctype html>"}
	fmt.Println(app.Check())
	app.URI = "ui://example/chart.html"
	fmt.Println(app.Check())
	// Output:
	// uri "https://example.com/chart" does not begin with "ui://" and a name, as that of an app does
	// <nil>
}
