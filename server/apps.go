package server

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/parley-mcp/parley/apps"
	"github.com/parley-mcp/parley/mcp"
)

// AddApp adds an app as a resource, or replaces the resource with its URI. Tools name it
// with apps.ToolUI in their _meta, before or after it is added:
//
//	server.AddTool(s, mcp.Tool{Name: "report", Meta: apps.ToolUI{ResourceURI: app.URI}.Meta()}, report)
//
// A tool whose app does not exist is logged when the tools are listed. For an app that
// is made anew each time it is read, there is AddResource, with a URI that begins with
// apps.Scheme.
//
// The server declares the extension as soon as it has an app, or a tool that names one.
// Not every client can show it, and a model does not see it: a tool with an app says in
// its content what the app shows; see Call.ShowsApps. A tool that is visible to
// apps only is listed all the same, because it is the client that hides it from its
// model, and some do not know how: it must be harmless for a model to call.
//
// AddApp panics when what apps.App.Check checks is not so, or an icon is not valid.
//
// Spec: extensions/apps 2026-01-26 specification#ui-resource-format.
func (s *Server) AddApp(a apps.App) { must(s.TryAddApp(a)) }

// TryAddApp is AddApp for apps that are made at run time: it returns an error instead of
// panicking.
func (s *Server) TryAddApp(a apps.App) error {
	if err := a.Check(); err != nil {
		return fmt.Errorf("app %q: %w", shorten(a.URI), err)
	}
	contents := mcp.TextResource(a.URI, apps.MIMEType, a.HTML)
	contents.Meta = a.UI.Meta()
	return s.TryAddResource(mcp.Resource{
		URI: a.URI, Name: a.Name, Title: a.Title, Description: a.Description, Icons: a.Icons,
		MIMEType: apps.MIMEType,
		Meta:     contents.Meta,
	}, func(context.Context, *Call, string) (*mcp.ReadResourceResult, error) { return Contents(contents), nil })
}

// ShowsApps reports whether the client can show the app of a tool. If it cannot, the
// result of the tool is all that its user gets to see.
//
// Spec: extensions/apps 2026-01-26 specification#server-behavior.
func (c *Call) ShowsApps() bool {
	var settings apps.Settings
	return c.Extension(apps.Extension, &settings) == nil && settings.Shows()
}

// appLinks remembers which apps are to be looked for.
type appLinks struct {
	used atomic.Bool // there is something to declare
	some atomic.Bool // in unseen
	mu   sync.Mutex
	// unseen has the app of each tool that was added since the tools were last listed.
	unseen map[string]string
}

// noteTool is called when a tool has been added that says something about apps. uri may be
// empty.
func (l *appLinks) noteTool(tool, uri string) {
	l.used.Store(true)
	if uri == "" {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.unseen == nil {
		l.unseen = map[string]string{}
	}
	l.unseen[tool] = uri
	l.some.Store(true)
}

// noteResource is called when a resource or a template has been added.
func (l *appLinks) noteResource(uri string) {
	if strings.HasPrefix(uri, apps.Scheme) {
		l.used.Store(true)
	}
}

// take returns what was added since it was last called.
func (l *appLinks) take() map[string]string {
	if !l.some.Load() {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.some.Store(false)
	taken := l.unseen
	l.unseen = nil
	return taken
}

// reportMissingApps logs, once each, the tools whose apps do not exist. It is called
// when the tools are listed, so that it does not matter which of the two is added first.
//
// Spec: extensions/apps 2026-01-26 specification#resource-discovery.
func (s *Server) reportMissingApps(ctx context.Context) {
	for name, uri := range s.apps.take() {
		if _, ok := s.tools.get(name); ok && !s.hasResource(uri) {
			s.log.WarnContext(ctx, "a tool names an app that this server does not have: add it with AddApp", "tool", name, "uri", uri)
		}
	}
}

func (s *Server) hasResource(uri string) bool {
	if _, ok := s.resources.get(uri); ok {
		return true
	}
	for _, t := range s.templates.load().plans {
		if t.match(uri) != nil {
			return true
		}
	}
	return false
}

// toolUI returns what a tool that is to be added says about apps; said is false if that
// is nothing.
func toolUI(m mcp.Meta) (u apps.ToolUI, said bool, err error) {
	if said, err = m.Get(apps.MetaKey, &u); err == nil {
		err = u.Check()
	}
	if err != nil {
		return u, said, fmt.Errorf("_meta.%s: %w", apps.MetaKey, err)
	}
	return u, said, nil
}

// checkContents checks contents that a handler has returned.
func (s *Server) checkContents(c *mcp.ResourceContents) error {
	if err := s.rules.Resource(c); err != nil {
		return err
	}
	return checkApp(c.URI, c.MIMEType, c.Meta)
}

// checkApp checks a resource, or contents of one, if its URI or template is one that is
// kept for apps.
//
// Spec: extensions/apps 2026-01-26 specification#content-requirements.
func checkApp(uri, mimeType string, m mcp.Meta) error {
	if !strings.HasPrefix(uri, apps.Scheme) {
		return nil
	}
	if mimeType != apps.MIMEType {
		return fmt.Errorf("the scheme %q is kept for apps, whose MIME type is %q, not %q", apps.Scheme, apps.MIMEType, mimeType)
	}
	var ui apps.ResourceUI
	_, err := m.Get(apps.MetaKey, &ui)
	if err == nil {
		err = ui.Check()
	}
	if err != nil {
		return fmt.Errorf("_meta.%s: %w", apps.MetaKey, err)
	}
	return nil
}

// withApps adds the extension to those of Options.Extensions.
func (s *Server) withApps() objects {
	if _, ok := s.extensions[apps.Extension]; ok {
		return s.extensions
	}
	all := maps.Clone(s.extensions)
	if all == nil {
		all = objects{}
	}
	all[apps.Extension] = json.RawMessage("{}")
	return all
}
