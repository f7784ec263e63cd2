// Package apps is the vocabulary of MCP Apps, the extension
// io.modelcontextprotocol/ui: user interfaces that a server brings along, and that a
// host shows beside the result of a tool.
//
// A server adds an [App] with server.AddApp and names it in the _meta of its tools, with
// [ToolUI]. A host declares [Supported] in its client's options, asks [OfTool] which
// tools have an app, reads it with client.ReadApp, and shows its HTML in a sandboxed
// frame of another origin, under the policy that [ResourceUI.Policy] returns. What the
// frame and the host say to each other does not pass through this module.
//
//	chart := apps.App{URI: "ui://example/chart.html", Name: "chart", HTML: page}
//	srv.AddApp(chart)
//	server.AddTool(srv, mcp.Tool{Name: "sales", Meta: apps.ToolUI{ResourceURI: chart.URI}.Meta()}, sales)
//
// Spec: extensions/apps 2026-01-26.
package apps

import (
	"encoding/json"
	"slices"

	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

const (
	// Extension identifies the extension in the capabilities of clients and servers.
	//
	// Spec: extensions/apps 2026-01-26 specification#extension-identifier.
	Extension = "io.modelcontextprotocol/ui"
	// MIMEType is the type of the content of apps.
	MIMEType = "text/html;profile=mcp-app"
	// Scheme begins the URIs of apps, and of nothing else.
	Scheme = "ui://"
	// MetaKey is the key of _meta under which tools, resources and contents say what
	// this extension defines: a ToolUI or a ResourceUI.
	MetaKey = "ui"
)

// App is a user interface: what a server offers, and what a host has read.
type App struct {
	// URI identifies the app; it begins with Scheme.
	URI string
	// Name, Title, Description and Icons describe the app in lists of resources. Only
	// Name is required. In an app that was read, they are empty.
	Name, Title, Description string
	Icons                    []mcp.Icon
	// HTML is a complete HTML5 document. It gets the results of tools from the host
	// while it is shown, and so is the same for all of them.
	HTML string
	// UI says what the document needs of its host.
	UI ResourceUI
}

// Visibility says who may call a tool.
type Visibility string

// The values of Visibility.
const (
	// VisibleToModel says that the host's model sees the tool and may call it.
	VisibleToModel Visibility = "model"
	// VisibleToApp says that apps of the tool's own server may call it.
	VisibleToApp Visibility = "app"
)

// ToolUI is what a tool says about apps, in its _meta.
//
// Spec: extensions/apps 2026-01-26 specification#resource-discovery.
type ToolUI struct {
	// ResourceURI names the app that shows the tool's results. It is empty for a tool
	// without one.
	ResourceURI string `json:"resourceUri,omitzero"`
	// Visibility says who may call the tool; nil means the model and apps. It is the
	// host that keeps to it: a host that does not know apps shows its model every tool.
	Visibility []Visibility `json:"visibility,omitzero"`
}

// Meta returns a _meta that holds u and nothing else.
func (u ToolUI) Meta() mcp.Meta { return meta(u) }

// ResourceUI is what an app needs of its host, in the _meta of its resource and of its
// contents. The zero value needs nothing: no network, no permissions.
//
// Spec: extensions/apps 2026-01-26 specification#ui-resource-format.
type ResourceUI struct {
	// CSP names the origins that the app needs; nil means none.
	CSP *CSP `json:"csp,omitzero"`
	// Permissions are what the app asks of the browser. A host need not grant them.
	Permissions Permissions `json:"permissions,omitzero"`
	// Domain asks for an origin of the app's own. What it looks like depends on the
	// host; empty leaves it to the host.
	Domain string `json:"domain,omitzero"`
	// PrefersBorder says whether the host should draw a border and a background; nil
	// leaves it to the host.
	PrefersBorder *bool `json:"prefersBorder,omitzero"`
}

// Meta returns a _meta that holds u and nothing else, or nil for the zero value.
func (u ResourceUI) Meta() mcp.Meta {
	if u.isZero() {
		return nil
	}
	return meta(u)
}

func (u ResourceUI) isZero() bool {
	return u.CSP == nil && u.Permissions == nil && u.Domain == "" && u.PrefersBorder == nil
}

// CSP names origins, such as "https://api.example.com" or "https://*.example.com". What
// is not named is not allowed.
type CSP struct {
	// ConnectDomains are for requests, also with ws and wss.
	ConnectDomains []string `json:"connectDomains,omitzero"`
	// ResourceDomains are for scripts, styles, images, fonts and media.
	ResourceDomains []string `json:"resourceDomains,omitzero"`
	// FrameDomains are for frames in the app.
	FrameDomains []string `json:"frameDomains,omitzero"`
	// BaseURIDomains are for the document's base URI.
	BaseURIDomains []string `json:"baseUriDomains,omitzero"`
}

// Permission is something that a browser allows a document to do only if its host does.
type Permission string

// The permissions.
const (
	Camera         Permission = "camera"
	Microphone     Permission = "microphone"
	Geolocation    Permission = "geolocation"
	ClipboardWrite Permission = "clipboardWrite"
)

// Permissions is a set of permissions. On the wire it is an object with a member for
// each of them.
type Permissions []Permission

// MarshalJSON implements json.Marshaler.
func (p Permissions) MarshalJSON() ([]byte, error) {
	members := make(map[Permission]mcp.Empty, len(p))
	for _, name := range p {
		members[name] = mcp.Empty{}
	}
	return wire.Marshal(members)
}

// UnmarshalJSON implements json.Unmarshaler. Permissions that this package does not
// know are kept: Check refuses them, and Allow leaves them out.
func (p *Permissions) UnmarshalJSON(doc []byte) error {
	var members map[Permission]json.RawMessage
	if err := wire.Unmarshal(doc, &members); err != nil {
		return err
	}
	*p = nil
	for _, name := range sorted(members) {
		if raw := members[name]; len(raw) > 0 && raw[0] == '{' {
			*p = append(*p, name)
		}
	}
	return nil
}

// Settings are what a client says about the apps that it can show.
//
// Spec: extensions/apps 2026-01-26 specification#client-host-capabilities.
type Settings struct {
	// MIMETypes are the types of apps that the client can show.
	MIMETypes []string `json:"mimeTypes"`
}

// Supported returns the settings of a client that can show apps, for its options:
//
//	client.Options{Extensions: map[string]any{apps.Extension: apps.Supported()}}
func Supported() Settings { return Settings{MIMETypes: []string{MIMEType}} }

// Shows reports whether a client with these settings can show apps of MIMEType.
func (s Settings) Shows() bool {
	return slices.ContainsFunc(s.MIMETypes, IsMIMEType)
}

// meta returns a _meta for v, which always has a JSON form.
func meta(v any) mcp.Meta {
	var m mcp.Meta
	if err := m.Set(MetaKey, v); err != nil {
		panic(err)
	}
	return m
}
