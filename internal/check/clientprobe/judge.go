package clientprobe

import (
	"cmp"
	"slices"
	"time"

	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/internal/check/verdict"
)

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
