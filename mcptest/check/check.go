// Package check judges servers and clients in tests, requirement by requirement, as
// the command "parley check" does: each normative sentence of the specification that can
// be seen from outside is looked at, and what fails is an error of the test, with the
// sentence, the bytes that broke it and the way to mend it.
//
//	func TestConforms(t *testing.T) {
//		check.Server(t, check.Handler(newServer()))
//	}
//
// Only tools that say that they only read are called, unless Allow says otherwise.
package check

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/report"
	"github.com/parley-mcp/parley/internal/check/serverprobe"
	"github.com/parley-mcp/parley/internal/check/verdict"
	"github.com/parley-mcp/parley/internal/redact"
	"github.com/parley-mcp/parley/mcp"
)

// Option changes how a server or a client is judged.
type Option func(*settings)

type settings struct {
	revisions []string
	server    serverprobe.Options
	baseline  string
	warnings  bool
	report    string
}

// Revision judges in this revision only; given several times, in each of them. That
// one of them is not spoken is an error. The default is every revision that the server or
// the client speaks.
func Revision(r mcp.Revision) Option {
	return func(s *settings) { s.revisions = append(s.revisions, r.String()) }
}

// Allow lets the check of a server call tools that do not say that they only read.
func Allow(tools ...string) Option {
	return func(s *settings) { s.server.Allow = append(s.server.Allow, tools...) }
}

// AllowAll lets the check of a server call every tool.
func AllowAll() Option { return func(s *settings) { s.server.AllowAll = true } }

// Stress also sends large and many messages to a server.
func Stress() Option { return func(s *settings) { s.server.Stress = true } }

// Patience is how long the check waits for an answer of a server, 5 seconds by
// default, or until a client has ended, 30 seconds by default.
func Patience(d time.Duration) Option {
	return func(s *settings) { s.server.Patience = peer.Patience{Reply: d} }
}

// Baseline accepts the failures that a file lists, each with a reason; "parley check
// --write-baseline FILE" writes one. An entry whose row passes is an error, so that
// the file stays true.
func Baseline(file string) Option { return func(s *settings) { s.baseline = file } }

// Warnings makes errors of the SHOULDs that are seen broken. By default they are
// logged.
func Warnings() Option { return func(s *settings) { s.warnings = true } }

// Report also writes the report to a file, as JSON.
func Report(file string) Option { return func(s *settings) { s.report = file } }

// Server judges a server. Each MUST that is seen broken is an error of the test. It
// works in the bubbles of testing/synctest, with targets in this process.
func Server(t testing.TB, target Target, options ...Option) {
	t.Helper()
	s := settings{server: serverprobe.Options{Tool: "mcptest/check", Rate: 1e6}}
	for _, option := range options {
		option(&s)
	}
	s.server.Revisions = s.revisions
	for _, way := range target.open(t) {
		way.Name = target.name
		r, err := serverprobe.Check(t.Context(), way, &s.server)
		if err != nil {
			t.Errorf("%s: %v", target.name, err)
			continue
		}
		report.Redact(r, redact.New(target.header))
		s.judge(t, r)
	}
}

// judge turns a report into errors and logs.
func (s *settings) judge(t testing.TB, r *verdict.Report) {
	t.Helper()
	r.Grade()
	known, err := s.known()
	if err != nil {
		t.Errorf("the baseline: %v", err)
	}
	known.Apply(r)
	if s.report != "" {
		if err := write(s.report, r); err != nil {
			t.Errorf("the report: %v", err)
		}
	}
	if r.Partial != "" {
		t.Errorf("the check is not whole: %s", r.Partial)
	}
	for _, entry := range r.Stale {
		t.Errorf("the baseline accepts a failure of %s that is none any more", entry.Row)
	}
	for _, run := range r.Runs {
		for i := range run.Verdicts {
			s.say(t, &run, &run.Verdicts[i])
		}
		n, of := run.Score.Verified()
		t.Logf("%s over %s: %d of %d rows verified", run.Revision, run.Transport, n, of)
	}
	s.missing(t, r)
}

func (s *settings) say(t testing.TB, run *verdict.Run, v *verdict.Verdict) {
	t.Helper()
	switch {
	case !v.Failed():
	case v.Known != "":
		t.Logf("%s: %s is accepted: %s", run.Revision, v.Row, v.Known)
	case v.Outcome == verdict.Fail || s.warnings:
		t.Errorf("%s over %s: %s", run.Revision, run.Transport, describe(v))
	default:
		t.Logf("%s over %s: %s", run.Revision, run.Transport, describe(v))
	}
}

// missing reports revisions that were asked for and are not spoken.
func (s *settings) missing(t testing.TB, r *verdict.Report) {
	t.Helper()
	spoken := map[string]bool{}
	for _, run := range r.Runs {
		spoken[run.Revision] = true
	}
	for _, revision := range s.revisions {
		if !spoken[revision] {
			t.Errorf("it does not speak %s", revision)
		}
	}
}

func (s *settings) known() (verdict.Baseline, error) {
	if s.baseline == "" {
		return nil, nil
	}
	f, err := os.Open(s.baseline)
	if err != nil {
		return nil, err
	}
	b, err := verdict.ReadBaseline(f)
	return b, errors.Join(err, f.Close())
}

// describe is a failure for whoever reads the log of a test.
func describe(v *verdict.Verdict) string {
	var b strings.Builder
	b.WriteString(v.Row + " (" + v.Level + "): " + v.Text + "\n  " + v.Why + "\n  Spec: " + v.Citation)
	if v.Mend != "" {
		b.WriteString("\n  " + v.Mend)
	}
	for _, e := range v.Evidence {
		arrow := "←"
		if e.Sent {
			arrow = "→"
		}
		b.WriteString("\n  " + arrow + " " + strings.TrimSpace(e.Head+e.Text))
		if e.Pointer != "" {
			b.WriteString("\n    at " + e.Pointer)
		}
	}
	return b.String()
}

func write(file string, r *verdict.Report) (err error) {
	f, err := os.Create(file) //nolint:gosec // the test names it
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return report.Write(f, "json", r, report.Options{})
}
