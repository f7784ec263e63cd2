package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-mcp/parley/cmd/parley/internal/target"
	"github.com/parley-mcp/parley/mcp"
)

// onServer makes the body of a command that talks to a server. f gets the
// command's own arguments: at least least and at most most of them; a negative
// most sets no limit.
func (a *app) onServer(least, most int, f func(ctx context.Context, t target.Target, args []string) error) func(*cobra.Command, []string) error {
	return a.onTarget(a.splitTarget, least, most, f)
}

// onTarget is onServer for a command that separates its arguments in a way of its own.
func (a *app) onTarget(split func(*cobra.Command, []string) (target.Target, []string, error), least, most int, f func(ctx context.Context, t target.Target, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if err := a.flags.check(); err != nil {
			return err
		}
		a.out.raw = a.flags.raw
		t, args, err := split(cmd, args)
		if err != nil {
			return err
		}
		if a.shell != nil {
			given, _ := a.flags.formAnswers() // checked above
			a.shell.given.Store(&given)
		}
		if err := a.flags.fits(t); err != nil && a.shell == nil {
			return err
		}
		if len(args) < least || most >= 0 && len(args) > most {
			return &failure{
				code: codeUsage,
				err:  usagef("wrong number of arguments; the usage is %q", cmd.Parent().CommandPath()+" "+cmd.Use),
				hint: `see "` + cmd.CommandPath() + ` --help"`,
			}
		}
		a.flags.timed = cmd.Flags().Changed("timeout")
		ctx, stop := a.limited(cmd.Context())
		defer stop()
		return a.failed(inTime(ctx, f(ctx, t, args)), t)
	}
}

// splitTarget separates the target from the other arguments.
func (a *app) splitTarget(cmd *cobra.Command, args []string) (target.Target, []string, error) {
	if a.shell != nil {
		return a.shell.target, args, a.shell.settled(cmd)
	}
	var t target.Target
	if dash := cmd.ArgsLenAtDash(); dash >= 0 && !a.completing { // cobra completes with a "--" of its own
		args, t.Command = args[:dash], args[dash:]
		if len(t.Command) == 0 {
			return t, nil, usagef("there is no command after %q", "--")
		}
	}
	if len(args) > 0 && target.IsURL(args[0]) {
		t.URL, args = args[0], args[1:]
	}
	name := a.flags.server
	if at, ok := strings.CutPrefix(first(args), "@"); ok && name == "" && t.URL == "" && t.Command == nil {
		name, args = at, args[1:]
	}
	named := name != "" || a.flags.config != ""
	switch {
	case t.URL != "" && t.Command != nil:
		return t, nil, usagef("there are two servers, %q and the command %q; name one", t.URL, strings.Join(t.Command, " "))
	case named && (t.URL != "" || t.Command != nil):
		return t, nil, usagef("there are two servers, %q and the one that a configuration file names; name one", t.String())
	case named:
		t, err := a.entry(cmd.Context(), name)
		return t, args, err
	case t.URL == "" && t.Command == nil:
		return t, nil, &failure{code: codeUsage, err: usagef("no server named"), hint: howToName(cmd, args)}
	}
	return t, args, nil
}

// onlyURLs are the commands that are about logins, which a server at a URL has.
var onlyURLs = []string{"parley login", "parley logout", "parley check auth"}

// hostLike is a URL whose beginning was forgotten.
var hostLike = regexp.MustCompile(`^[A-Za-z0-9.-]+(?::[0-9]{1,5}(?:/\S*)?|\.[a-z]{2,}/\S*)$`)

// howToName says how the server of a command is named, from what was named instead.
func howToName(cmd *cobra.Command, args []string) string {
	path := cmd.CommandPath()
	if i := slices.IndexFunc(args, target.IsURL); i > 0 {
		return fmt.Sprintf("put the URL first: %s %s %s", path, args[i], strings.Join(slices.Delete(slices.Clone(args), i, i+1), " "))
	}
	if i := slices.IndexFunc(args, hostLike.MatchString); i >= 0 {
		return fmt.Sprintf("is it %s http://%s (or https://)?", path, args[i])
	}
	if slices.Contains(onlyURLs, path) {
		return "put its URL first: " + path + ` https://mcp.example.com/mcp; or the name of one that "parley servers" lists, as @NAME`
	}
	return `put the command that starts it at the end: ` + path + ` … -- parley serve --stdio; or its URL, with http:// or https://, first; or the name of one that "parley servers" lists, as @NAME`
}

func first(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

// entry returns the server that a configuration file names.
func (a *app) entry(ctx context.Context, name string) (target.Target, error) {
	env := a.environment(ctx)
	e, err := a.findEntry(name, env)
	if err != nil {
		return target.Target{}, &failure{code: codeUsage, err: err, hint: `"parley servers" lists what there is`}
	}
	t, err := e.Resolve(env)
	switch {
	case errors.Is(err, errRefusedInput):
		return t, &failure{code: codeInterrupted, err: errRefusedInput}
	case err != nil:
		return t, &failure{code: codeUsage, err: err, hint: `"parley servers" shows what the files say`}
	}
	return t, nil
}

func (a *app) findEntry(name string, env target.Environment) (*target.Entry, error) {
	if a.flags.config == "" {
		return target.Named(name, target.Find(runtime.GOOS, env))
	}
	f, err := target.Read(a.flags.config, env.Folder)
	if err != nil {
		return nil, err
	}
	if name == "" {
		return f.Only()
	}
	return target.Named(name, []target.Found{{File: f}})
}

// environment is what configuration files may refer to.
func (a *app) environment(ctx context.Context) target.Environment {
	env := target.Environment{Lookup: a.io.LookupEnv}
	env.Home, _ = os.UserHomeDir() // without one, there are no files of the user
	env.Folder, _ = os.Getwd()     // without one, there are no files of the project
	if a.interactive() {
		env.Ask = func(in *target.Input) (string, error) { return a.askInput(ctx, in) }
	}
	return env
}

// fits refuses flags that would have no effect on this target.
func (f *flags) fits(t target.Target) error {
	switch {
	case t.URL == "" && f.token != "":
		return usagef("--token is for a server at a URL; give a command its secrets with --env")
	case t.URL == "" && len(f.headers) > 0:
		return usagef("--header is for a server at a URL; give a command its secrets with --env")
	case t.URL != "" && len(f.env) > 0:
		return usagef("--env is for a server that is a command; give a URL its secrets with --token or --header")
	case t.URL != "" && f.cleanEnv:
		return usagef("--clean-env is for a server that is a command")
	}
	return nil
}

// transport returns the transport to a target, as the flags say.
func (a *app) transport(ctx context.Context, t target.Target) (mcp.Transport, error) {
	header, err := a.flags.header()
	if err != nil {
		return nil, err
	}
	c := target.Connection{Header: header, Env: a.flags.env, CleanEnv: a.flags.cleanEnv, Logger: a.logger()}
	if t.URL != "" {
		if c.Token, err = a.token(); err != nil {
			return nil, err
		}
	}
	c.Login = func(url string) (*http.Client, error) { return a.authorized(ctx, url) }
	a.heard = new(overheard)
	c.Stderr = a.heard
	if a.flags.passStderr() {
		c.Stderr = io.MultiWriter(a.heard, &prefixed{out: a.err, prefix: a.err.dim("server: ")})
	}
	if a.flags.timeout > 0 {
		c.Grace = min(2*time.Second, max(a.flags.timeout/4, 100*time.Millisecond))
	}
	return t.Transport(c)
}
