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

	"golang.org/x/time/rate"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/probe"
	"github.com/parley-mcp/parley/internal/check/requirement"
	"github.com/parley-mcp/parley/internal/check/sample"
	"github.com/parley-mcp/parley/internal/check/verdict"
	"github.com/parley-mcp/parley/internal/revision"
)

// Target is the server to be judged: one of its two fields is set.
type Target struct {
	// Name is what the report calls it.
	Name string
	// Lines starts a process, or whatever speaks in lines, and returns its
	// streams. Closing them ends it.
	Lines func(context.Context) (io.ReadWriteCloser, error)
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
	// Rate is how many messages are sent a second; 0 means 100.
	Rate float64
	// Patience is how long to wait for the server.
	Patience peer.Patience
	// Limits bound what is kept of what the server sends.
	Limits peer.Limits
	// Only are the IDs of the probes to be run; nil means all.
	Only []string
	// Examples are arguments, variables and URIs that a person chose, if set.
	Examples *sample.Examples
	// Progress is told how far the check is, if set.
	Progress func(Progress)
	// Heard is told of each message, both ways, if set. It may be called
	// concurrently.
	Heard func(*peer.Message)
	// Tool names the checker in the report.
	Tool string
}

// Progress is how far a check is.
type Progress struct {
	Revision, Transport string
	Probe               string
	Done, Total         int
}

// Check judges a server. If the context ends it returns what was found until
// then, marked as partial, and no error. It returns an error if the server
// could not be spoken to in any revision.
func Check(ctx context.Context, t Target, o *Options) (*verdict.Report, error) {
	report := &verdict.Report{Tool: o.Tool, Target: t.Name, Role: requirement.Server, Started: time.Now().UTC()}
	pace := rate.NewLimiter(rate.Limit(cmp.Or(o.Rate, 100)), 10)
	var refusals []string
	readers, slow, claimed := map[string]bool{}, map[string]bool{}, claims{}
	for _, f := range revisions(o.Revisions) {
		x := newX(ctx, t, o, f, pace, claimed)
		x.readers, x.slow = readers, slow
		err := x.begin()
		switch {
		case ctx.Err() != nil:
		case err != nil:
			refusals = append(refusals, fmt.Sprintf("%s: %v", x.Revision, err))
			if errors.Is(err, errSilent) { // which may be for want of time, and not of the revision
				report.Notes = append(report.Notes, fmt.Sprintf("%s was not judged: %v", x.Revision, err))
			}
		default:
			report.Runs = append(report.Runs, x.run())
			report.Name, report.Version = cmp.Or(report.Name, x.Offer.Name), cmp.Or(report.Version, x.Offer.Version)
			report.Notes = append(report.Notes, x.notes...)
		}
		x.end()
		if ctx.Err() != nil {
			report.Partial = verdict.Interrupted(ctx)
			break
		}
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

// run runs the probes of a revision: first those that send something, then
// those that look at everything that was said.
func (x *X) run() verdict.Run {
	begun := time.Now()
	x.survey()
	var due []*Probe
	for _, p := range All() {
		if first, _ := p.Principal(x.Revision); first != nil && (x.opts.Only == nil || slices.Contains(x.opts.Only, p.ID)) {
			due = append(due, p)
		}
	}
	slices.SortStableFunc(due, func(a, b *Probe) int { return a.turn() - b.turn() })
	var judged []probe.Judged
	for n, p := range due {
		if x.opts.Progress != nil {
			x.opts.Progress(Progress{Revision: x.Revision, Transport: x.Transport, Probe: p.ID, Done: n, Total: len(due)})
		}
		j := probe.Judged{Info: p.Info, Finding: x.find(p)}
		x.note(&j)
		judged = append(judged, j)
	}
	return verdict.Run{
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
