// Package clientprobe judges clients: it is the server that they speak to, which
// behaves well, asks, changes, refuses, breaks off and lies, as its scenarios
// say, and it says what became of each requirement from what they sent.
package clientprobe

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/internal/check/requirement"
	"github.com/parley-mcp/parley/internal/check/verdict"
	"github.com/parley-mcp/parley/internal/revision"
)

// Driver runs the client that is judged, once, and returns when it has ended, or
// has been made to because ctx ended. What it returns is why the client ended;
// an error that is ErrStart means that there was no client.
type Driver func(ctx context.Context, p *Place) error

// ErrStart says that the client could not be started.
var ErrStart = errors.New("the client could not be started")

// Place is where the client finds the server of one scenario.
type Place struct {
	Scenario            *Scenario
	Revision, Transport string
	// URL is that of the endpoint, if the transport is HTTP.
	URL string
	// Connect begins a conversation in lines, otherwise. The client calls it when
	// it would start the process of its server, and may do so again.
	Connect func() io.ReadWriteCloser
	// Accept does the same for a driver that has the streams already.
	Accept func(io.ReadWriteCloser)
}

// Options say how to judge.
type Options struct {
	// Name is what the report calls the client.
	Name string
	// Revisions limit the check; nil means all that the client speaks.
	Revisions []string
	// Lines makes the client speak in lines, as over stdio; otherwise it speaks
	// HTTP.
	Lines bool
	// Processes is set if the driver has the client start a process for each
	// conversation in lines, or something that ends in the same steps.
	Processes bool
	// Scenarios are the names of those to be played; nil means all. The one without
	// a twist is always played.
	Scenarios []string
	// Timeout is how long the client may take for a scenario; 0 means 30 seconds.
	Timeout time.Duration
	// AtOnce is how many scenarios are played at the same time, after the first;
	// 0 means one. It is for clients that share nothing with another one of
	// themselves, such as a file, or the port that a browser is sent back to.
	AtOnce int
	// Limits bound what is kept of what the client sends.
	Limits peer.Limits
	// Only are the IDs of the probes; nil means all.
	Only []string
	// Serve makes a handler reachable at two origins, and returns them, such as
	// http://127.0.0.1:4000. nil means two ports of this machine.
	Serve func(http.Handler) (origin, other string, stop func(), err error)
	// ByHand says that a person drives the client: see X.ByHand.
	ByHand bool
	// Progress is told which scenario is about to be played, if set.
	Progress func(Progress)
	// Played is told of each scenario that was played, if set.
	Played func(*X)
	// Tool names the checker in the report.
	Tool string
}

// Progress is how far a check is.
type Progress struct {
	Revision, Transport string
	Scenario            *Scenario
	Done, Total         int
}

// Check judges a client: it has it started once for each scenario. If the
// context ends it returns what was found until then, marked as partial, and no
// error. It returns an error if the client could not be started, or spoke to the
// server in no revision.
func Check(ctx context.Context, d Driver, o *Options) (*verdict.Report, error) {
	report := &verdict.Report{Tool: o.Tool, Target: o.Name, Role: requirement.Client, Started: time.Now().UTC()}
	for _, f := range revisions(o.Revisions) {
		c := &course{opts: o, facts: f, driver: d, transport: transportOf(f, o.Lines)}
		err := c.run(ctx)
		if errors.Is(err, ErrStart) {
			return nil, err
		}
		if err == nil && len(c.played) > 0 {
			report.Runs = append(report.Runs, c.judge())
			name, version := c.played[0].identity()
			report.Name, report.Version = cmp.Or(report.Name, name), cmp.Or(report.Version, version)
			report.Notes = append(report.Notes, c.notes...)
		}
		if ctx.Err() != nil {
			report.Partial = verdict.Interrupted(ctx)
			break
		}
	}
	report.Took = time.Since(report.Started)
	slices.Sort(report.Notes)
	report.Notes = slices.Compact(report.Notes)
	if len(report.Runs) == 0 && report.Partial == "" {
		return nil, errors.New("the client began no conversation with the server in any revision")
	}
	return report, nil
}

func transportOf(f *revision.Facts, lines bool) string {
	switch {
	case lines:
		return needsStdio
	case f.StreamableHTTP:
		return needsHTTP
	default:
		return needsSSE
	}
}

// revisions are those asked for, newest first.
func revisions(asked []string) []*revision.Facts {
	all := slices.Clone(revision.All())
	slices.Reverse(all)
	return slices.DeleteFunc(all, func(f *revision.Facts) bool {
		return asked != nil && !slices.Contains(asked, f.Revision.String())
	})
}

// connect is Place.Connect.
func (s *Stage) connect() io.ReadWriteCloser {
	client, server := pipes(s.Scenario.Stubborn)
	s.Accept(server)
	return client
}

// spoken reports whether the client has begun a conversation in the revision.
func (x *X) spoken() bool {
	if x.Stateless {
		return len(x.Requests()) > 0
	}
	return slices.ContainsFunc(x.Received(nil), func(m *peer.Message) bool { return m.Method != "initialize" && m.Method != "" })
}

// identity is what the client calls itself.
func (x *X) identity() (name, version string) {
	for _, m := range x.Requests() {
		for _, at := range []string{"params/clientInfo", "params/_meta/io.modelcontextprotocol~1clientInfo"} {
			if name = m.Text(at + "/name"); name != "" {
				return name, m.Text(at + "/version")
			}
		}
	}
	return "", ""
}

// judge runs the probes over all that was played.
func (c *course) judge() verdict.Run {
	var judged []probe.Judged
	var due []*Probe
	for _, x := range c.played {
		x.All = c.played
	}
	rev := c.facts.Revision.String()
	for _, p := range All() {
		if first, _ := p.Principal(rev); first != nil && (c.opts.Only == nil || slices.Contains(c.opts.Only, p.ID)) {
			due = append(due, p)
		}
	}
	slices.SortStableFunc(due, func(a, b *Probe) int {
		switch {
		case a.General == b.General:
			return 0
		case a.General:
			return 1
		default:
			return -1
		}
	})
	for _, p := range due {
		judged = append(judged, probe.Judged{Info: p.Info, Finding: c.find(p)})
	}
	run := verdict.Run{Revision: rev, Transport: c.transport, Took: time.Since(c.begun)}
	run.Verdicts = probe.Verdicts(rev, judged, c.played[0].Log)
	for _, x := range c.played {
		run.Requests += len(x.Sent(nil))
	}
	return run
}

// find runs a probe over all scenarios: what is broken in one of them is broken,
// and otherwise it is enough that one shows it kept.
func (c *course) find(p *Probe) probe.Finding {
	var passed, unseen *probe.Finding
	for _, x := range c.played {
		if !p.looksAt(x.Scenario) {
			continue
		}
		f := x.find(p)
		switch f.Outcome {
		case verdict.Fail:
			if x.Scenario.Name != TheBase {
				f.Why += " (in the scenario " + x.Scenario.Name + ")"
			}
			x.note(f)
			c.noteAll(p, x)
			return f
		case verdict.Pass:
			passed = &f
		default:
			unseen = &f
		}
	}
	switch {
	case passed != nil:
		return *passed
	case unseen != nil:
		return *unseen
	default:
		if missing := c.played[0].missing(p.Needs); missing != "" {
			return probe.NotApplicable("%s", missing)
		}
		if missing := c.unplayable(p.In); missing != "" {
			return probe.NotApplicable("it shows in a scenario that cannot be played: %s", missing)
		}
		return probe.Unverified("the scenario that shows it was not played")
	}
}

// unplayable says why none of some scenarios can be played, or "".
func (c *course) unplayable(names []string) string {
	why := ""
	for _, name := range names {
		sc := ScenarioNamed(name)
		stage := newStage(sc, c.facts, c.transport, c.opts)
		if sc.plays(stage) {
			return ""
		}
		for _, need := range sc.Needs {
			why = cmp.Or(stage.lacks(need), why)
		}
	}
	return why
}

// noteAll remembers what a failure blames in the scenarios after the one that
// gives its evidence, so that general probes leave that out, too.
func (c *course) noteAll(p *Probe, from *X) {
	if p.General {
		return
	}
	for _, x := range c.played {
		if x != from && p.looksAt(x.Scenario) {
			x.note(x.find(p))
		}
	}
}

// find runs a probe over one scenario.
func (x *X) find(p *Probe) probe.Finding {
	if missing := x.missing(p.Needs); missing != "" {
		return probe.NotApplicable("%s", missing)
	}
	w := &probe.Watch{}
	if p.General {
		w.Skip = x.isBlamed
	}
	p.Watch(x, w)
	return w.Finding()
}

func (x *X) missing(needs []string) string {
	for _, need := range needs {
		if missing := x.lacks(need); missing != "" {
			return missing
		}
	}
	return ""
}

// note remembers what a failure blames.
func (x *X) note(f probe.Finding) {
	if f.Outcome != verdict.Fail {
		return
	}
	for _, b := range f.Blamed {
		if b.Message != nil {
			x.blamed[b.Message] = true
		}
		if b.Exchange != nil && b.Exchange.Message != nil {
			x.blamed[b.Exchange.Message] = true
		}
	}
}
