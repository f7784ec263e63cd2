package cli

import "github.com/spf13/cobra"

const checkLong = `Judge a server, requirement by requirement, in every revision that it claims.

Each normative sentence of the specification is a row, and each row has probes or the
reason why it has none ("parley check requirements"). The checker speaks to the server
below any client, right and wrong, and shows the bytes of every failure.

It is safe on servers that others use: only tools that say that they only read are
called, unless you allow others; nothing is written; the pace is bounded; large and
many messages are sent with --stress only.

The exit code is 1 if a MUST was seen broken that --baseline does not accept.`

const checkExamples = `  parley check -- parley serve --stdio
  parley check https://mcp.example.com/mcp --allow search
  parley check @shop --output html --report shop.html
  parley check client -- my-client {url}
  parley check gateway --around http://127.0.0.1:7001/mcp --through https://gateway.example.com/mcp
  parley check requirements --summary
  parley check lint -- parley serve --stdio
  parley check examples -- my-server >examples.yaml`

func (a *app) check() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "check [URL|@NAME] [-- COMMAND...]",
		Short:   "Judge implementations of the protocol, requirement by requirement",
		Long:    checkLong,
		Example: checkExamples,
	}
	cmd.RunE = a.judgeServer(cmd)
	cmd.AddCommand(a.checkAuth(), a.checkClient(), a.checkExamples(), a.checkGateway(), a.checkLint(), a.checkRequirements(), a.checkSpecimen())
	return cmd
}
