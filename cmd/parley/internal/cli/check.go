package cli

import "github.com/spf13/cobra"

const checkLong = `Judge implementations of the protocol, requirement by requirement.

Each normative sentence of the specification is a row, and each row has probes or the
reason why it has none.`

func (a *app) check() *cobra.Command {
	return family(&cobra.Command{
		Use:     "check requirements",
		Short:   "Judge implementations of the protocol, requirement by requirement",
		Long:    checkLong,
		Example: "  parley check requirements --summary\n  parley check requirements --explain 26.server.tools-048",
	}, a.checkRequirements())
}
