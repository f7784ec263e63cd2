package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/parley-mcp/parley/cmd/parley/internal/target"
	"github.com/parley-mcp/parley/internal/check/specimen"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/transport/stdio"
)

const checkSpecimenLong = `Run a server that uses every feature of the protocol, and that tells what reached it: for
"parley check gateway", or to try a client. Its tools change nothing but itself.

It speaks on standard input and output or, with --http, at /mcp and /sse of an address.`

func (a *app) checkSpecimen() *cobra.Command {
	var f httpFlags
	cmd := &cobra.Command{
		Use:     "specimen [--http ADDR]",
		Short:   "Run a server that uses every feature, to be put behind a gateway",
		Long:    checkSpecimenLong,
		Example: "  parley check specimen --http 127.0.0.1:7001\n  parley list tools -- parley check specimen",
		Args:    cobra.NoArgs,
	}
	f.register(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return a.failed(a.runSpecimen(cmd.Context(), f), target.Target{})
	}
	return cmd
}

func (a *app) runSpecimen(ctx context.Context, f httpFlags) error {
	logger, err := a.serverLogger("info")
	if err != nil {
		return err
	}
	s := specimen.NewTelling(&server.Options{Logger: logger})
	if f.addr == "" {
		err = stdio.ServeOn(ctx, s, a.io.In, a.io.Out, &mcp.ServeOptions{Logger: logger})
	} else {
		err = a.serveHTTP(ctx, f, endpoints(s), logger)
	}
	if ctx.Err() != nil {
		err = nil // being told to stop is not a failure
	}
	return errors.Join(err, endTasks(ctx, s))
}
