package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-mcp/parley/cmd/parley/internal/reference"
	"github.com/parley-mcp/parley/cmd/parley/internal/target"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/transport/stdio"
)

const serveLong = `Run the reference server, which has the examples of the specification and of its
guides as working features. It speaks every released revision at once.

With --stdio, standard output is the channel of the protocol. With --http, the
server is at /mcp, and for clients of 2024-11-05 at /sse; /healthz says that it runs,
and /readyz that it takes requests. Its server card is at /mcp/server-card, and the catalogue that lists it at
/.well-known/ai-catalog.json. An address without a host, such as :7331, is on the loopback, where only
programs of this machine reach it; 0.0.0.0:7331 can be reached from everywhere. On
the loopback it accepts only requests to loopback names, unless --allow-host says
otherwise; pages of other origins need --allow-origin. Logs go
to standard error.

At SIGTERM or an interrupt, /readyz fails and no new calls are taken, while those that
run may finish for --grace; a second signal ends the server at once.

With --skills, the skills in a folder are served besides the server's own: every folder
in it with a SKILL.md, at skill://PATH/SKILL.md. Clients are told when they change.

With --auth, clients have to log in. "dev" embeds an authorization server with the
users of --user, for trying out the whole flow on one machine. A real one is named
as issuer=URL,audience=NAME,scopes=A B: its tokens are verified with its published
keys, must be for this server's URL or for the audience, and must have the scopes.

With --task-store, tasks and their results are kept in a file: they survive the server,
and go on when it is started again. Servers of one machine can share the file.`

const serveExamples = `  parley serve --stdio
  parley serve --stdio --root ~/notes --log-level debug
  parley serve --stdio --skills ./skills
  parley serve --http :7331
  parley serve --http 127.0.0.1:7331 --allow-host mcp.example.com   # behind a proxy
  parley serve --http 127.0.0.1:7331 --auth dev --user ann:secret   # log in with a browser
  parley serve --http :7331 --task-store tasks.db                   # restart it any time
  parley info -- parley serve --stdio`

// serveFlags are the flags of serve, some of which mean something else to the
// commands that talk to servers.
type serveFlags struct {
	stdio    bool
	http     httpFlags
	tasks    taskFlags
	root     string
	skills   []string
	logLevel string
}

func (a *app) serve() *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:     "serve --stdio | --http ADDR",
		Short:   "Run the reference server",
		Long:    serveLong,
		Example: serveExamples,
		Args:    cobra.NoArgs,
	}
	cmd.Flags().BoolVar(&f.stdio, "stdio", false, "serve one client on standard input and output")
	f.http.register(cmd.Flags())
	cmd.Flags().StringVar(&f.http.auth.mode, "auth", "", "demand a login: `dev` embeds an authorization server; or issuer=URL,audience=NAME,scopes=A B")
	cmd.Flags().StringArrayVar(&f.http.auth.users, "user", nil, "a user for --auth dev, as `NAME:PASSWORD` (repeatable)")
	cmd.Flags().StringArrayVar(&f.http.auth.others, "token-resource", nil, "another server that --auth dev gives tokens for, as the `URL` of its endpoint: a gateway with auth.issuer, for example (repeatable)")
	cmd.Flags().DurationVar(&f.http.auth.lifetime, "token-lifetime", 0, "lifetime of the access tokens of --auth dev, for example 10s; 5 minutes by default")
	cmd.Flags().StringVar(&f.root, "root", "", "serve the files of the folder `DIR`")
	f.tasks.register(cmd.Flags())
	cmd.Flags().StringArrayVar(&f.skills, "skills", nil, "serve the skills in the folder `DIR` (repeatable)")
	cmd.Flags().StringVar(&f.logLevel, "log-level", "info", "log from this `LEVEL` on: debug, info, warn, error")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return a.failed(a.runServe(cmd.Context(), f), target.Target{})
	}
	return cmd
}

func (a *app) runServe(ctx context.Context, f serveFlags) error {
	switch {
	case f.http.addr != "" && f.stdio:
		return usagef("say how to serve: --stdio or --http, not both")
	case f.http.addr == "" && !f.stdio:
		return usagef("say how to serve: --stdio, or --http ADDR")
	case f.stdio && f.http.auth.mode != "":
		return usagef("--auth is for --http; over --stdio, only whoever starts the server can use it")
	}
	if err := f.http.auth.check(); err != nil {
		return err
	}
	if err := f.tasks.check(); err != nil {
		return err
	}
	logger, err := a.serverLogger(f.logLevel)
	if err != nil {
		return err
	}
	root := ""
	if f.root != "" {
		if root, err = folder("--root", f.root); err != nil {
			return err
		}
	}
	for i, dir := range f.skills {
		if f.skills[i], err = folder("--skills", dir); err != nil {
			return err
		}
	}
	tasks, closeTasks, err := f.tasks.open(ctx, f.stdio)
	if err != nil {
		return err
	}
	o := reference.Options{Root: root, Skills: f.skills, Logger: logger, Version: buildVersion(), Tasks: tasks}
	return errors.Join(a.serveReference(ctx, f, o), closeTasks())
}

func (a *app) serveReference(ctx context.Context, f serveFlags, o reference.Options) error {
	srv, stop, err := reference.New(o) //nolint:contextcheck // it lives until stop
	if err != nil {
		return fmt.Errorf("the reference server cannot start: %w", err)
	}
	if f.stdio {
		err = stdio.ServeOn(ctx, srv, a.io.In, a.io.Out, &mcp.ServeOptions{Logger: o.Logger})
	} else {
		f.http.card = reference.CardName
		err = a.serveHTTP(ctx, f.http, endpoints(srv), o.Logger)
	}
	if ctx.Err() != nil {
		err = nil // being told to stop is not a failure
	}
	return errors.Join(err, endTasks(ctx, srv), stop())
}

func (a *app) serverLogger(level string) (*slog.Logger, error) {
	var l slog.Level
	if err := l.UnmarshalText([]byte(strings.Replace(level, "warning", "warn", 1))); err != nil {
		return nil, usagef("--log-level %q is not a level; there are debug, info, warn, error", level)
	}
	return slog.New(slog.NewTextHandler(a.err, &slog.HandlerOptions{Level: l})), nil
}
