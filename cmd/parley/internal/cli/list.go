package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/serverlist"
	"github.com/parley-mcp/parley/cmd/parley/internal/target"
	"github.com/parley-mcp/parley/internal/wire"
)

// listing is a list with how it is shown.
type listing struct {
	serverlist.List

	show func(v *lister, item json.RawMessage) error
}

func listings() []listing {
	return []listing{
		{serverlist.Tools, (*lister).tool},
		{serverlist.Resources, (*lister).resource},
		{serverlist.Templates, (*lister).template},
		{serverlist.Prompts, (*lister).prompt},
	}
}

func listingNames() []string {
	var names []string
	for _, l := range listings() {
		names = append(names, l.Name)
	}
	return names
}

func (a *app) list() *cobra.Command {
	var b bounds
	cmd := &cobra.Command{
		Use:     "list [URL|@NAME] [tools|resources|templates|prompts] [-- COMMAND...]",
		Short:   "List tools, resources, templates and prompts",
		Long:    "List what a server offers, with the arguments of tools and prompts. A list that\nthe server does not have is empty.",
		Example: "  parley list -- parley serve --stdio\n  parley list tools --output json -- parley serve --stdio",
	}
	honours(cmd, a.flags.reach, a.flags.format, a.flags.verbatim, a.flags.asked)
	b.register(cmd)
	a.completes(cmd, nil, listingNames()...)
	cmd.RunE = a.onServer(0, 1, func(ctx context.Context, t target.Target, args []string) error {
		wanted, err := wantedListings(args)
		if err != nil {
			return err
		}
		c, err := a.connect(ctx, t)
		if err != nil {
			return err
		}
		defer a.leave(c)
		return a.runList(ctx, c, wanted, b)
	})
	return cmd
}

func wantedListings(args []string) ([]listing, error) {
	all := listings()
	if len(args) == 0 {
		return all, nil
	}
	for _, l := range all {
		if l.Name == args[0] {
			return []listing{l}, nil
		}
	}
	return nil, usagef("there is no list %q; there are tools, resources, templates and prompts", args[0])
}

func (a *app) runList(ctx context.Context, c *client.Client, wanted []listing, b bounds) error {
	var doc bytes.Buffer
	v := &lister{out: a.out}
	for i, l := range wanted {
		items, endless := everything(ctx, c, l.List, b)
		if endless != nil && (a.flags.json() || len(items) == 0) {
			return endless
		}
		if a.flags.json() {
			raw, err := wire.Marshal(items)
			if err != nil {
				return err
			}
			fmt.Fprintf(&doc, "%s%q:%s", when(i > 0, ","), l.Member, raw)
			continue
		}
		if err := v.section(l, items, i > 0); err != nil {
			return err
		}
		if endless != nil {
			return endless
		}
	}
	if a.flags.json() {
		a.out.json(json.RawMessage("{" + doc.String() + "}"))
	}
	return nil
}

// bounds end a list of a server that sends ever new pages.
type bounds struct{ serverlist.Bounds }

// register registers the flags for the bounds.
func (b *bounds) register(cmd *cobra.Command) {
	cmd.Flags().IntVar(&b.Pages, "max-pages", serverlist.DefaultBounds.Pages, "give a list up that has more than `N` pages; 0 means no bound")
	cmd.Flags().Int64Var(&b.Bytes, "max-bytes", serverlist.DefaultBounds.Bytes, "give a list up that is longer than `N` bytes; 0 means no bound")
}

// everything collects all pages of a list, each item verbatim. With an error, it
// returns those that came before.
func everything(ctx context.Context, c *client.Client, l serverlist.List, b bounds) ([]json.RawMessage, error) {
	all, err := serverlist.Fetch(ctx, c, l, b.Bounds)
	var endless *serverlist.EndlessError
	if errors.As(err, &endless) {
		err = fmt.Errorf("%w; %s allows more", err, when(endless.Bytes == 0, "--max-pages")+when(endless.Bytes > 0, "--max-bytes"))
	}
	return all, err
}
