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
