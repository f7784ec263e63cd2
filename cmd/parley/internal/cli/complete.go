package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-mcp/parley/cmd/parley/internal/target"
	"github.com/parley-mcp/parley/internal/revision"
	"github.com/parley-mcp/parley/mcp"
)

const completeExamples = `  parley complete prompt code_review language py -- parley serve --stdio
  parley complete prompt code_review focus sec --with language=python -- parley serve --stdio
  parley complete resource 'db://tables/{table}' table cust -- parley serve --stdio`

func (a *app) complete() *cobra.Command {
	var with []string
	cmd := &cobra.Command{
		Use:     "complete [URL|@NAME] prompt|resource NAME ARGUMENT [PREFIX] [-- COMMAND...]",
		Short:   "Complete an argument",
		Long:    "Ask for values of an argument of a prompt, or of a variable of a resource\ntemplate, that start with PREFIX. NAME is the prompt's name or the URI template. What\nmakes sense may depend on the other arguments: --with tells those that are set.",
		Example: completeExamples,
	}
	honours(cmd, a.flags.reach, a.flags.format)
	cmd.Flags().StringArrayVar(&with, "with", nil, "tell the server another argument that is set, as `name=value` (repeatable)")
	a.completes(cmd, completeComplete, ofPrompt, ofResource)
	cmd.RunE = a.onServer(3, 4, func(ctx context.Context, t target.Target, args []string) error {
		params := mcp.CompleteParams{Argument: mcp.CompleteArgument{Name: args[2]}}
		if len(args) == 4 {
			params.Argument.Value = args[3]
		}
		var err error
		if params.Context, err = contextOf(with, args[2]); err != nil {
			return err
		}
		switch args[0] {
		case ofPrompt:
			params.Ref = mcp.Reference{Type: mcp.RefPrompt, Name: args[1]}
		case ofResource:
			params.Ref = mcp.Reference{Type: mcp.RefResource, URI: args[1]}
		default:
			return usagef("%q cannot be completed; it is prompt or resource", args[0])
		}
		return a.runComplete(ctx, t, params)
	})
	return cmd
}

// contextOf reads the arguments that are set besides the one that is completed.
func contextOf(with []string, completed string) (*mcp.CompletionContext, error) {
	if len(with) == 0 {
		return nil, nil //nolint:nilnil // no context is a context
	}
	set := make(map[string]string, len(with))
	for _, given := range with {
		name, value, ok := strings.Cut(given, "=")
		_, twice := set[name]
		switch {
		case !ok || name == "":
			return nil, usagef("--with %q is not of the form name=value", given)
		case twice:
			return nil, usagef("--with: argument %q is given twice", name)
		case name == completed:
			return nil, usagef("--with: argument %q is the one to complete; what it begins with is PREFIX", name)
		}
		set[name] = value
	}
	return &mcp.CompletionContext{Arguments: set}, nil
}

func (a *app) runComplete(ctx context.Context, t target.Target, params mcp.CompleteParams) error {
	c, err := a.connect(ctx, t)
	if err != nil {
		return err
	}
	defer a.leave(c)
	// Spec: 2025-06-18 changelog#other-schema-changes (2).
	if facts := revision.Of(c.Revision()); params.Context != nil && facts != nil && !facts.CompletionContext {
		a.note("--with is not sent: revision %s has no arguments that are already set", c.Revision())
		params.Context = nil
	}
	raw, result, err := do[mcp.CompleteResult](ctx, c, mcp.MethodComplete, params)
	if err != nil {
		return err
	}
	if a.flags.json() {
		a.out.json(raw)
		return nil
	}
	for _, value := range result.Completion.Values {
		a.out.printf("%s\n", label(value, 2000))
	}
	if result.Completion.HasMore {
		a.note("%s", a.err.dim("there are more"))
	}
	return nil
}
