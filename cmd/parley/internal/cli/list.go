package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/target"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// listing is one of the lists that a server may have.
type listing struct {
	name   string // as the user names it
	method string
	member string // of the result
	show   func(v *lister, item json.RawMessage) error
}

func listings() []listing {
	return []listing{
		{"tools", mcp.MethodListTools, "tools", (*lister).tool},
		{"resources", mcp.MethodListResources, "resources", (*lister).resource},
		{"templates", mcp.MethodListTemplates, "resourceTemplates", (*lister).template},
		{"prompts", mcp.MethodListPrompts, "prompts", (*lister).prompt},
	}
}

func listingNames() []string {
	var names []string
	for _, l := range listings() {
		names = append(names, l.name)
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
		if l.name == args[0] {
			return []listing{l}, nil
		}
	}
	return nil, usagef("there is no list %q; there are tools, resources, templates and prompts", args[0])
}

func (a *app) runList(ctx context.Context, c *client.Client, wanted []listing, b bounds) error {
	var doc bytes.Buffer
	v := &lister{out: a.out}
	for i, l := range wanted {
		items, endless := everything(ctx, c, l, b)
		if endless != nil && (a.flags.json() || len(items) == 0) {
			return endless
		}
		if a.flags.json() {
			raw, err := wire.Marshal(items)
			if err != nil {
				return err
			}
			fmt.Fprintf(&doc, "%s%q:%s", when(i > 0, ","), l.member, raw)
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
type bounds struct {
	pages int
	bytes int64
}

// register registers the flags for the bounds.
func (b *bounds) register(cmd *cobra.Command) {
	cmd.Flags().IntVar(&b.pages, "max-pages", 1000, "give a list up that has more than `N` pages; 0 means no bound")
	cmd.Flags().Int64Var(&b.bytes, "max-bytes", 64<<20, "give a list up that is longer than `N` bytes; 0 means no bound")
}

// check says that a list goes on beyond its bounds.
func (b bounds) check(method string, pages int, bytes int64) error {
	switch {
	case b.pages > 0 && pages >= b.pages:
		return fmt.Errorf("%s: the list goes on after %d pages; --max-pages allows more", method, pages)
	case b.bytes > 0 && bytes > b.bytes:
		return fmt.Errorf("%s: the list is longer than %d bytes; --max-bytes allows more", method, b.bytes)
	}
	return nil
}

// everything collects all pages of a list, each item verbatim. With an error, it
// returns those that came before.
func everything(ctx context.Context, c *client.Client, l listing, b bounds) ([]json.RawMessage, error) {
	all := []json.RawMessage{}
	var at struct {
		Cursor *string `json:"cursor,omitzero"`
	}
	var size int64
	for pages := 1; ; pages++ {
		raw, page, err := do[map[string]json.RawMessage](ctx, c, l.method, at)
		if absent(err) {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		var items []json.RawMessage
		if err := wire.Unmarshal(orNull((*page)[l.member]), &items); err != nil {
			return all, malformed(l.method, err)
		}
		all = append(all, items...)
		var next *string
		if err := wire.Unmarshal(orNull((*page)["nextCursor"]), &next); err != nil {
			return all, malformed(l.method, err)
		}
		if next == nil {
			return all, nil
		}
		size += int64(len(raw))
		if err := b.check(l.method, pages, size); err != nil {
			return all, err
		}
		at.Cursor = next
	}
}

// absent reports whether a server does not have a list at all.
func absent(err error) bool {
	var undeclared *client.NotDeclaredError
	var rpc *jsonrpc.Error
	return errors.As(err, &undeclared) || errors.As(err, &rpc) && rpc.Code == jsonrpc.CodeMethodNotFound
}
