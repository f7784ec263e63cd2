package cli

import (
	"context"
	"path"

	"github.com/spf13/cobra"

	"github.com/parley-mcp/parley/cmd/parley/internal/target"
	"github.com/parley-mcp/parley/mcp"
)

const readExamples = `  parley read server://info -- parley serve --stdio
  parley read file://$PWD/README.md -- parley serve --stdio --root .
  parley read file://$PWD/logo.png -- parley serve --stdio --root . > copy.png`

func (a *app) read() *cobra.Command {
	var save string
	cmd := &cobra.Command{
		Use:     "read [URL|@NAME] URI [-- COMMAND...]",
		Short:   "Read a resource",
		Long:    "Read a resource and write it to standard output unchanged. Binary content is not\nwritten to a terminal.",
		Example: readExamples,
	}
	cmd.Flags().StringVar(&save, "save", "", "write binary content to files in `DIR`")
	honours(cmd, a.flags.reach, a.flags.format, a.flags.verbatim, a.flags.asked)
	a.completes(cmd, completeRead)
	cmd.RunE = a.onServer(1, 1, func(ctx context.Context, t target.Target, args []string) error {
		c, err := a.connect(ctx, t)
		if err != nil {
			return err
		}
		defer a.leave(c)
		progress, done := a.progress(args[0])
		raw, result, err := do[mcp.ReadResourceResult](ctx, c, mcp.MethodReadResource, mcp.ReadResourceParams{URI: args[0]}, progress)
		done()
		if err != nil {
			return err
		}
		if a.flags.json() {
			a.out.json(raw)
			return nil
		}
		return a.showContents(result.Contents, save)
	})
	return cmd
}

// showContents writes resources one after the other, and adds nothing to them
// unless it writes to a terminal.
func (a *app) showContents(contents []*mcp.ResourceContents, save string) error {
	v := &viewer{app: a, out: a.out, save: save}
	for _, r := range contents {
		if len(contents) > 1 && a.out.terminal {
			a.out.printf("%s\n", a.out.bold(label(r.URI, 500)))
		}
		switch {
		case r.Text != nil && a.out.terminal:
			a.out.printf("%s", endLine(*r.Text))
		case r.Text != nil:
			a.out.printf("%s", *r.Text)
		case save != "" || a.out.terminal:
			if err := v.blob("resource "+label(r.URI, 200), path.Base(r.URI), r.MIMEType, r.Blob); err != nil {
				return err
			}
		default:
			_, _ = a.out.Write(r.Blob) // Run reports the error
		}
	}
	return nil
}
