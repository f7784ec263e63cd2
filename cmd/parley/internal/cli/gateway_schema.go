package cli

import (
	"github.com/spf13/cobra"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/config"
)

const gatewaySchemaLong = `Print the JSON Schema of the gateway's own format. Editors that know it complete keys,
explain them, and mark mistakes; most look for it where the first line of a file says:

  # yaml-language-server: $schema=gateway.schema.json`

func (a *app) gatewaySchema() *cobra.Command {
	return &cobra.Command{
		Use:     "schema",
		Short:   "Print the JSON Schema of the configuration",
		Long:    gatewaySchemaLong,
		Example: "  parley gateway schema > gateway.schema.json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			schema, err := config.Schema()
			if err != nil {
				return err
			}
			a.out.json(schema)
			return nil
		},
	}
}
