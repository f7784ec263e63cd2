package cli

import (
	"context"
	"errors"
	"io"
	"maps"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/parley-mcp/parley/cmd/parley/internal/shellwords"
	"github.com/parley-mcp/parley/cmd/parley/internal/target"
	"github.com/parley-mcp/parley/internal/wire"
)

const serversLong = `List the servers that configuration files on this machine name. Each can be given to
the other commands as @NAME, or with --server NAME; --config FILE chooses a file.

Read are, in the current folder, parley.json, mcp.json, .mcp.json, .vscode/mcp.json
and .cursor/mcp.json, and those of the user for Parley, Claude, Claude Code, VS Code
and Cursor. Nothing is started, fetched or changed. The values of variables and
headers, and whatever else may be a secret, are shown as ***.`

func (a *app) servers() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "servers",
		Short:   "List the servers that configuration files name",
		Long:    serversLong,
		Example: "  parley servers\n  parley servers --config .vscode/mcp.json\n  parley list @github",
		Args:    cobra.NoArgs,
	}
	honours(cmd, a.flags.format)
	cmd.Flags().StringVar(&a.flags.config, "config", "", "list only the servers of this `FILE`")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := a.flags.check(); err != nil {
			return err
		}
		return a.runServers(a.environment(cmd.Context()))
	}
	return cmd
}

func (a *app) runServers(env target.Environment) error {
	var files []target.Found
	if a.flags.config == "" {
		files = target.Find(runtime.GOOS, env)
	} else {
		f, err := target.Read(a.flags.config, env.Folder)
		if err != nil {
			return usagef("%w", err)
		}
		files = []target.Found{{Place: target.Place{Path: a.flags.config}, File: f}}
	}
	sources := target.List(files, env)
	if a.flags.json() {
		raw, err := wire.Marshal(map[string]any{"files": sources})
		a.out.json(raw)
		return err
	}
	a.showSources(sources)
	return nil
}

func (a *app) showSources(sources []target.Listed) {
	if len(sources) == 0 {
		a.note("no configuration file was found; \"parley servers --help\" says where they are looked for")
	}
	for i, s := range sources {
		if i > 0 {
			a.out.printf("\n")
		}
		program := ""
		if s.Program != "" {
			program = "  " + s.Program
		}
		a.out.printf("%s%s\n", a.out.bold(label(s.File, 500)), a.out.dim(program))
		if s.Problem != "" {
			a.out.printf("  %s\n", a.out.red(oneLine(s.Problem, 1000)))
		} else if len(s.Servers) == 0 {
			a.out.printf("  %s\n", a.out.dim("none"))
		}
		for _, n := range s.Servers {
			a.showNamed(n)
		}
	}
}

func (a *app) showNamed(n target.ListedEntry) {
	what := n.URL
	if n.Command != "" {
		words := make([]string, 0, len(n.Args)+1)
		for _, w := range append([]string{n.Command}, n.Args...) {
			words = append(words, shellwords.Quote(label(w, 200)))
		}
		what = strings.Join(words, " ")
	}
	a.out.printf("  %s  %s%s\n", a.out.bold(label(n.Name, 200)), cut(what, 500), a.out.dim(when(n.Disabled, "  [disabled]")))
	for _, settings := range []map[string]string{n.Env, n.Headers} {
		for _, name := range slices.Sorted(maps.Keys(settings)) {
			a.out.printf("      %s\n", a.out.dim(label(name, 100)+"="+label(settings[name], 200)))
		}
	}
	if n.Problem != "" {
		a.out.printf("      %s\n", a.out.red(oneLine(n.Problem, 1000)))
	}
}

var (
	errNotGiven     = errors.New("nothing was typed")
	errRefusedInput = errors.New("interrupted") // with Ctrl-C, or the end of the input
)

// askInput asks for a value that a configuration file leaves to the user.
func (a *app) askInput(ctx context.Context, in *target.Input) (string, error) {
	a.screen.Lock()
	defer a.screen.Unlock()
	a.err.printf("%s\n", a.err.bold(oneLine(or(in.Description, in.ID), 500)))
	for i, o := range in.Options {
		a.err.printf("  %d) %s\n", i+1, label(o, 200))
	}
	text, err := a.readInputValue(ctx, in)
	if errors.Is(err, io.EOF) {
		return "", errRefusedInput
	} else if err != nil {
		return "", err
	}
	if text == "" {
		text = in.Default
	}
	p := property{Name: in.ID}
	for _, o := range in.Options {
		p.Choices = append(p.Choices, choice{Value: o})
	}
	if text == "" {
		return "", errNotGiven
	}
	return p.numbered(text), nil
}

// readInputValue reads a line, which is not shown if it is secret.
func (a *app) readInputValue(ctx context.Context, in *target.Input) (string, error) {
	if f, ok := a.io.In.(interface{ Fd() uintptr }); ok && in.Password {
		a.err.printf("> ")
		secret, err := term.ReadPassword(int(f.Fd()))
		a.err.printf("\n")
		return strings.TrimSpace(string(secret)), err
	}
	prompt := "> "
	if in.Default != "" {
		prompt = "[" + label(in.Default, 100) + "] > "
	}
	return a.newLines().ask(ctx, prompt)
}
