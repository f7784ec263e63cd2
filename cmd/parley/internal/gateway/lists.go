package gateway

import (
	"context"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/catalogue"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/profile"
	"github.com/parley-mcp/parley/internal/vendors/adapt"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// list serves a list of what all backends of a view have.
func (v *View) list(ctx context.Context, s *setup, p *part, x *mcp.Exchange) (any, error) {
	var params struct {
		Cursor *string `json:"cursor"`
	}
	if x.Params != nil {
		if err := wire.Unmarshal(x.Params, &params); err != nil {
			return nil, mcp.InvalidParams("params: %v", err)
		}
	}
	shown := p.shown()
	shown.Profile, shown.Differs = s.profileFor(p, x.Peer.Info.Name)
	shown.Differs = shown.Differs || p.personal
	return s.catalogue.List(ctx, &x.Peer, x.Method, shown, params.Cursor)
}

// profileFor returns the profile of a client, and whether others who see the view may get
// another one.
func (s *setup) profileFor(p *part, client string) (_ *adapt.Profile, differs bool) {
	choice, clients := p.Profile, s.clients
	switch choice {
	case "":
		choice = s.profile
	case profile.Auto:
	default:
		clients = nil // the view is for those that it names
	}
	return profile.Choose(choice, clients, client), choice == profile.Auto || len(clients) > 0
}

// shown is what the catalogue shows of a view.
func (p *part) shown() catalogue.View {
	shown := catalogue.View{Name: p.name, Backends: p.Backends}
	if p.selects() {
		shown.Has = func(d *guard.Definition) bool { return p.has(d.Kind, d.Shown) }
	}
	return shown
}

// sources are the backends as the catalogue sees them.
func (s *setup) sources() []catalogue.Source {
	sources := make([]catalogue.Source, len(s.members))
	for i, m := range s.members {
		sources[i] = catalogue.Source{Names: m.names, Lister: m.backend, Key: m.backend.Key, Notifies: m.notifies}
	}
	return sources
}

// notifies reports whether a backend says when a list changes, as far as is known.
func (m *member) notifies(kind mcp.ChangeKind) bool {
	d := m.backend.Describe()
	if d == nil {
		return false
	}
	c := &d.Capabilities
	switch kind {
	case mcp.ToolsChanged:
		return c.Tools != nil && c.Tools.ListChanged
	case mcp.PromptsChanged:
		return c.Prompts != nil && c.Prompts.ListChanged
	case mcp.ResourcesChanged:
		return c.Resources != nil && c.Resources.ListChanged
	case mcp.ResourceUpdated, mcp.TaskChanged:
	}
	return false
}
