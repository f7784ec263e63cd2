package cli

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// hoisted puts the name of the command before the flags that were typed before
// it, because flags belong to commands.
func hoisted(root *cobra.Command, args []string) []string {
	valued := make(map[string]bool) // flags that take a value
	for _, cmd := range root.Commands() {
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
			return append(append([]string{args[i]}, args[:i]...), args[i+1:]...)
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
	for _, other := range cmd.Root().Commands() {
		if f := other.Flags().Lookup(name); f != nil && !f.Hidden {
			others = append(others, other.Name())
		}
	}
	if len(others) == 0 || len(name) < 2 {
		return err
	}
	return usagef("--%s has no effect on %q; it is for %s", name, cmd.CommandPath(), strings.Join(others, ", "))
}
