package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"os"
	"runtime"
	"slices"
	"sync"

	"github.com/spf13/cobra"

	"github.com/parley-mcp/parley/auth/oauth"
	"github.com/parley-mcp/parley/cmd/parley/internal/page/appframe"
	"github.com/parley-mcp/parley/cmd/parley/internal/page/inspect"
	"github.com/parley-mcp/parley/cmd/parley/internal/page/static"
	"github.com/parley-mcp/parley/cmd/parley/internal/page/web"
	"github.com/parley-mcp/parley/cmd/parley/internal/target"
	"github.com/parley-mcp/parley/internal/loopback"
	"github.com/parley-mcp/parley/internal/webserver"
)

const inspectLong = `Open a page in the browser that connects to servers, uses what they offer,
answers what they ask and shows every message. A server that is named is connected to at
once; the page connects to others, also to those that configuration files name.

The page is served on the loopback only. The address that is printed has a code that
opens it once; Enter prints another address. Nobody else gets in: neither other pages
in the same browser nor programs of other users. Ctrl-C ends it, with all connections.`

const inspectExamples = `  parley inspect
  parley inspect -- parley serve --stdio
  parley inspect https://mcp.example.com/mcp --header 'X-Team: shop'
  parley inspect @shop --revision 2025-11-25
  parley inspect --config mcp.json
  parley inspect --addr 127.0.0.1:7300 --no-open`

// inspectFlags are the flags of inspect.
type inspectFlags struct {
	addr      string
	noOpen    bool
	transport string
}

func (a *app) inspect() *cobra.Command {
	var f inspectFlags
	cmd := &cobra.Command{
		Use:     "inspect [URL|@NAME] [-- COMMAND...]",
		Short:   "Look at servers, and use them, on a page in the browser",
		Long:    inspectLong,
		Example: inspectExamples,
	}
	honours(cmd, a.flags.chosen)
	set := cmd.Flags()
	set.StringVar(&f.addr, "addr", "127.0.0.1:0", "serve the page at this `ADDR` of the loopback; port 0 is any that is free")
	set.BoolVar(&f.noOpen, "no-open", false, "do not open the browser")
	set.StringVar(&f.transport, "transport", "auto", "reach a URL over this transport: `auto|http|sse`")
	a.completes(cmd, nil)
	cmd.RunE = a.onTarget(a.splitOptional, 0, 0, func(ctx context.Context, t target.Target, _ []string) error {
		if err := f.check(); err != nil {
			return err
		}
		first, err := a.first(t, &f)
		if err != nil {
			return err
		}
		return a.runInspect(ctx, first, &f)
	})
	return cmd
}

// check refuses what cannot be served.
func (f *inspectFlags) check() error {
	if !slices.Contains([]string{"auto", "http", "sse"}, f.transport) {
		return usagef("--transport %q is none of auto, http, sse", f.transport)
	}
	host, _, err := net.SplitHostPort(webserver.Address(f.addr))
	if err != nil {
		return usagef("--addr %q is not an address and a port, such as 127.0.0.1:7300", f.addr)
	}
	if !loopback.Is(host) {
		return usagef("--addr %q is not on the loopback, such as 127.0.0.1:7300: the page can start programs, so that nobody else may reach it", f.addr)
	}
	return nil
}

// splitOptional is splitTarget for a command that needs no target. A file without the name
// of a server is one whose servers the page lists.
func (a *app) splitOptional(cmd *cobra.Command, args []string) (target.Target, []string, error) {
	if len(args) > 0 || cmd.ArgsLenAtDash() >= 0 || a.flags.server != "" {
		return a.splitTarget(cmd, args)
	}
	if a.flags.config == "" {
		return target.Target{}, nil, nil
	}
	if _, err := target.Read(a.flags.config, a.environment(cmd.Context()).Folder); err != nil {
		return target.Target{}, nil, &failure{code: codeUsage, err: err}
	}
	return target.Target{}, nil, nil
}

// first returns what the page connects to first, with what the flags add; nil is nothing.
func (a *app) first(t target.Target, f *inspectFlags) (*target.Target, error) {
	if t.URL == "" && t.Command == nil {
		if a.flags.revision != "" || len(a.flags.env) > 0 {
			return nil, usagef("--revision and --env are for a server, and none is named")
		}
		return nil, nil //nolint:nilnil // nothing is connected to
	}
	header, err := a.flags.header()
	if err != nil {
		return nil, err
	}
	if len(header) > 0 {
		t.Header = t.Header.Clone()
		if t.Header == nil {
			t.Header = http.Header{}
		}
		maps.Copy(t.Header, header)
	}
	t.Env = slices.Concat(t.Env, a.flags.env)
	revisions, err := a.flags.revisions()
	if err != nil {
		return nil, err
	}
	if len(revisions) > 0 {
		t.Revision = revisions[0]
	}
	if f.transport != "auto" {
		t.Over = target.Over(f.transport)
	}
	return &t, nil
}

// runInspect serves the page until ctx ends.
func (a *app) runInspect(ctx context.Context, first *target.Target, f *inspectFlags) error {
	files, err := static.Pack(static.Inspect)
	if err != nil {
		return err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", webserver.Address(f.addr))
	if err != nil {
		return usagef("cannot listen on %q: %v", f.addr, err)
	}
	dir, err := os.MkdirTemp("", "parley-inspect-")
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	defer os.RemoveAll(dir) // what is left is in a folder for temporary files
	hub := new(web.Hub)
	options := a.inspectOptions(ctx)
	hosts := web.LoopbackHosts(listener.Addr())
	frames, err := appframe.Listen(ctx, originsOf(hosts))
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	options.First, options.Hub, options.Dir, options.Frames = first, hub, dir, frames
	door := web.NewDoor(web.DoorOptions{Hosts: hosts})
	api := web.NewAPI(door, hub)
	server := inspect.New(*options) //nolint:contextcheck // connections end with Close
	server.Routes(api)
	origin := "http://" + listener.Addr().String()
	a.invite(ctx, origin, door, f)
	site := &web.Site{Door: door, API: api, Files: web.NewFiles(files, frames.Origin())}
	return errors.Join(serveBoth(ctx, listener, site, frames, options.Logger), server.Close())
}

// serveBoth serves the page and the frames of apps until ctx ends, or one of them.
func serveBoth(ctx context.Context, l net.Listener, site *web.Site, frames *appframe.Frames, logger *slog.Logger) error {
	ctx, cancel := context.WithCancel(ctx)
	var framesErr error
	var serving sync.WaitGroup
	serving.Go(func() { // ends with ctx
		defer cancel()
		framesErr = frames.Serve(ctx, logger)
	})
	err := web.Serve(ctx, l, site, logger)
	cancel()
	serving.Wait()
	return errors.Join(err, framesErr)
}

// originsOf returns the origins of a page with these hosts.
func originsOf(hosts []string) []string {
	origins := make([]string, len(hosts))
	for i, host := range hosts {
		origins[i] = "http://" + host
	}
	return origins
}

// inspectOptions are the options of the page's server that do not depend on its target.
func (a *app) inspectOptions(ctx context.Context) *inspect.Options {
	logins := a.credentials(ctx)
	env := a.environment(ctx)
	env.Ask = nil // whoever is asked looks at the page, not at the terminal
	return &inspect.Options{
		Servers: func(context.Context) ([]target.Listed, error) { return target.List(a.inspected(env), env), nil },
		Resolve: func(_ context.Context, file, name string, inputs map[string]string) (*target.Target, error) {
			asked := env
			asked.Ask = target.Answers(inputs)
			return a.pick(asked, file, name)
		},
		Cards:  publishedCards,
		Logins: logins, Judge: pageJudge{a, logins}, Logger: a.logger(), Client: self(),
	}
}

// inspected are the configuration files whose servers the page offers.
func (a *app) inspected(env target.Environment) []target.Found {
	if a.flags.config == "" {
		return target.Find(runtime.GOOS, env)
	}
	f, err := target.Read(a.flags.config, env.Folder)
	return []target.Found{{Place: target.Place{Path: a.flags.config}, File: f, Err: err}}
}

// pick returns the target of a server that a file names.
func (a *app) pick(env target.Environment, file, name string) (*target.Target, error) {
	for _, f := range a.inspected(env) {
		if f.Path != file {
			continue
		}
		e, err := target.Named(name, []target.Found{f})
		if err != nil {
			return nil, err
		}
		t, err := e.Resolve(env)
		return &t, err
	}
	return nil, usagef("%s is none of the files that were read", file)
}

// invite prints an address of the page, and another one for each line that is typed.
func (a *app) invite(ctx context.Context, origin string, door *web.Door, f *inspectFlags) {
	address := func() string { return origin + "/?code=" + door.Code() }
	a.out.printf("%s\n", address())
	a.note("The address opens the page once. Enter prints another one, Ctrl-C ends.")
	if !f.noOpen && a.interactive() {
		if err := oauth.OpenBrowser(ctx, address()); err != nil {
			a.note("parley: %v; open the address above", err)
		}
	}
	go func() { // ends with the input, or with the program
		lines := bufio.NewScanner(a.io.In)
		for lines.Scan() && ctx.Err() == nil {
			a.out.printf("%s\n", address())
		}
	}()
}

// publishedCards returns the cards of a server for the page.
func publishedCards(ctx context.Context, t *target.Target) (json.RawMessage, error) {
	f, err := newFinder(*t)
	if err != nil {
		return nil, err
	}
	defer f.http.CloseIdleConnections()
	found, err := f.cards(ctx, func(string, ...any) {})
	if err != nil {
		return nil, err
	}
	return cardsDocument(found)
}
