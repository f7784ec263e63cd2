package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/parley-mcp/parley/cmd/parley/internal/target"
	"github.com/parley-mcp/parley/mcp"
)

const completeExamples = `  parley complete prompt code_review language py -- parley serve --stdio
  parley complete resource 'db://tables/{table}' table cust -- parley serve --stdio`

func (a *app) complete() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "complete [URL|@NAME] prompt|resource NAME ARGUMENT [PREFIX] [-- COMMAND...]",
		Short:   "Complete an argument",
		Long:    "Ask for values of an argument of a prompt, or of a variable of a resource\ntemplate, that start with PREFIX. NAME is the prompt's name or the URI template.",
		Example: completeExamples,
	}
	honours(cmd, a.flags.reach, a.flags.format)
	a.completes(cmd, completeComplete, ofPrompt, ofResource)
	cmd.RunE = a.onServer(3, 4, func(ctx context.Context, t target.Target, args []string) error {
		params := mcp.CompleteParams{Argument: mcp.CompleteArgument{Name: args[2]}}
		if len(args) == 4 {
			params.Argument.Value = args[3]
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

func (a *app) runComplete(ctx context.Context, t target.Target, params mcp.CompleteParams) error {
	c, err := a.connect(ctx, t)
	if err != nil {
		return err
	}
	defer a.leave(c)
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
