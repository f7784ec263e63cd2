package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/config"
	"github.com/parley-mcp/parley/cmd/parley/internal/target"
	"github.com/parley-mcp/parley/internal/similar"
	"github.com/parley-mcp/parley/internal/wire"
)

const gatewayValidateLong = `Read the configuration of a gateway, and say what it means: which servers are behind
it, what they are called, and who may use them. Nothing is started or fetched.

Every mistake is a line FILE:LINE:COLUMN: KEY: what is wrong, which editors understand,
and makes the exit code 1. A warning is about what does not work as it is now, such as
a variable that is not set; the rest of the gateway works.`

func (a *app) gatewayValidate() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "validate FILE",
		Short:   "Check the configuration of a gateway, and say what it means",
		Long:    gatewayValidateLong,
		Example: "  parley gateway validate gateway.yaml\n  parley gateway validate ~/.config/Claude/claude_desktop_config.json",
	}
	honours(cmd, a.flags.format)
	completesFile(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := a.flags.check(); err != nil {
			return err
		}
		if len(args) != 1 {
			return usagef("name one file: %s", cmd.UseLine())
		}
		c, err := config.Read(args[0], a.environment(cmd.Context()))
		if err != nil {
			return a.invalid(args[0], err)
		}
		if a.flags.json() {
			return a.validJSON(c)
		}
		for _, w := range c.Warnings {
			a.out.printf("%s\n", warning(w))
		}
		a.showConfig(c)
		return nil
	}
	return cmd
}

// gatewayProblem is what is wrong with a configuration, as --output json shows it.
type gatewayProblem struct {
	Line    int    `json:"line,omitzero"`
	Column  int    `json:"column,omitzero"`
	Key     string `json:"key,omitzero"`
	Text    string `json:"text"`
	Warning bool   `json:"warning,omitzero"`
}

func gatewayProblems(mistakes config.Mistakes, warning bool) []gatewayProblem {
	problems := make([]gatewayProblem, 0, len(mistakes))
	for _, m := range mistakes {
		problems = append(problems, gatewayProblem{m.Line, m.Column, m.Member, m.Err.Error(), warning})
	}
	return problems
}

// warning is a mistake that stops nothing, in the form that editors understand.
func warning(m *target.Error) error {
	e := *m
	e.Member, e.Err = "", m.Err
	if m.Member != "" {
		e.Err = fmt.Errorf("%s: %w", m.Member, m.Err)
	}
	e.Err = fmt.Errorf("warning: %w", e.Err)
	return &e
}

// mistyped refuses a file that is not there and has nearly the name of a subcommand.
func mistyped(cmd *cobra.Command, file string) error {
	const far = 2
	if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, sub := range cmd.Commands() {
		if similar.Edits(file, sub.Name()) <= far {
			return &failure{code: codeUsage, err: fmt.Errorf("%s: there is no such command, and no such file", file), hint: fmt.Sprintf("did you mean %q?", sub.CommandPath())}
		}
	}
	return nil
}

// invalid shows what is wrong with a file.
func (a *app) invalid(path string, err error) error {
	mistakes, ok := errors.AsType[config.Mistakes](err)
	switch { // a mistake can be that another file is not there
	case !ok && errors.Is(err, fs.ErrNotExist):
		return &failure{code: codeUsage, err: fmt.Errorf("%s: there is no such file", path), hint: "\"parley servers\" lists those of other programs"}
	case !ok:
		return usagef("%w", err)
	}
	if a.flags.json() {
		raw, err := wire.Marshal(map[string]any{"ok": false, "file": path, "problems": gatewayProblems(mistakes, false)})
		if err != nil {
			return err
		}
		a.out.json(raw)
	} else {
		for _, m := range mistakes {
			a.out.printf("%s\n", m)
		}
	}
	return &failure{code: codeConfig}
}
