package gateway

import (
	"fmt"
	"slices"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/naming"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/profile"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/who"
	"github.com/parley-mcp/parley/mcp"
)

// Part is what a view shows of the whole.
type Part struct {
	// Backends are the names of those it shows; nil is all.
	Backends []string
	// Tools, Prompts and Resources select, by the names and URIs that clients see.
	Tools, Prompts, Resources naming.Selection
	// Principals are those who may use it, as package who names them; nil is everybody.
	Principals []string
	// DefaultFor are those who get it where no view is named, and may use it.
	DefaultFor []string
	// Search shows three tools that find, describe and call the others, in place of these.
	Search bool
	// Profile says which clients see tools in the form that their models take; "" is
	// Setup.Profile.
	Profile profile.Choice
}

// part is a view of a setup.
type part struct {
	Part

	name string
	// personal says that not everybody sees the same at the same place.
	personal bool
	members  []*member
	byName   map[string]*member
}

// check refuses views of backends that there are not.
func (p *Part) check(names *naming.Names) error {
	for _, name := range p.Backends {
		if names.Backend(name) == nil {
			return fmt.Errorf("there is no backend %q", name)
		}
	}
	return nil
}

// newPart returns what a view of this name shows of a setup.
func newPart(s *setup, name string, p Part) *part {
	made := &part{Part: p, name: name, personal: p.Principals != nil || p.DefaultFor != nil, byName: map[string]*member{}}
	for _, m := range s.members {
		if p.Backends == nil || slices.Contains(p.Backends, m.backend.Name()) {
			made.members = append(made.members, m)
			made.byName[m.backend.Name()] = m
		}
	}
	return made
}

// defaultsOf returns the views that principals get where no view is named.
func defaultsOf(views map[string]Part) (map[string]string, error) {
	defaults := map[string]string{}
	for name, p := range views {
		for _, principal := range p.DefaultFor {
			if other, ok := defaults[principal]; ok && other != name {
				return nil, fmt.Errorf("%q gets both the view %q and the view %q", principal, min(name, other), max(name, other))
			}
			defaults[principal] = name
		}
	}
	return defaults, nil
}

// member returns the backend of this name, or nil if the view does not show it.
func (p *part) member(name string) *member { return p.byName[name] }

// has reports whether the view shows what clients see under this name.
func (p *part) has(kind mcp.FeatureKind, shown string) bool {
	switch kind {
	case mcp.ToolFeature:
		return p.Tools.Has(shown)
	case mcp.PromptFeature:
		return p.Prompts.Has(shown)
	case mcp.ResourceFeature, mcp.TemplateFeature:
		return p.Resources.Has(shown)
	case mcp.TaskFeature:
	}
	return true
}

// selects reports whether the view leaves anything out of the backends that it shows.
func (p *part) selects() bool {
	for _, s := range []naming.Selection{p.Tools, p.Prompts, p.Resources} {
		if s.Include != nil || s.Exclude != nil {
			return true
		}
	}
	return false
}

// admits reports whether somebody may use the view.
func (p *part) admits(principal string) bool {
	return p.Principals == nil || who.In(p.Principals, principal) || who.In(p.DefaultFor, principal)
}
