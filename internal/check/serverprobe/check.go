// Package serverprobe judges servers: it speaks to them in every revision that
// they claim, looks at what they offer, runs its probes, and says what became
// of each requirement.
package serverprobe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/internal/check/requirement"
	"github.com/parley-mcp/parley/internal/check/sample"
	"github.com/parley-mcp/parley/internal/check/verdict"
	"github.com/parley-mcp/parley/internal/revision"
)

// Target is the server to be judged: either Lines or Site is set.
type Target struct {
	// Name is what the report calls it.
	Name string
	// Lines starts a process, or whatever speaks in lines, and returns its
	// streams. Closing them ends it.
	Lines func(context.Context) (io.ReadWriteCloser, error)
	// Apart is set if what Lines starts is a server of its own each time, to which
	// nothing happens that is done to the others: see Options.Jobs. It may be called
	// concurrently then.
	Apart bool
	// Site is an HTTP server. The first revision is spoken over HTTP+SSE.
	Site *peer.Site
}

// Options say how to judge.
type Options struct {
	// Revisions limit the check; nil means all that the server claims.
	Revisions []string
	// Allow are tools that may be called although they do not say that they only
	// read, and AllowAll allows all.
	Allow    []string
	AllowAll bool
	// Stress runs probes that send large or many messages.
	Stress bool
	// Rate is how many messages are sent a second, in all revisions together; 0
	// means 100.
	Rate float64
	// Jobs is how many revisions are judged at once, if the target has a server
	// apart for each. 0 means as many as there are processors, but one at a time if
	// tools are allowed that may write: they may write to what the servers share.
	Jobs int
	// Patience is how long to wait for the server.
	Patience peer.Patience
	// Limits bound what is kept of what the server sends.
	Limits peer.Limits
	// Only are the IDs of the probes to be run; nil means all.
	Only []string
	// Examples are arguments, variables and URIs that a person chose, if set.
	Examples *sample.Examples
	// Progress is told how far the check is, if set, and must not wait.
	Progress func(Progress)
	// Heard is told of each message, both ways, if set. It may be called
	// concurrently.
	Heard func(*peer.Message)
	// Tool names the checker in the report.
	Tool string
}

// Progress is how far a check is.
type Progress struct {
	// Revisions are those that are being judged, newest first.
	Revisions []string
	Transport string
	// Done and Total count the probes of all revisions. Total is what is to be
	// done at most: the server may turn out not to speak a revision.
	Done, Total int
}

// Check judges a server. If the context ends it returns what was found until
// then, marked as partial, and no error. It returns an error if the server
// could not be spoken to in any revision.
func Check(ctx context.Context, t Target, o *Options) (*verdict.Report, error) {
	report := &verdict.Report{Tool: o.Tool, Target: t.Name, Role: requirement.Server, Started: time.Now().UTC()}
	j := newJudgement(ctx, t, o)
	j.judge()
	var refusals []string
	for _, one := range j.each {
		switch {
		case one.run != nil:
			report.Runs = append(report.Runs, *one.run)
			report.Name, report.Version = cmp.Or(report.Name, one.name), cmp.Or(report.Version, one.version)
			report.Notes = append(report.Notes, one.notes...)
		case one.refusal != nil:
			refusals = append(refusals, fmt.Sprintf("%s: %v", one.facts.Revision, one.refusal))
			if errors.Is(one.refusal, errSilent) { // which may be for want of time, and not of the revision
				report.Notes = append(report.Notes, fmt.Sprintf("%s was not judged: %v", one.facts.Revision, one.refusal))
			}
		}
	}
	if ctx.Err() != nil {
		report.Partial = verdict.Interrupted(ctx)
	}
	report.Took = time.Since(report.Started)
	slices.Sort(report.Notes)
	report.Notes = slices.Compact(report.Notes)
	if len(report.Runs) == 0 && report.Partial == "" {
		return nil, errors.New("the server could not be spoken to in any revision\n  " + strings.Join(refusals, "\n  "))
	}
	return report, nil
}

// revisions are those asked for, newest first.
func revisions(asked []string) []*revision.Facts {
	all := slices.Clone(revision.All())
	slices.Reverse(all)
	return slices.DeleteFunc(all, func(f *revision.Facts) bool {
		return asked != nil && !slices.Contains(asked, f.Revision.String())
	})
}

// due are the probes of a revision: first those that send something, then those
// that look at everything that was said.
func (o *Options) due(revision string) []*Probe {
	var due []*Probe
	for _, p := range All() {
		if first, _ := p.Principal(revision); first != nil && (o.Only == nil || slices.Contains(o.Only, p.ID)) {
			due = append(due, p)
		}
	}
	slices.SortStableFunc(due, func(a, b *Probe) int { return a.turn() - b.turn() })
	return due
}

// run runs the probes of a revision, and says before each how many are done.
func (x *X) run(progress func(done int)) *verdict.Run {
	begun := time.Now()
	x.survey()
	var judged []probe.Judged
	for n, p := range x.opts.due(x.Revision) {
		progress(n)
		j := probe.Judged{Info: p.Info, Finding: x.find(p)}
		x.note(&j)
		judged = append(judged, j)
	}
	return &verdict.Run{
		Revision: x.Revision, Transport: x.Transport, Took: time.Since(begun),
		Verdicts: probe.Verdicts(x.Revision, judged, x.Log), Requests: x.sent(),
	}
}

// find runs one probe.
func (x *X) find(p *Probe) probe.Finding {
	if x.Ctx.Err() != nil {
		return probe.Unverified("the check was interrupted before")
	}
	if f, missing := x.lacks(p.Needs); missing {
		return f
	}
	if p.Run != nil && x.refusal != nil && !p.Greets {
		return probe.Unverified("the server refuses the handshake: %v", x.refusal).Explained(keepsVersion)
	}
	if p.Run != nil && x.Log.Full() {
		x.Note("the server sent more in " + x.Revision + " than the checker keeps: what came later was not looked at")
		return probe.Unverified("the server had sent more than the checker keeps")
	}
	if p.Run != nil {
		if err := x.renew(); err != nil {
			return probe.Unverified("the server could not be reached again: %v", err).Explained(answersRequests)
		}
		f := p.Run(x)
		if x.Ctx.Err() != nil && f.Outcome == verdict.Fail {
			return probe.Unverified("the check was interrupted meanwhile")
		}
		return f
	}
	if x.excused == nil {
		x.excused = maps.Clone(x.blamed)
	}
	w := &probe.Watch{}
	if p.General {
		w.Skip = x.isBlamed
	}
	p.Watch(x, w)
	return w.Finding()
}

// note remembers what a failure blames.
func (x *X) note(j *probe.Judged) {
	if j.Outcome != verdict.Fail {
		return
	}
	x.Log.Look(func() { // an exchange may go on
		for _, b := range j.Blamed {
			if b.Message != nil {
				x.blamed[b.Message] = true
			}
			if b.Exchange != nil {
				for _, m := range b.Exchange.Messages {
					x.blamed[m] = true
				}
			}
		}
	})
}

// isBlamed reports whether another failure blames a message, or an error with the
// same code for the same method: not all that is wrong is kept as evidence.
func (x *X) isBlamed(m *peer.Message) bool {
	if x.blamed[m] || m.Batch != nil && x.blamed[m.Batch] {
		return true
	}
	asked, code := x.Log.RequestOf(m), codeOf(m)
	if asked == nil || code == "" {
		return false
	}
	for other := range x.blamed {
		if first := x.Log.RequestOf(other); first != nil && first.Method == asked.Method && codeOf(other) == code {
			return true
		}
	}
	return false
}

func codeOf(m *peer.Message) string {
	code, ok := m.Get("error/code")
	if !ok {
		return ""
	}
	return string(peer.Encode(code))
}

func (x *X) sent() int {
	n := 0
	for _, m := range x.Log.Messages() {
		if m.Sent {
			n++
		}
	}
	return n
}
