package cli

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/parley-mcp/parley/cmd/parley/internal/target"
	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/sample"
	"github.com/parley-mcp/parley/internal/check/serverprobe"
	"github.com/parley-mcp/parley/internal/child"
)

// judging are the flags about how a server is judged.
type judging struct {
	allow    []string
	allowAll bool
	stress   bool
	rate     float64
	jobs     int
	patience time.Duration
	only     []string
	examples string
}

func (j *judging) register(set *pflag.FlagSet) {
	set.StringArrayVar(&j.allow, "allow", nil, "call the tool `NAME`, although it does not say that it only reads (repeatable)")
	set.BoolVar(&j.allowAll, "allow-all", false, "call every tool: for servers whose data does not matter")
	set.BoolVar(&j.stress, "stress", false, "also send large and many messages: not for servers that others use")
	set.Float64Var(&j.rate, "rate", 100, "send at most `N` messages a second")
	set.DurationVar(&j.patience, "patience", 5*time.Second, "wait this `TIME` for an answer")
	set.StringArrayVar(&j.only, "probe", nil, "run only the probe `ID` (repeatable); \"parley check requirements\" lists them")
	set.StringVar(&j.examples, "examples", "", "take arguments of tools, prompts and templates from this `FILE`")
}

// check returns an error if a value makes no sense.
func (j *judging) check() error {
	switch {
	case j.rate <= 0:
		return usagef("--rate %v is not a number of messages", j.rate)
	case j.patience <= 0:
		return usagef("--patience %s is no time to wait", j.patience)
	}
	all := serverprobe.All()
	for _, id := range j.only {
		if !slices.ContainsFunc(all, func(p *serverprobe.Probe) bool { return p.ID == id }) {
			return usagef(`--probe %q: there is no such probe; "parley check requirements --who server" lists them`, id)
		}
	}
	return nil
}

// together are the revisions that progress is shown of, in a few words.
func together(revisions []string) string {
	if len(revisions) > 2 {
		return fmt.Sprintf("%d revisions", len(revisions))
	}
	return strings.Join(revisions, ", ")
}

// judgeServer makes the body of the command that judges a server.
func (a *app) judgeServer(cmd *cobra.Command) func(*cobra.Command, []string) error {
	var how judging
	var shown reporting
	honours(cmd, a.flags.dial, a.flags.bounded, how.register, shown.register)
	cmd.Flags().IntVar(&how.jobs, "jobs", 0, "judge `N` revisions of a command at once (default one for each processor, but one at a time with --allow, --allow-all and --trace)")
	a.completes(cmd, nil)
	return a.onServer(0, 0, func(ctx context.Context, t target.Target, _ []string) error {
		if cmd.Flags().Changed("jobs") && how.jobs < 1 {
			return usagef("--jobs %d is not a number of revisions", how.jobs)
		}
		return a.judgeTarget(ctx, t, &how, &shown, func(err error) error {
			return &failure{code: unjudged(t), err: err, hint: "is it an MCP server? --patience gives it more time, --revision asks for one revision"}
		})
	})
}

// unjudged is the code where nothing could be judged. What a command wrote may say why.
func unjudged(t target.Target) code {
	if t.URL == "" {
		return codeDisconnected
	}
	return codeRefused
}

// prepared checks the flags of a judgement, and returns what they say of how to judge.
func (a *app) prepared(how *judging, shown *reporting) (*serverprobe.Options, error) {
	if err := how.check(); err != nil {
		return nil, err
	}
	if err := shown.check(); err != nil {
		return nil, err
	}
	return a.judgingOptions(how)
}

// judgeTarget judges a server, and shows the report. prevented makes
// the error that says why it could not be judged.
func (a *app) judgeTarget(ctx context.Context, t target.Target, how *judging, shown *reporting, prevented func(error) error) error {
	options, err := a.prepared(how, shown)
	if err != nil {
		return err
	}
	judged, err := a.judged(ctx, t)
	if err != nil {
		return err
	}
	report, err := serverprobe.Check(ctx, judged, options)
	a.hideBar()
	if err != nil {
		return prevented(err)
	}
	return a.showReport(ctx, report, shown)
}

// checker names the judge in reports.
func checker() string { return "parley " + buildVersion() }

func (a *app) judgingOptions(how *judging) (*serverprobe.Options, error) {
	revisions, err := a.flags.revisions()
	if err != nil {
		return nil, err
	}
	o := &serverprobe.Options{
		Tool: checker(), Allow: how.allow, AllowAll: how.allowAll, Stress: how.stress, Rate: how.rate,
		Patience: peer.Patience{Reply: how.patience}, Only: how.only, Jobs: how.jobs,
	}
	if how.examples != "" {
		text, err := os.ReadFile(how.examples)
		if err != nil {
			return nil, usagef("--examples: %v", err)
		}
		if o.Examples, err = sample.ReadExamples(how.examples, text); err != nil {
			return nil, usagef("--examples: %v", err)
		}
	}
	for _, r := range revisions {
		o.Revisions = append(o.Revisions, r.String())
	}
	if a.flags.trace {
		o.Heard = a.traceMessage
		o.Jobs = max(1, o.Jobs) // several conversations can't be told apart in the trace
	}
	parts := a.newParts("checking")
	o.Progress = func(p serverprobe.Progress) {
		parts.show(together(p.Revisions)+" over "+p.Transport, p.Done, p.Total)
	}
	return o, nil
}

// judged turns a target into one that is spoken to below any client.
func (a *app) judged(ctx context.Context, t target.Target) (serverprobe.Target, error) {
	if t.URL == "" {
		return a.judgedCommand(t), nil
	}
	header, client, err := a.credentialsFor(ctx, t)
	return serverprobe.Target{Name: t.String(), Site: &peer.Site{URL: t.URL, Header: header, Client: client}}, err
}

// judgedCommand is judged for a server that is a command.
func (a *app) judgedCommand(t target.Target) serverprobe.Target {
	if a.heard == nil {
		a.heard = new(overheard)
	}
	var stderr io.Writer = a.heard
	if a.flags.passStderr() {
		stderr = io.MultiWriter(a.heard, &prefixed{out: a.err, prefix: a.err.dim("server: ")})
	}
	env := slices.Concat(t.Env, a.flags.env)
	return commandTarget(t, child.Options{Args: t.Command, Env: env, CleanEnv: a.flags.cleanEnv, Dir: t.Dir, Stderr: stderr})
}

// commandTarget is what is judged behind a command, which is started for each conversation.
func commandTarget(t target.Target, o child.Options) serverprobe.Target {
	return serverprobe.Target{Name: t.String(), Apart: true, Lines: func(context.Context) (io.ReadWriteCloser, error) {
		p, err := child.Start(o)
		if err != nil {
			return nil, fmt.Errorf("cannot start the server: %w", err)
		}
		return p, nil
	}}
}

// credentialsFor returns what goes with each request to a URL.
func (a *app) credentialsFor(ctx context.Context, t target.Target) (http.Header, *http.Client, error) {
	given, err := a.flags.header()
	if err != nil {
		return nil, nil, err
	}
	header := http.Header{}
	for _, some := range []http.Header{t.Header, given} {
		for name, values := range some {
			header[http.CanonicalHeaderKey(name)] = values
		}
	}
	token, err := a.token()
	if err != nil {
		return nil, nil, err
	}
	if token != "" {
		header.Set("Authorization", "Bearer "+token)
	}
	if header.Get("Authorization") != "" {
		return header, nil, nil
	}
	client, err := a.authorized(ctx, t.URL)
	return header, client, err
}
