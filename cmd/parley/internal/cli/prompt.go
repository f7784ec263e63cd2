package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/parley-mcp/parley/cmd/parley/internal/target"
	"github.com/parley-mcp/parley/mcp"
)

func (a *app) prompt() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "prompt [URL|@NAME] NAME [key=value]... [-- COMMAND...]",
		Short:   "Fill in a prompt",
		Long:    "Fill in a prompt with arguments, which are text, and show its messages.",
		Example: "  parley prompt code_review code='x = 1' language=python -- parley serve --stdio",
	}
	honours(cmd, a.flags.reach, a.flags.format, a.flags.verbatim, a.flags.asked)
	a.completes(cmd, completeGet)
	cmd.RunE = a.onServer(1, -1, func(ctx context.Context, t target.Target, args []string) error {
		pairs, err := parsePairs(args[1:])
		if err != nil {
			return err
		}
		params := mcp.GetPromptParams{Name: args[0], Arguments: make(map[string]string, len(pairs))}
		for _, p := range pairs {
			if p.JSON {
				return usagef("argument %q: the arguments of prompts are text; use %s=…", p.Key, p.Key)
			}
			params.Arguments[p.Key] = p.Text
		}
		return a.runPrompt(ctx, t, params)
	})
	return cmd
}

func (a *app) runPrompt(ctx context.Context, t target.Target, params mcp.GetPromptParams) error {
	c, err := a.connect(ctx, t)
	if err != nil {
		return err
	}
	defer a.leave(c)
	progress, done := a.progress(params.Name)
	raw, result, err := do[mcp.GetPromptResult](ctx, c, mcp.MethodGetPrompt, params, progress)
	done()
	if err != nil {
		return err
	}
	if a.flags.json() {
		a.out.json(raw)
		return nil
	}
	if result.Description != "" {
		a.out.printf("%s\n\n", a.out.dim(result.Description))
	}
	v := &viewer{app: a, out: a.out, name: params.Name}
	for i, m := range result.Messages {
		if i > 0 {
			a.out.printf("\n")
		}
		a.out.printf("%s\n", a.out.bold(label(string(m.Role), 40)+":"))
		if err := v.show(m.Content); err != nil {
			return err
		}
	}
	return nil
}
