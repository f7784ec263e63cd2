package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/parley-mcp/parley/client"
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

func (a *app) list() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "list [URL] [tools|resources|templates|prompts] [-- COMMAND...]",
		Short:   "List tools, resources, templates and prompts",
		Long:    "List what a server offers, with the arguments of tools and prompts. A list that\nthe server does not have is empty.",
		Example: "  parley list -- parley serve --stdio\n  parley list tools --output json -- parley serve --stdio",
	}
	honours(cmd, a.flags.reach, a.flags.format, a.flags.verbatim)
	cmd.RunE = a.onServer(0, 1, func(ctx context.Context, t target, args []string) error {
		wanted, err := wantedListings(args)
		if err != nil {
			return err
		}
		c, err := a.connect(ctx, t)
		if err != nil {
			return err
		}
		defer c.Close()
		return a.runList(ctx, c, wanted)
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

func (a *app) runList(ctx context.Context, c *client.Client, wanted []listing) error {
	var doc bytes.Buffer
	v := &lister{out: a.out}
	for i, l := range wanted {
		items, err := everything(ctx, c, l)
		if err != nil {
			return err
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
	}
	if a.flags.json() {
		a.out.json(json.RawMessage("{" + doc.String() + "}"))
	}
	return nil
}

// everything collects all pages of a list, each item verbatim.
func everything(ctx context.Context, c *client.Client, l listing) ([]json.RawMessage, error) {
	all := []json.RawMessage{}
	var at struct {
		Cursor *string `json:"cursor,omitzero"`
	}
	seen := make(map[string]bool)
	for {
		_, page, err := do[map[string]json.RawMessage](ctx, c, l.method, at)
		if absent(err) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		var items []json.RawMessage
		if err := wire.Unmarshal(orNull((*page)[l.member]), &items); err != nil {
			return nil, malformed(l.method, err)
		}
		all = append(all, items...)
		var next *string
		if err := wire.Unmarshal(orNull((*page)["nextCursor"]), &next); err != nil {
			return nil, malformed(l.method, err)
		}
		if next == nil {
			return all, nil
		}
		if seen[*next] {
			return nil, fmt.Errorf("%s: the server sent the cursor %q twice; the list would never end", l.method, *next)
		}
		seen[*next] = true
		at.Cursor = next
	}
}

// absent reports whether a server does not have a list at all.
func absent(err error) bool {
	var undeclared *client.NotDeclaredError
	var rpc *jsonrpc.Error
	return errors.As(err, &undeclared) || errors.As(err, &rpc) && rpc.Code == jsonrpc.CodeMethodNotFound
}
