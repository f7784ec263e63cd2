package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/parley-mcp/parley/cmd/parley/internal/target"
	"github.com/parley-mcp/parley/internal/check/report"
	"github.com/parley-mcp/parley/internal/check/serverprobe"
)

const checkHereLong = `Judge the server of this shell, requirement by requirement, in connections of its own
to the same target, with the flags that the shell was called with. The connection of the
shell stays as it is.

It is safe on servers that others use: only tools that say that they only read are
called, unless you allow others; nothing is written; the pace is bounded.`

// checkHere makes the command of a shell that judges its server.
func (a *app) checkHere() *cobra.Command {
	var how judging
	var shown reporting
	cmd := &cobra.Command{
		Use:     "check",
		Short:   "Judge the server, requirement by requirement",
		Long:    checkHereLong,
		Example: "  check\n  check --allow search --output markdown --report search.md",
	}
	honours(cmd, a.flags.bounded, how.register, shown.register)
	cmd.RunE = a.onServer(0, 0, func(ctx context.Context, t target.Target, _ []string) error {
		if a.flags.json() && !cmd.Flags().Changed("output") {
			shown.format = a.flags.output
		}
		return a.judgeTarget(ctx, t, &how, &shown, func(err error) error {
			return &failure{
				code: unjudged(t), err: fmt.Errorf("the server could not be reached a second time, beside this shell: %w", err),
				hint: `if it serves only one client at a time, leave the shell and use "parley check"`,
			}
		})
	})
	return cmd
}

// checkCandidates completes the values of the flags of check.
func (s *shell) checkCandidates(ctx context.Context, flag, last string) []string {
	switch flag {
	case "--allow":
		return s.ask(ctx, completeCall, nil, last)
	case "--output":
		return report.Formats()
	case "--probe":
		var ids []string
		for _, p := range serverprobe.All() {
			ids = append(ids, candidate(p.ID, p.Does)...)
		}
		return ids
	}
	return nil
}
