package cli

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/target"
)

// completionTime bounds what a shell waits for.
const completionTime = 3 * time.Second

// completer completes an argument of a command. args are the command's own
// arguments before it, without the server.
type completer func(ctx context.Context, c *client.Client, args []string, prefix string) ([]string, error)

// completes has a shell complete the arguments of a command by asking the
// server. Shells tell only what stands before the cursor, so the server has to
// be known there: by its URL or its name. The values of the first argument are
// those of first, if there are any; a nil f completes nothing more.
func (a *app) completes(cmd *cobra.Command, f completer, first ...string) {
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		if a.dashed {
			return nil, cobra.ShellCompDirectiveDefault // the command that starts a server
		}
		a.completing = true
		if len(args) == 0 && strings.HasPrefix(prefix, "@") {
			return a.serverNames(cmd.Context(), "@"), cobra.ShellCompDirectiveNoFileComp
		}
		t, args, err := a.splitTarget(cmd, args)
		switch {
		case err == nil && len(args) == 0 && first != nil:
			return first, cobra.ShellCompDirectiveNoFileComp
		case err != nil || f == nil:
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		values, err := a.askForValues(cmd.Context(), t, f, args, prefix)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		directive := cobra.ShellCompDirectiveNoFileComp
		if slices.ContainsFunc(values, func(v string) bool { value, _, _ := strings.Cut(v, "\t"); return goesOn(value) }) {
			directive |= cobra.ShellCompDirectiveNoSpace // the value follows
		}
		return values, directive
	}
}

func (a *app) askForValues(ctx context.Context, t target.Target, f completer, args []string, prefix string) ([]string, error) {
	if a.flags.timeout <= 0 {
		a.flags.timeout = completionTime
	}
	ctx, stop := a.limited(ctx)
	defer stop()
	c, err := a.connect(ctx, t)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	values, err := f(ctx, c, args, prefix)
	return slices.DeleteFunc(values, func(v string) bool { return !strings.HasPrefix(v, prefix) }), err
}

// serverNames returns the servers that configuration files name.
func (a *app) serverNames(ctx context.Context, before string) []string {
	var names []string
	for _, f := range target.Find(runtime.GOOS, a.environment(ctx)) {
		if f.Err != nil {
			continue
		}
		for _, e := range f.File.Entries {
			names = append(names, candidate(before+e.Name, f.Path)...)
		}
	}
	return names
}

// candidate returns a value with what a shell may show beside it, or none if
// the value could do more than be inserted: a server chose it.
func candidate(value, about string) []string {
	if value == "" || strings.ContainsFunc(value, func(r rune) bool { return unicode.IsSpace(r) || isHarmful(r) }) {
		return nil
	}
	if about = oneLine(about, 80); about != "" {
		value += "\t" + about
	}
	return []string{value}
}

// completeFlags completes the values of the flags that have few.
func (a *app) completeFlags(cmd *cobra.Command) {
	for name, values := range map[string][]string{
		"output": {"text", "json"}, "revision": strings.Split(revisionNames(), ", "), "log-level": strings.Split(levelNames(), ", "),
	} {
		if cmd.Flags().Lookup(name) != nil {
			_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)) // the flag is there
		}
	}
	if cmd.Flags().Lookup("server") != nil {
		_ = cmd.RegisterFlagCompletionFunc("server", func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
			a.completing = true
			return a.serverNames(cmd.Context(), ""), cobra.ShellCompDirectiveNoFileComp
		})
	}
}

// completeCall completes tools, the names of their arguments, and the values of
// those that have few.
func completeCall(ctx context.Context, c *client.Client, args []string, prefix string) ([]string, error) {
	var values []string
	for t, err := range c.Tools(ctx) {
		if err != nil {
			return values, err
		}
		if len(args) == 0 {
			values = append(values, candidate(t.Name, cmp.Or(t.Title, t.Description))...)
		} else if t.Name == args[0] {
			return completePairs(properties(t.InputSchema), args[1:], prefix), nil
		}
	}
	return values, nil
}

// completePairs completes key=value.
func completePairs(list []property, given []string, prefix string) []string {
	var values []string
	key, _, hasValue := strings.Cut(prefix, "=")
	for _, p := range list {
		switch {
		case hasValue && p.Name == key:
			for _, c := range p.Choices {
				values = append(values, candidate(key+"="+c.Value, c.Title)...)
			}
			if slices.Equal(p.Types, []string{"boolean"}) {
				values = append(values, key+"=true", key+"=false")
			}
		case !hasValue && !isGiven(given, p.Name):
			values = append(values, candidate(p.Name+"=", cmp.Or(p.Description, p.Title))...)
		}
	}
	return values
}

func isGiven(pairs []string, key string) bool {
	return slices.ContainsFunc(pairs, func(p string) bool { return strings.HasPrefix(p, key+"=") || strings.HasPrefix(p, key+":=") })
}

// completeGet completes prompts, the names of their arguments, and values as
// the server completes them.
//
// Spec: 2026-07-28 server/utilities/completion#requesting-completions.
func completeGet(ctx context.Context, c *client.Client, args []string, prefix string) ([]string, error) {
	if key, start, hasValue := strings.Cut(prefix, "="); hasValue && len(args) > 0 {
		known := make(map[string]string)
		for _, p := range args[1:] {
			name, value, _ := strings.Cut(p, "=")
			known[name] = value
		}
		completion, err := c.CompletePrompt(ctx, args[0], key, start, known)
		if err != nil {
			return nil, err
		}
		var values []string
		for _, v := range completion.Values {
			values = append(values, candidate(key+"="+v, "")...)
		}
		return values, nil
	}
	var values []string
	for p, err := range c.Prompts(ctx) {
		if err != nil {
			return values, err
		}
		if len(args) == 0 {
			values = append(values, candidate(p.Name, cmp.Or(p.Title, p.Description))...)
		} else if p.Name == args[0] {
			for _, arg := range p.Arguments {
				if !isGiven(args[1:], arg.Name) {
					values = append(values, candidate(arg.Name+"=", cmp.Or(arg.Description, arg.Title))...)
				}
			}
		}
	}
	return values, nil
}

// completeRead completes the URIs of resources, and those that templates make.
func completeRead(ctx context.Context, c *client.Client, args []string, prefix string) ([]string, error) {
	var values []string
	if len(args) > 0 {
		return nil, nil
	}
	for r, err := range c.Resources(ctx) {
		if err != nil {
			return values, err
		}
		values = append(values, candidate(r.URI, cmp.Or(r.Title, r.Name))...)
	}
	more, err := completeTemplates(ctx, c, prefix)
	return append(values, more...), err
}

// completeComplete completes what can be completed.
func completeComplete(ctx context.Context, c *client.Client, args []string, prefix string) ([]string, error) {
	switch {
	case args[0] == ofPrompt && len(args) == 1:
		return completeGet(ctx, c, nil, prefix)
	case args[0] == ofPrompt && len(args) == 2:
		names, err := completeGet(ctx, c, args[1:], prefix)
		for i, name := range names {
			names[i] = strings.Replace(name, "=", "", 1)
		}
		return names, err
	case args[0] == ofResource && len(args) == 1:
		var values []string
		for t, err := range c.ResourceTemplates(ctx) {
			if err != nil {
				return values, err
			}
			values = append(values, candidate(t.URITemplate, cmp.Or(t.Title, t.Name))...)
		}
		return values, nil
	}
	return nil, nil
}

// What the command complete can complete.
const (
	ofPrompt   = "prompt"
	ofResource = "resource"
)
