package cli

import (
	"github.com/spf13/cobra"
)

const gatewayLong = `A gateway is one server made of many: its clients see the tools, prompts and resources
of all servers behind it.

What stands behind it is said in a FILE: YAML in the gateway's own format, or as it is
an mcp.json, a claude_desktop_config.json, or the file of VS Code.`

const gatewayExamples = `  parley gateway init --from mcp.json
  parley gateway validate gateway.yaml
  parley gateway schema > gateway.schema.json`

func (a *app) gateway() *cobra.Command {
	return family(&cobra.Command{
		Use:     "gateway init|schema|validate",
		Short:   "Put many servers behind one endpoint",
		Long:    gatewayLong,
		Example: gatewayExamples,
	}, a.gatewayInit(), a.gatewaySchema(), a.gatewayValidate())
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
