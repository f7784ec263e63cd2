package cli

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// family makes a command that only holds others.
func family(cmd *cobra.Command, members ...*cobra.Command) *cobra.Command {
	cmd.AddCommand(members...)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return cmd.Help()
		}
		return usagef("there is no command %q; there are %s", cmd.Name()+" "+args[0], strings.TrimPrefix(cmd.Use, cmd.Name()+" "))
	}
	return cmd
}

// everyCommand returns the commands below one, and those below them.
func everyCommand(of *cobra.Command) []*cobra.Command {
	var all []*cobra.Command
	for _, cmd := range of.Commands() {
		all = append(append(all, cmd), everyCommand(cmd)...)
	}
	return all
}

// hoisted puts the name of the command before the flags that were typed before
// it, because flags belong to commands.
func hoisted(root *cobra.Command, args []string) []string {
	valued := make(map[string]bool) // flags that take a value
	for _, cmd := range everyCommand(root) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) { valued[f.Name] = f.NoOptDefVal == "" })
	}
	for i := 0; i < len(args); i++ {
		name, isFlag := strings.CutPrefix(args[i], "--")
		switch {
		case isFlag && valued[name]:
			i++ // its value
		case strings.HasPrefix(args[i], "-"):
			if args[i] == "--" {
				return args
			}
		case i == 0:
			return args
		default:
			name := args[i : i+1]
			if cmd, rest, err := root.Find(name); err == nil && len(rest) == 0 && cmd.HasSubCommands() && i+1 < len(args) {
				name = args[i : i+2]
			}
			return slices.Concat(name, args[:i], args[i+len(name):])
		}
	}
	return args
}

// misplaced explains an error of parsing flags: a flag that only other commands
// have is not unknown, but without effect.
func misplaced(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return err
	}
	name := unknown.GetSpecifiedName()
	var others []string
	for _, other := range everyCommand(cmd.Root()) {
		if f := other.Flags().Lookup(name); f != nil && !f.Hidden {
			others = append(others, strings.TrimPrefix(other.CommandPath(), cmd.Root().Name()+" "))
		}
	}
	if len(others) == 0 || len(name) < 2 {
		return err
	}
	return usagef("--%s has no effect on %q; it is for %s", name, cmd.CommandPath(), strings.Join(others, ", "))
}
