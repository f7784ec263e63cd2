package cli

import (
	"context"

	consolepage "github.com/parley-mcp/parley/cmd/parley/internal/page/console"
	"github.com/parley-mcp/parley/mcp"
)

// kindsNamed are the kinds of what policies can be asked about.
var kindsNamed = map[mcp.FeatureKind]string{mcp.ToolFeature: "tool", mcp.PromptFeature: "prompt", mcp.ResourceFeature: "resource"}

// Names implements consolepage.Gateway.
func (g *consoleGateway) Names(ctx context.Context) (*consolepage.Names, error) {
	all, err := g.inventory(ctx)
	if err != nil {
		return nil, err
	}
	names := &consolepage.Names{Views: []string{}, Entries: []consolepage.Named{}, Missing: all.missing}
	for _, v := range all.config.Views {
		names.Views = append(names.Views, v.Name)
	}
	for _, e := range all.entries {
		if kind, ok := kindsNamed[e.Kind]; ok {
			names.Entries = append(names.Entries, consolepage.Named{Backend: e.Backend, Kind: kind, Name: e.Name, Shown: e.Shown})
		}
	}
	return names, nil
}
