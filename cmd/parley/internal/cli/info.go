package cli

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/target"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

func (a *app) info() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "info [URL|@NAME] [-- COMMAND...]",
		Short:   "Show who a server is and what it offers",
		Example: "  parley info -- parley serve --stdio\n  parley info --revision 2024-11-05 -- parley serve --stdio",
	}
	honours(cmd, a.flags.reach, a.flags.format, a.flags.verbatim)
	a.completes(cmd, nil)
	cmd.RunE = a.onServer(0, 0, func(ctx context.Context, t target.Target, _ []string) error {
		c, err := a.connect(ctx, t)
		if err != nil {
			return err
		}
		defer a.leave(c)
		if a.flags.json() {
			return a.infoJSON(c)
		}
		a.infoText(c)
		return nil
	})
	return cmd
}

func (a *app) infoJSON(c *client.Client) error {
	raw, err := wire.Marshal(struct {
		Server       mcp.Implementation     `json:"serverInfo"`
		Revision     mcp.Revision           `json:"revision"`
		Revisions    []string               `json:"revisions"`
		Capabilities mcp.ServerCapabilities `json:"capabilities"`
		Instructions string                 `json:"instructions,omitzero"`
	}{c.ServerInfo(), c.Revision(), c.ServerRevisions(), c.ServerCapabilities(), c.Instructions()})
	a.out.json(raw)
	return err
}

func (a *app) infoText(c *client.Client) {
	server := c.ServerInfo()
	title := server.Name
	if server.Title != "" {
		title = server.Title + " (" + server.Name + ")"
	}
	a.out.printf("%s %s\n", a.out.bold(label(title, 200)), label(server.Version, 80))
	line := func(name, text string) {
		if text != "" {
			a.out.printf("%-13s %s\n", name, label(text, 2000))
		}
	}
	line("description", server.Description)
	line("website", server.WebsiteURL)
	line("revision", c.Revision().String())
	line("speaks", strings.Join(c.ServerRevisions(), ", "))
	caps := c.ServerCapabilities()
	line("capabilities", strings.Join(capabilityNames(&caps), ", "))
	if text := c.Instructions(); text != "" {
		a.out.printf("\n%s\n", a.out.dim(text))
	}
}

// capabilityNames lists the capabilities of a server, each with its details.
func capabilityNames(c *mcp.ServerCapabilities) []string {
	var names []string
	add := func(offered bool, name string, particulars ...string) {
		if particulars = slices.DeleteFunc(particulars, func(s string) bool { return s == "" }); len(particulars) > 0 {
			name += " (" + strings.Join(particulars, ", ") + ")"
		}
		if offered {
			names = append(names, name)
		}
	}
	add(c.Tools != nil, "tools", listChanges(c.Tools))
	if r := c.Resources; r != nil {
		add(true, "resources", when(r.ListChanged, "list changes"), when(r.Subscribe, "subscriptions"))
	}
	add(c.Prompts != nil, "prompts", listChanges(c.Prompts))
	add(c.Completions != nil, "completions")
	add(c.Logging != nil, "logging")
	names = append(names, keys("extension ", c.Extensions)...)
	return append(names, keys("experimental ", c.Experimental)...)
}

func listChanges(c *mcp.ListCapability) string {
	return when(c != nil && c.ListChanged, "list changes")
}

func when(yes bool, s string) string {
	if yes {
		return s
	}
	return ""
}

func keys(prefix string, m map[string]json.RawMessage) []string {
	var names []string
	for name := range m {
		names = append(names, prefix+label(name, 100))
	}
	slices.Sort(names)
	return names
}
