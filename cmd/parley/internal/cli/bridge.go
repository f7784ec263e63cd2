package cli

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/bridge"
	"github.com/parley-mcp/parley/cmd/parley/internal/target"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/transport/stdio"
)

const bridgeLong = `Be a server that passes everything on to another one.

Without --http, this is a server on standard input and output: for a program that can
only start commands, and a server at a URL. It uses the login of "parley login", a
--token or a --header; with --login, a browser is opened when the server demands a
login. With --http, this is a server at a URL, for a command. Either side may speak
any revision, in a session or without.

A client in a session has a connection of its own, and so a process of its own if the
server is a command, which ends with the session. Clients without sessions share one
for each principal and set of capabilities. --max-sessions bounds both, and --idle ends
what is not used. At SIGTERM or an interrupt, /readyz fails and no new calls are taken,
while those that run may finish for --grace; a second signal ends the bridge at once.

On a loopback address only requests to loopback names are accepted, unless --allow-host
says otherwise. Any other address needs --auth or --bearer, or --no-auth to say that
everybody may use the server. Logs go to standard error.`

const bridgeExamples = `  parley bridge https://mcp.example.com/mcp
  parley bridge @shop --login
  parley bridge --http 127.0.0.1:7331 -- npx -y @modelcontextprotocol/server-everything
  parley bridge --http 0.0.0.0:7331 --bearer @token.txt --tls-cert c.pem --tls-key k.pem -- parley serve --stdio
  parley bridge --revision 2025-11-25 -- old-server     # a session for a client that has none, and the reverse`

// bridgeFlags are the flags of bridge.
type bridgeFlags struct {
	frontFlags

	logLevel string
}

func (a *app) bridge() *cobra.Command {
	var f bridgeFlags
	cmd := &cobra.Command{
		Use:     "bridge [URL|@NAME] [--http ADDR] [-- COMMAND...]",
		Short:   "Pass everything on to a server: a command for a URL, or a URL for a command",
		Long:    bridgeLong,
		Example: bridgeExamples,
	}
	honours(cmd, a.flags.dial, f.register)
	set := cmd.Flags()
	set.BoolVar(&a.flags.browse, "login", false, "open a browser when the server at the URL demands a login")
	set.IntVar(&f.http.sessions, "max-sessions", 100, "how many `N` connections to the server may be open")
	set.DurationVar(&f.http.idle, "idle", 30*time.Minute, "end sessions and connections that are not used for this `TIME`")
	set.StringVar(&f.logLevel, "log-level", "info", "log from this `LEVEL` on: debug, info, warn, error")
	cmd.RunE = a.onServer(0, 0, func(ctx context.Context, t target.Target, _ []string) error {
		if err := f.check(); err != nil {
			return err
		}
		return a.runBridge(ctx, t, &f)
	})
	return cmd
}

// check refuses flags that make no sense, before the server is started.
func (f *bridgeFlags) check() error {
	switch {
	case f.http.sessions < 1:
		return usagef("--max-sessions %d is not positive", f.http.sessions)
	case f.http.idle < time.Second:
		return usagef("--idle %s is less than a second", f.http.idle)
	}
	return f.frontFlags.check()
}

func (a *app) runBridge(ctx context.Context, t target.Target, f *bridgeFlags) error {
	logger, err := a.serverLogger(f.logLevel)
	if err != nil {
		return err
	}
	a.flags.showStderr = true
	connect, err := a.dialer(ctx, t)
	if err != nil {
		return err
	}
	single := f.http.addr == ""
	b, err := bridge.New(ctx, bridge.Options{Connect: connect, Single: single, MaxConnections: f.http.sessions, MaxConnectionsBy: "--max-sessions", Idle: f.http.idle, Logger: logger})
	if err != nil {
		return notConnected(t, err)
	}
	if single {
		err = a.bridgeStdio(ctx, b, logger)
	} else {
		err = a.serveHTTP(ctx, f.http, endpoints(b), logger)
	}
	if ctx.Err() != nil {
		err = nil // being told to stop is not a failure
	}
	return errors.Join(err, b.Close())
}

// dialer returns what connects to a target.
func (a *app) dialer(ctx context.Context, t target.Target) (func(context.Context, *mcp.Peer, *client.Options) (*client.Client, error), error) {
	transport, err := a.transport(ctx, t)
	if err != nil {
		return nil, err
	}
	own, err := a.clientOptions(t)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, _ *mcp.Peer, o *client.Options) (*client.Client, error) {
		o.Info, o.Revisions, o.Tap = own.Info, own.Revisions, a.tap()
		return client.Connect(ctx, transport, o)
	}, nil
}

// bridgeStdio serves the program that has started this one, until that closes the
// input or the server behind the bridge is gone: what the program relied on there is
// gone as well.
func (a *app) bridgeStdio(ctx context.Context, b *bridge.Bridge, logger *slog.Logger) error {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	served := make(chan error, 1)
	go func() { // ends with the input, or with ctx
		served <- stdio.ServeOn(ctx, b, a.io.In, a.io.Out, &mcp.ServeOptions{Logger: logger})
	}()
	select {
	case err := <-served:
		return err
	case err := <-b.Lost():
		end(err)
		<-served //nolint:errcheck // what ended it says more
		return err
	}
}
