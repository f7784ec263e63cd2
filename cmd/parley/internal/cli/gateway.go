package cli

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-mcp/parley/cmd/parley/internal/target"
)

const gatewayLong = `A gateway is one server made of many: its clients see the tools, prompts and resources
of all servers behind it, under names that say whose they are, as in files__read_file.
Clients and servers may be of any revision, in sessions or without.

What stands behind it is said in a FILE: YAML in the gateway's own format, or as it is
an mcp.json, a claude_desktop_config.json, or the file of VS Code. When the file
changes, or at a hangup, it is read again: only servers that are described otherwise
are started again, clients stay connected, and a file with mistakes changes nothing.

With --stdio, this is a server on standard input and output. With --http, it is at
/mcp, or the path that the file says, and for clients of 2024-11-05 at /sse; each view
of the file is at /mcp/NAME.
/healthz says that the gateway runs, and /readyz that a server behind it can be reached.
At SIGTERM or an interrupt, /readyz fails and no new calls are taken, while those that run
may finish for --grace; a second signal ends the gateway at once.

On a loopback address only requests to loopback names are accepted, unless --allow-host
says otherwise. Any other address needs --auth or --bearer, or --no-auth to say that
everybody may use the gateway. Logs go to standard error.`

const gatewayExamples = `  parley gateway mcp.json --stdio
  parley gateway gateway.yaml --http :7331
  parley gateway gateway.yaml --http 0.0.0.0:7331 --bearer @token.txt --tls-cert c.pem --tls-key k.pem
  parley gateway gateway.yaml --http :7331 --console :7332
  parley gateway init --from mcp.json
  parley gateway validate gateway.yaml
  parley gateway status
  parley gateway schema > gateway.schema.json`

func (a *app) gateway() *cobra.Command {
	var f gatewayFlags
	cmd := &cobra.Command{
		Use:     "gateway FILE [--http ADDR | --stdio]",
		Short:   "Put many servers behind one endpoint",
		Long:    gatewayLong,
		Example: gatewayExamples,
		Args:    cobra.ArbitraryArgs,
	}
	cmd.AddCommand(a.gatewayApprovals(), a.gatewayConsole(), a.gatewayInit(), a.gatewayLogins(), a.gatewayPins(), a.gatewayPolicy(), a.gatewayScan(), a.gatewayTokens(), a.gatewaySchema(), a.gatewayStatus(), a.gatewayValidate())
	completesFile(cmd)
	honours(cmd, f.register)
	set := cmd.Flags()
	set.BoolVar(&f.stdio, "stdio", false, "serve one client on standard input and output")
	set.StringVar(&f.view, "view", "", "serve the view `NAME` on standard input and output")
	set.StringVar(&f.console, "console", "", "serve the console, pages for those who run the gateway, at `ADDR`")
	set.IntVar(&f.http.sessions, "max-sessions", 0, "how many `N` sessions clients may have; 10,000 by default")
	set.DurationVar(&f.http.idle, "idle", 30*time.Minute, "end sessions of clients that are not used for this `TIME`")
	set.StringVar(&f.logLevel, "log-level", "info", "log from this `LEVEL` on: debug, info, warn, error")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			return cmd.Help()
		case len(args) > 1:
			return usagef("name one file: %s", cmd.UseLine())
		}
		if err := mistyped(cmd, args[0]); err != nil {
			return err
		}
		return a.failed(a.runGateway(cmd.Context(), args[0], &f), target.Target{})
	}
	return cmd
}

// completesFile has a shell complete the one argument of a command: a configuration.
func completesFile(cmd *cobra.Command) {
	cmd.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return []string{"yaml", "yml", "json", "jsonc"}, cobra.ShellCompDirectiveFilterFileExt
	}
}
