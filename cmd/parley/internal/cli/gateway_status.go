package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/backend"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/scan"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/status"
	"github.com/parley-mcp/parley/internal/wire"
)

const gatewayStatusLong = `Show how the gateways are that run: their servers, their clients, and what waits. Each
program that starts a gateway over --stdio has one of its own, so there may be several of
one FILE. Without a FILE, all gateways of this user are shown.`

// gatewayStatus is "parley gateway status".
func (a *app) gatewayStatus() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "status [FILE]",
		Short:   "Show how running gateways are",
		Long:    gatewayStatusLong,
		Example: "  parley gateway status\n  parley gateway status gateway.yaml --stderr\n  parley gateway status gateway.yaml --output json",
		Args:    cobra.MaximumNArgs(1),
	}
	var stderr bool
	cmd.Flags().BoolVar(&stderr, "stderr", false, "show the last lines that servers have written to their standard error")
	honours(cmd, a.flags.format)
	completesFile(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := a.flags.check(); err != nil {
			return err
		}
		file := ""
		if len(args) > 0 {
			file = args[0]
		}
		all, err := a.statuses(cmd.Context(), file)
		if err != nil {
			return err
		}
		if a.flags.json() {
			raw, err := wire.Marshal(all)
			a.out.json(raw)
			return err
		}
		for i := range all {
			if i > 0 {
				a.out.printf("\n")
			}
			a.showStatus(&all[i], stderr)
		}
		return nil
	}
	return cmd
}

// asking is how long a gateway may take to say how it is.
const asking = 5 * time.Second

// statuses asks the gateways of a file how they are.
func (a *app) statuses(ctx context.Context, file string) ([]status.Gateway, error) {
	found, err := a.gatewaysOf(file)
	if err != nil {
		return nil, err
	}
	all := make([]status.Gateway, 0, len(found))
	for _, c := range found {
		one := status.Gateway{PID: c.PID()}
		ctx, cancel := context.WithTimeout(ctx, asking)
		err := c.Do(ctx, http.MethodGet, "/status", nil, &one)
		cancel()
		if err != nil {
			return nil, &failure{code: codeFailed, err: err}
		}
		all = append(all, one)
	}
	return all, nil
}

func (a *app) showStatus(g *status.Gateway, stderr bool) {
	c := &g.Configuration
	a.out.printf("%s  process %d, version %s, since %s\n", a.out.bold(label(c.File, 500)), g.PID, label(g.Version, 100), since(g.Since))
	a.out.printf("  clients        %s\n", label(strings.Join(g.Addresses, ", "), 1000))
	a.out.printf("  sessions       %s\n", countsOf(g.Sessions))
	a.out.printf("  configuration  %s, read %s\n", label(c.Revision, 100), since(c.Since))
	if c.Error != "" {
		a.out.printf("  %s\n", a.out.red(oneLine("what the file says now is wrong: "+c.Error, 1000)))
	}
	if g.Guards.Audit != nil {
		a.showAudit(g.Guards.Audit)
	}
	for _, w := range worries(&g.Guards, cmp.Or(c.File, "FILE")) {
		a.out.printf("  %-13s  %s\n", w.of, oneLine(w.text, 1000))
	}
	for i := range g.Backends {
		a.showBackend(&g.Backends[i], stderr)
	}
}

func (a *app) showAudit(l *status.Audit) {
	a.out.printf("  audit          %s, level %s, lines %d\n", label(l.File, 500), label(string(l.Level), 20), l.Lines)
	if l.Error == "" {
		return
	}
	text := fmt.Sprintf("the audit log cannot be written since %s, lines missing %d: %s", since(l.ErrorSince), l.Missing, l.Error)
	if l.Refusing {
		text = "all operations are refused: " + text
	}
	a.out.printf("  %s\n", a.out.red(oneLine(text, 1000)))
}

// worry is something that somebody should look at.
type worry struct{ of, text string }

// worries says what there is to look at, and how.
func worries(g *status.Guards, file string) (list []worry) {
	if g.Approvals > 0 {
		list = append(list, worry{"approvals", fmt.Sprintf("%d waiting: parley gateway approvals %s", g.Approvals, file)})
	}
	if g.Pins > 0 {
		list = append(list, worry{"pins", fmt.Sprintf("%d withheld: parley gateway pins diff %s", g.Pins, file)})
	}
	for _, f := range g.Findings {
		list = append(list, worry{"scan", fmt.Sprintf("%s in %s: %d times, %s", f.Kind, f.In, f.Count, done[f.Action])})
	}
	return list
}

// done says what was done about findings.
var done = map[scan.Action]string{scan.Log: "logged", scan.Redact: "redacted", scan.Block: "blocked"}

func (a *app) showBackend(b *status.Backend, stderr bool) {
	state := a.out.dim(string(b.Status))
	switch b.Status {
	case backend.Up:
		state = a.out.green(string(b.Status))
	case backend.Broken:
		state = a.out.red(string(b.Status))
	case backend.Idle, backend.Connecting:
	}
	a.out.printf("\n  %s  %s%s\n", a.out.bold(b.Name), state, when(b.Server != "", fmt.Sprintf("  %s, %s", label(b.Server, 200), label(b.Revision, 20))))
	a.out.printf("    %s\n", a.out.dim(label(b.Reached, 300)))
	a.out.printf("    %s\n", workOf(b))
	switch {
	case b.Error == "":
	case b.Failures == 0:
		a.out.printf("    %s\n", a.out.dim(oneLine(fmt.Sprintf("last trouble, %s ago: %s", time.Since(b.ErrorSince).Round(time.Second), b.Error), 500)))
	default:
		a.out.printf("    %s\n", a.out.red(oneLine(b.Error, 500)))
	}
	if b.Failures > 0 {
		next := "with the next request"
		if wait := time.Until(b.Retry).Round(100 * time.Millisecond); wait > 0 {
			next = "in " + wait.String()
		}
		a.out.printf("    failures in a row: %d; tried again %s\n", b.Failures, next)
	}
	if stderr && len(b.Stderr) > 0 {
		a.out.printf("%s\n", indent(harmless(strings.Join(b.Stderr, "\n")), "    | "))
	}
}

// workOf says what a backend does, as far as there is something to say.
func workOf(b *status.Backend) string {
	text := fmt.Sprintf("connections %d, in use %d; calls in flight %d", b.Connections, b.Used, b.InFlight)
	if p := &b.Parked; p.Calls > 0 {
		text += fmt.Sprintf("; parked %d of %d (%d a client), the oldest for %s", p.Calls, p.Most, p.MostEach, time.Since(p.Oldest).Round(time.Second))
	}
	if b.Restarts+b.Lost > 0 {
		text += fmt.Sprintf("; restarts %d, lost %d", b.Restarts, b.Lost)
	}
	return text
}

// since says when something was, and how long ago.
func since(t time.Time) string {
	return fmt.Sprintf("%s (%s ago)", t.Local().Format(time.DateTime), time.Since(t).Round(time.Second))
}

// countsOf writes numbers by their names.
func countsOf(counts map[string]int) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%s %d", name, counts[name]))
	}
	if parts == nil {
		return "none"
	}
	return strings.Join(parts, ", ")
}
