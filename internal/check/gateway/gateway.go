// Package gateway judges what stands between clients and a server. It speaks to
// the server directly and through the gateway, and compares: what got lost, what
// was changed, what came late, and what was mixed up between two clients.
package gateway

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/internal/check/requirement"
	"github.com/parley-mcp/parley/internal/check/serverprobe"
	"github.com/parley-mcp/parley/internal/check/verdict"
	"github.com/parley-mcp/parley/internal/revision"
)

// Check judges a gateway: around is the server that stands behind it, and
// through the same server as the gateway shows it. The report has a run for each
// revision that the gateway speaks. If the context ends it returns what was found
// until then, marked as partial.
func Check(ctx context.Context, around, through serverprobe.Target, o *serverprobe.Options) (*verdict.Report, error) {
	begun := time.Now()
	behind, err := serverprobe.Check(ctx, around, named(o, "the server"))
	if err != nil {
		return nil, fmt.Errorf("the server behind the gateway: %w", err)
	}
	report, err := serverprobe.Check(ctx, through, named(o, "the gateway"))
	if err != nil {
		return nil, fmt.Errorf("the gateway: %w", err)
	}
	report.Role, report.Target = requirement.Intermediary, through.Name+", in front of "+around.Name
	report.Partial = cmp.Or(report.Partial, behind.Partial)
	known := *o
	for i := range report.Runs {
		excuse(&report.Runs[i], behind)
		verdicts, notes := compare(ctx, around, through, &known, report.Runs[i].Revision)
		report.Runs[i].Verdicts = append(verdicts, report.Runs[i].Verdicts...)
		report.Notes = append(report.Notes, notes...)
	}
	if ctx.Err() != nil {
		report.Partial = cmp.Or(report.Partial, verdict.Interrupted(ctx))
	}
	report.Took = time.Since(begun)
	return report, nil
}

// named returns options whose progress says who is being spoken to. Revisions are
// judged one after the other, since there may be one server behind several gateways.
func named(o *serverprobe.Options, who string) *serverprobe.Options {
	c := *o
	c.Jobs = 1
	if o.Progress != nil {
		c.Progress = func(p serverprobe.Progress) {
			p.Transport = who
			o.Progress(p)
		}
	}
	return &c
}

// excuse takes the failures back that the server behind has as well: a gateway
// that passes a fault on has not made it. In what form headers are refused is
// another rule for gateways: see rules.
func excuse(run *verdict.Run, behind *verdict.Report) {
	for i := range run.Verdicts {
		if v := &run.Verdicts[i]; v.Failed() && v.Probe == serverprobe.HeaderRefusalForm {
			pardon(v, "a gateway need not say it in JSON-RPC")
		}
	}
	at := slices.IndexFunc(behind.Runs, func(r verdict.Run) bool { return r.Revision == run.Revision })
	if at < 0 {
		return
	}
	faulty := map[string]bool{}
	for _, v := range behind.Runs[at].Verdicts {
		faulty[v.Row] = v.Failed()
	}
	for i := range run.Verdicts {
		if v := &run.Verdicts[i]; v.Failed() && faulty[v.Row] {
			pardon(v, "the server behind the gateway fails it by itself")
		}
	}
}

func pardon(v *verdict.Verdict, why string) {
	v.Outcome, v.Why, v.Mend, v.Evidence = verdict.Unverified, why, "", nil
}

// compare runs the traits in a revision, and returns their verdicts. It adds to
// the tools that may be called those that say here that they only read, which
// they can't say in older revisions.
func compare(ctx context.Context, around, through serverprobe.Target, o *serverprobe.Options, name string) ([]verdict.Verdict, []string) {
	p, err := newPair(ctx, around, through, o, name)
	if err != nil {
		return nil, []string{fmt.Sprintf("%s: nothing to compare with: %v", name, err)}
	}
	defer p.close()
	o.Allow = slices.Clone(o.Allow)
	for _, tool := range append(p.around.x.Offer.Callable, p.through.x.Offer.Callable...) {
		o.Allow = append(o.Allow, tool.Name)
	}
	var all []verdict.Verdict
	for _, t := range traits() {
		f := probe.Unverified("the check was interrupted before")
		if ctx.Err() == nil {
			f = t.run(p)
		}
		all = append(all, t.verdict(f))
	}
	return append(all, p.judge(name)...), p.notes
}

// judge runs the rules that the specification has for gateways.
func (p *pair) judge(revision string) []verdict.Verdict {
	var judged []probe.Judged
	for _, r := range rules {
		f := probe.Unverified("the check was interrupted before")
		if p.ctx.Err() == nil {
			f = r.run(p)
		}
		judged = append(judged, probe.Judged{Info: r.Info, Finding: f})
	}
	return probe.Verdicts(revision, judged, p.log)
}

// pair is a server, directly and through the gateway, in one revision. Both write
// to one log.
type pair struct {
	ctx             context.Context //nolint:containedctx // that of the check, which traits run in
	log             *peer.Log
	around, through *side
	notes           []string
	tried           []trial
}

func newPair(ctx context.Context, around, through serverprobe.Target, o *serverprobe.Options, name string) (*pair, error) {
	at := slices.IndexFunc(revision.All(), func(f *revision.Facts) bool { return f.Revision.String() == name })
	f := revision.All()[at]
	log := peer.NewLog(o.Limits)
	log.Heard = o.Heard
	near, err := serverprobe.Speak(ctx, around, o, f, log)
	if err != nil {
		return nil, fmt.Errorf("the server behind: %w", err)
	}
	far, err := serverprobe.Speak(ctx, through, o, f, log)
	if err != nil {
		near.Close()
		return nil, fmt.Errorf("the gateway: %w", err)
	}
	near.Survey()
	far.Survey()
	p := &pair{ctx: ctx, log: log, around: &side{x: near}, through: &side{x: far}}
	p.around.listen()
	p.through.listen()
	p.note()
	return p, nil
}

func (p *pair) close() {
	p.around.x.Close()
	p.through.x.Close()
}

// note says which tools the gateway does not show.
func (p *pair) note() {
	var missing []string
	for _, tool := range p.around.x.Offer.Tools {
		if name, ok := tool["name"].(string); ok && p.toolName(name) == "" {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		p.notes = append(p.notes, "the gateway does not show the tools "+strings.Join(missing, ", "))
	}
}

// toolName is what the gateway calls a tool, or "".
func (p *pair) toolName(name string) string { return counterpart(name, p.through.x.Offer.Tools) }

// counterpart finds the name under which a gateway shows something: the same
// one, or the only one that ends with it after a separator.
func counterpart(name string, among []map[string]any) string {
	var found []string
	for _, one := range among {
		other, _ := one["name"].(string)
		if other == name {
			return name
		}
		if front, ok := strings.CutSuffix(other, name); ok && front != "" && strings.ContainsAny(front[len(front)-1:], "_-./:") {
			found = append(found, other)
		}
	}
	if len(found) == 1 {
		return found[0]
	}
	return ""
}
