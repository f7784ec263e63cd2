package cli

import (
	"context"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/transport/stdio"
	"github.com/parley-mcp/parley/transport/streamable"
)

// target is where a server is: at a URL, or behind a command to start.
type target struct {
	url     string
	command []string
}

// onServer makes the body of a command that talks to a server. f gets the
// command's own arguments: at least least and at most most of them; a negative
// most sets no limit.
func (a *app) onServer(least, most int, f func(ctx context.Context, t target, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if err := a.flags.check(); err != nil {
			return err
		}
		a.out.raw = a.flags.raw
		t, args, err := splitTarget(cmd, args)
		if err != nil {
			return err
		}
		if err := a.flags.fits(t); err != nil {
			return err
		}
		if len(args) < least || most >= 0 && len(args) > most {
			return &failure{
				code: codeUsage,
				err:  usagef("wrong number of arguments; the usage is %q", "parley "+cmd.Use),
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
func splitTarget(cmd *cobra.Command, args []string) (target, []string, error) {
	var t target
	if dash := cmd.ArgsLenAtDash(); dash >= 0 {
		args, t.command = args[:dash], args[dash:]
		if len(t.command) == 0 {
			return t, nil, usagef("there is no command after %q", "--")
		}
	}
	if len(args) > 0 && isURL(args[0]) {
		t.url, args = args[0], args[1:]
	}
	switch {
	case t.url != "" && t.command != nil:
		return t, nil, usagef("there are two servers, %q and the command %q; name one", t.url, strings.Join(t.command, " "))
	case t.url == "" && t.command == nil:
		return t, nil, &failure{code: codeUsage, err: usagef("no server named"), hint: `put the command that starts it at the end: parley ` + cmd.Name() + ` … -- parley serve --stdio; or its URL, with http:// or https://, first`}
	}
	return t, args, nil
}

func isURL(s string) bool {
	s = strings.ToLower(s)
	return strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "https://")
}

// fits refuses flags that would have no effect on this target.
func (f *flags) fits(t target) error {
	switch {
	case t.url == "" && f.token != "":
		return usagef("--token is for a server at a URL; give a command its secrets with --env")
	case t.url == "" && len(f.headers) > 0:
		return usagef("--header is for a server at a URL; give a command its secrets with --env")
	case t.url != "" && len(f.env) > 0:
		return usagef("--env is for a server that is a command; give a URL its secrets with --token or --header")
	case t.url != "" && f.cleanEnv:
		return usagef("--clean-env is for a server that is a command")
	}
	return nil
}

// transport returns the transport to a target. This is the only place that
// knows which transports there are.
func (a *app) transport(ctx context.Context, t target) (mcp.Transport, error) {
	if t.url != "" {
		header, err := a.flags.header()
		if err != nil {
			return nil, err
		}
		token, err := a.token()
		if err != nil {
			return nil, err
		}
		if token != "" {
			header.Set("Authorization", "Bearer "+token)
		}
		c := &streamable.Client{URL: t.url, Header: header, Logger: a.logger()}
		if header.Get("Authorization") == "" {
			c.HTTP, err = a.authorized(ctx, t.url)
		}
		return c, err
	}
	a.heard = new(overheard)
	c := &stdio.Command{Args: t.command, Env: a.flags.env, CleanEnv: a.flags.cleanEnv, Stderr: a.heard}
	if a.flags.passStderr() {
		c.Stderr = io.MultiWriter(a.heard, &prefixed{out: a.err, prefix: a.err.dim("server: ")})
	}
	if a.flags.timeout > 0 {
		c.Grace = min(2*time.Second, max(a.flags.timeout/4, 100*time.Millisecond))
	}
	return c, nil
}
