package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/config"
	"github.com/parley-mcp/parley/cmd/parley/internal/shellwords"
)

const gatewayInitLong = `Write a configuration in which every key is explained. With --from, it has the servers
of another program's file; without, one to try it with. FILE is gateway.yaml by default.

References of the other file become those of the gateway: ${TOKEN} becomes ${env:TOKEN},
and what the user would be asked for becomes a variable. Values that stand there as they
are stand in the new file, too, which only you can read.`

// exampleFile is what init writes by default.
const exampleFile = "gateway.yaml"

func (a *app) gatewayInit() *cobra.Command {
	var from string
	var force bool
	cmd := &cobra.Command{
		Use:     "init [FILE]",
		Short:   "Write a configuration to begin with",
		Long:    gatewayInitLong,
		Example: "  parley gateway init\n  parley gateway init --from mcp.json gateway.yaml",
		Args:    cobra.MaximumNArgs(1),
	}
	cmd.Flags().StringVar(&from, "from", "", "take over the servers of this `FILE` of another program")
	cmd.Flags().BoolVar(&force, "force", false, "replace the file if it is there")
	completesFile(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		path := exampleFile
		if len(args) > 0 {
			path = args[0]
		}
		e, err := config.NewExample(from, a.environment(cmd.Context()))
		if err != nil {
			return usagef("%w", err)
		}
		if err := create(path, e.Text, force); err != nil {
			return err
		}
		for _, left := range e.Left {
			a.note("left out: %s", oneLine(left.Error(), 1000))
		}
		if len(e.Secrets) > 0 {
			a.note("values that may be secrets stand in the file as they are: %s; ${env:NAME} or ${file:PATH} can take their place", oneLine(strings.Join(e.Secrets, ", "), 1000))
		}
		a.note(`%s was written; "parley gateway validate %s" says what it means`, path, shellwords.Quote(path))
		return nil
	}
	return cmd
}

// create writes a file that only the user can read, unless it is there already.
func create(path string, text []byte, force bool) error {
	const mode = os.O_WRONLY | os.O_CREATE
	how := mode | os.O_EXCL
	if force {
		how = mode | os.O_TRUNC
	}
	file, err := os.OpenFile(path, how, 0o600) //nolint:gosec // the user named it
	switch {
	case errors.Is(err, fs.ErrExist):
		return &failure{code: codeUsage, err: fmt.Errorf("%s is there already", path), hint: "--force replaces it"}
	case err != nil:
		return usagef("%w", err)
	}
	_, err = file.Write(text)
	return errors.Join(err, file.Close())
}
