package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-mcp/parley/cmd/parley/internal/target"
	"github.com/parley-mcp/parley/internal/wire"
)

func (a *app) ping() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "ping [URL|@NAME] [-- COMMAND...]",
		Short:   "Check that a server answers",
		Long:    "Connect to a server, check that it answers, and show how long the answer took.",
		Example: "  parley ping -- parley serve --stdio",
	}
	honours(cmd, a.flags.reach, a.flags.format)
	a.completes(cmd, nil)
	cmd.RunE = a.onServer(0, 0, func(ctx context.Context, t target.Target, _ []string) error {
		c, err := a.connect(ctx, t)
		if err != nil {
			return err
		}
		defer a.leave(c)
		start := time.Now()
		if err := c.Ping(ctx); err != nil {
			return err
		}
		took := time.Since(start)
		if !a.flags.json() {
			a.out.printf("%s answered in %s (revision %s)\n", label(c.ServerInfo().Name, 200), took.Round(10*time.Microsecond), c.Revision())
			return nil
		}
		raw, err := wire.Marshal(struct {
			Server       string  `json:"server"`
			Revision     string  `json:"revision"`
			Milliseconds float64 `json:"milliseconds"`
		}{c.ServerInfo().Name, c.Revision().String(), float64(took.Microseconds()) / 1000})
		a.out.json(raw)
		return err
	})
	return cmd
}
