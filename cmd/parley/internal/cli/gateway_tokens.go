package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/config"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/tokens"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

const gatewayTokensLong = `Connect to all servers behind a gateway, and show what their tools cost a model in each
of its requests, in tokens: by server and tool, the dearest first, in the form of each
profile, by view, and what a view with search: true costs instead. Nothing is called.

Tokens are estimated, since each model has other ones: one for four characters of ASCII,
and one for each other character.`

func (a *app) gatewayTokens() *cobra.Command {
	all := false
	cmd := a.onInventory(&cobra.Command{
		Use:     "tokens FILE",
		Short:   "Show what the lists of tools cost a model",
		Long:    gatewayTokensLong,
		Example: "  parley gateway tokens gateway.yaml\n  parley gateway tokens mcp.json --output json",
	}, func(i *inventory) error {
		r := tokens.Of(i.tools(), viewsOf(i.config))
		if a.flags.json() {
			raw, err := wire.Marshal(struct {
				*tokens.Report

				Missing map[string]string `json:"unavailable,omitzero"`
			}{r, i.missing})
			a.out.json(raw)
			return err
		}
		a.showTokens(r, all)
		return nil
	})
	cmd.Flags().BoolVar(&all, "all", false, "show all tools, and not only the dearest of each server")
	return cmd
}

// tools are the tools among the entries.
func (i *inventory) tools() (list []tokens.Tool) {
	for _, e := range i.entries {
		if e.Kind == mcp.ToolFeature {
			list = append(list, tokens.Tool{Definition: e.Definition, Entry: e.Entry})
		}
	}
	return list
}

func viewsOf(c *config.Config) (views []tokens.View) {
	for _, v := range c.Views {
		views = append(views, tokens.View{Name: v.Name, Search: v.Search, Has: func(d *guard.Definition) bool {
			return (v.Backends == nil || slices.Contains(v.Backends, d.Backend)) && v.Tools.Has(d.Shown)
		}})
	}
	return views
}

// dearest is how many tools of a server are shown.
const dearest = 5

func (a *app) showTokens(r *tokens.Report, all bool) {
	a.out.printf("%s for %s, in each request of a model\n", a.out.bold(counted(r.Tokens, "token")), counted(r.Tools, "tool"))
	var forms []string
	for _, p := range r.Profiles {
		forms = append(forms, fmt.Sprintf("%s %d%s", p.Name, p.Tokens, when(p.Unfit > 0, fmt.Sprintf(" without %s", counted(p.Unfit, "tool")))))
	}
	a.out.printf("  profiles  %s\n  search    %d, with search: true in a view\n", strings.Join(forms, ", "), r.Search)
	for _, v := range r.Views {
		a.out.printf("  view      %s %d\n", label(v.Name, 60), v.Tokens)
	}
	for _, b := range r.Backends {
		a.out.printf("%s  %d  %s\n", a.out.bold(label(b.Name, 60)), b.Tokens, a.out.dim(fmt.Sprintf("%d%%", 100*b.Tokens/max(r.Tokens, 1))))
		shown, rest := b.Tools, 0
		if !all && len(shown) > dearest+1 {
			shown = shown[:dearest]
		}
		for _, t := range shown {
			a.out.printf("  %6d  %s\n", t.Tokens, label(t.Name, 100))
		}
		for _, t := range b.Tools[len(shown):] {
			rest += t.Tokens
		}
		if n := len(b.Tools) - len(shown); n > 0 {
			a.out.printf("  %6d  %s\n", rest, a.out.dim(fmt.Sprintf("%d more; --all shows them", n)))
		}
	}
}
