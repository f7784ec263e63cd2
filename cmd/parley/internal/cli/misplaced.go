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

// hoisted puts the name of the command, of two words below a command that only holds
// others, before the flags that were typed before them, because flags belong to commands.
func hoisted(root *cobra.Command, args []string) []string {
	valued := make(map[string]bool) // flags that take a value, which they do in all commands
	for _, cmd := range everyCommand(root) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) { valued[f.Name] = f.NoOptDefVal == "" })
	}
	var name, flags []string
	in := root
	for in != nil && in.HasSubCommands() && len(args) > 0 && args[0] != "--" {
		if !strings.HasPrefix(args[0], "-") {
			name, in, args = append(name, args[0]), below(in, args[0]), args[1:]
			continue
		}
		n := 1
		if long, ok := strings.CutPrefix(args[0], "--"); ok && valued[long] {
			n = min(2, len(args)) // with its value
		}
		flags, args = append(flags, args[:n]...), args[n:]
	}
	return slices.Concat(name, flags, args)
}

// below returns a command by its name, or nil.
func below(cmd *cobra.Command, name string) *cobra.Command {
	for _, sub := range cmd.Commands() {
		if sub.Name() == name || sub.HasAlias(name) {
			return sub
		}
	}
	return nil
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
	hint := ""
	if slices.Contains(others, "serve") {
		hint = `; put "--" before a command that starts a server`
	}
	return usagef("--%s has no effect on %q; it is for %s%s", name, cmd.CommandPath(), strings.Join(others, ", "), hint)
}
