package cli

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/parley-mcp/parley/cmd/parley/internal/target"
	"github.com/parley-mcp/parley/internal/check/clientprobe"
	"github.com/parley-mcp/parley/internal/check/verdict"
)

const checkClientLong = `Judge a client: be the server that it speaks to, which behaves well in one scenario and has a
twist in each other: it asks, changes, refuses, breaks off, and lies. What the client sends is
judged; what it never did is not verified.

The command after -- is run once for each scenario and revision. {url} in it is replaced by
the URL of the server, which is also in PARLEY_CHECK_URL; {command} by a command that starts
the server, for clients that speak over standard streams. A good command connects, lists
everything, calls each tool, and ends by itself.

With --listen no command is run: the scenarios are served at addresses of their own until you
interrupt, for a host that a person drives.

The exit code is 1 if a MUST was seen broken that --baseline does not accept.`

// clientJudging are the flags of check client.
type clientJudging struct {
	listen    string
	transport string
	scenarios []string
	list      bool
	limit     time.Duration
	atOnce    int
	only      []string
	relay     string
}

func (f *clientJudging) register(set *pflag.FlagSet) {
	set.StringVar(&f.listen, "listen", "", "serve the scenarios at this `ADDR` to a host that you drive, until you interrupt")
	set.StringVar(&f.transport, "transport", "", "`http|stdio`: by default what the command asks for by {url} or {command}")
	set.StringArrayVar(&f.scenarios, "scenario", nil, "play only the scenario `NAME`, besides the base (repeatable)")
	set.BoolVar(&f.list, "list", false, "list the scenarios")
	set.DurationVar(&f.limit, "limit", 30*time.Second, "end the client after this `TIME`, in each scenario")
	set.IntVar(&f.atOnce, "at-once", 1, "play `N` scenarios at the same time, if several of the client can run side by side")
	set.StringArrayVar(&f.only, "probe", nil, "run only the probe `ID` (repeatable)")
	set.StringVar(&f.relay, "relay", "", "be the process that a client takes for its server")
	_ = set.MarkHidden("relay") // the flag is there
}

// ofClient registers the flags that other commands have for servers.
func (f *flags) ofClient(set *pflag.FlagSet) {
	set.StringVar(&f.revision, "revision", "", "speak only this `REVISION`, for example 2025-11-25")
	set.StringArrayVar(&f.env, "env", nil, "set a variable for the client, as `K=V` (repeatable)")
	set.BoolVar(&f.showStderr, "show-stderr", false, "show what the client writes")
}

// check returns an error if a value makes no sense.
func (f *clientJudging) check(command []string) error {
	switch {
	case f.limit <= 0:
		return usagef("--limit %s is no time", f.limit)
	case f.atOnce < 1:
		return usagef("--at-once %d would play nothing", f.atOnce)
	case f.transport != "" && f.transport != "http" && f.transport != "stdio":
		return usagef("--transport %q is neither http nor stdio", f.transport)
	case f.listen != "" && (len(command) > 0 || f.transport == "stdio"):
		return usagef("--listen serves HTTP to a client that you start; leave out the command")
	case f.listen == "" && len(command) == 0:
		return usagef(`name the client after --, as in "parley check client -- my-client {url}", or use --listen`)
	}
	for _, name := range f.scenarios {
		if clientprobe.ScenarioNamed(name) == nil {
			return usagef("--scenario %q: there is no such scenario; --list lists them", name)
		}
	}
	for _, id := range f.only {
		if !slices.ContainsFunc(clientprobe.All(), func(p *clientprobe.Probe) bool { return p.ID == id }) {
			return usagef(`--probe %q: there is no such probe; "parley check requirements --who client" lists them`, id)
		}
	}
	return nil
}

func (a *app) checkClient() *cobra.Command {
	var f clientJudging
	var shown reporting
	cmd := &cobra.Command{
		Use:   "client [flags] -- COMMAND...",
		Short: "Judge a client by a scripted server",
		Long:  checkClientLong,
		Example: `  parley check client -- my-client --server {url}
  parley check client --revision 2025-11-25 -- my-client --stdio {command}
  parley check client --listen 127.0.0.1:7002 --scenario base --scenario slow`,
	}
	honours(cmd, a.flags.ofClient, f.register, shown.register)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return a.failed(a.runCheckClient(cmd.Context(), &f, &shown, args), target.Target{})
	}
	return cmd
}

func (a *app) runCheckClient(ctx context.Context, f *clientJudging, shown *reporting, args []string) error {
	switch {
	case f.relay != "":
		return clientprobe.Relay(ctx, f.relay, a.io.In, a.io.Out, a.io.Err)
	case f.list:
		return a.listScenarios()
	}
	if err := f.check(args); err != nil {
		return err
	}
	if err := shown.check(); err != nil {
		return err
	}
	revisions, err := a.flags.revisions()
	if err != nil {
		return err
	}
	o := &clientprobe.Options{Tool: "parley " + buildVersion(), Scenarios: f.scenarios, Timeout: f.limit, AtOnce: f.atOnce, Only: f.only}
	for _, r := range revisions {
		o.Revisions = append(o.Revisions, r.String())
	}
	if f.listen != "" {
		return a.listenToClient(ctx, f, shown, o)
	}
	report, err := a.driveClient(ctx, f, o, args)
	a.hideBar()
	if err != nil {
		return &failure{code: codeFailed, err: err, hint: "does the command connect to {url}, or start {command}? --show-stderr shows what it says"}
	}
	return a.showReport(ctx, report, shown)
}

// driveClient runs the command in each scenario.
func (a *app) driveClient(ctx context.Context, f *clientJudging, o *clientprobe.Options, args []string) (*verdict.Report, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := &clientprobe.Command{Args: args, Env: a.flags.env, Relay: []string{self, "check", "client", "--relay"}}
	if a.flags.passStderr() {
		c.Output = &prefixed{out: a.err, prefix: a.err.dim("client: ")}
	}
	o.Name = args[0]
	o.Lines = f.transport == "stdio" || f.transport == "" && c.StartsServer()
	o.Processes = o.Lines
	parts := a.newParts("judging")
	o.Progress = func(p clientprobe.Progress) {
		parts.show(fmt.Sprintf("%s over %s", p.Revision, p.Transport), p.Done, p.Total)
	}
	return clientprobe.Check(ctx, c.Drive, o)
}

func (a *app) listScenarios() error {
	for _, s := range clientprobe.Scenarios() {
		if _, err := fmt.Fprintf(a.out, "%s\n  %s\n  To do: %s\n", s.Name, s.Does, s.Do); err != nil {
			return err
		}
	}
	return nil
}

// listenToClient serves the scenarios until it is interrupted, and then judges
// what was said.
func (a *app) listenToClient(ctx context.Context, f *clientJudging, shown *reporting, o *clientprobe.Options) error {
	here, err := new(net.ListenConfig).Listen(ctx, "tcp", f.listen)
	if err != nil {
		return &failure{code: codeFailed, err: err, hint: "is something else listening there?"}
	}
	elsewhere, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		_ = here.Close() // nothing was served
		return err
	}
	o.Name = "a client at " + here.Addr().String()
	hall, err := clientprobe.Open(o, "http://"+here.Addr().String(), "http://"+elsewhere.Addr().String())
	if err != nil {
		return usagef("%v", err)
	}
	server := &http.Server{Handler: hall, ReadHeaderTimeout: 10 * time.Second}
	for _, l := range []net.Listener{here, elsewhere} {
		go func() { _ = server.Serve(l) }() // ends with Close
	}
	if err := writeStages(a.out, hall); err != nil {
		return err
	}
	<-ctx.Done()
	report, err := hall.Close()
	_ = server.Close() // its clients have been judged
	if err != nil {
		return &failure{code: codeFailed, err: err, hint: "connect the client to one of the addresses, then interrupt"}
	}
	return a.showReport(context.WithoutCancel(ctx), report, shown)
}

func writeStages(w io.Writer, hall *clientprobe.Hall) error {
	for _, s := range hall.Stages() {
		if _, err := fmt.Fprintf(w, "%s\n  %s: %s\n  %s\n", s.URL(), s.Scenario.Name, s.Scenario.Does, s.Scenario.Do); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(w, "Interrupt to see the verdicts.")
	return err
}
