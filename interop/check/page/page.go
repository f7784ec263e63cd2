package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/parley-mcp/parley/internal/check/verdict"
)

// The bounds of what is quoted of a failure.
const (
	mostEvidence = 4   // the last ones
	mostBytes    = 700 // of each
)

type page struct {
	out      io.Writer
	subjects []*subject
	// remarks are of peer, role and row: what somebody found who looked at it.
	remarks map[[3]string]string
	err     error
}

func (p *page) printf(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.out, format, args...)
	}
}

func (p *page) write() error {
	p.printf(`# What parley check says of other implementations

Made by [interop/check](../interop/check/README.md): do not edit. Each server and client was judged on the machine that made this page, in
the versions below; the servers and drivers that are not published programs are small ones that this project wrote on the SDK, so a failure
can be theirs: the remark at each failure says whose it is. Scores are those of [check](check.md): 100 at most, 94 with a failed MUST, and
a row that could not be verified earns nothing. In brackets: rows verified, of rows that apply, and how many MUSTs failed.
`)
	for _, role := range []string{"server", "client"} {
		p.role(role)
	}
	return p.err
}

// preface is what has to be known about the scores of a role.
var preface = map[string]string{
	"client": `What a client never did is not verified, and the drivers log in nowhere and make no tasks, which two in five of the rows of 2025-11-25 over HTTP are
about. A name that ends in -legacy is that of the same package, told to open a session; without it the client tries 2026-07-28 first.

`,
}

func (p *page) role(role string) {
	var of []*subject
	for _, s := range p.subjects {
		if s.role == role {
			of = append(of, s)
		}
	}
	if !slices.ContainsFunc(of, func(s *subject) bool { return len(s.runs) > 0 }) {
		return
	}
	title := strings.ToUpper(role[:1]) + role[1:] + "s"
	p.printf("\n## %s\n\n%s| Peer | Version | Revision | Score by transport |\n| --- | --- | --- | --- |\n", title, preface[role])
	for _, s := range of {
		p.scores(s)
	}
	for _, s := range of {
		p.failures(s)
	}
}

// scores writes a line for each revision of a peer.
func (p *page) scores(s *subject) {
	var revisions []string
	for i := range s.runs {
		if !slices.Contains(revisions, s.runs[i].Revision) {
			revisions = append(revisions, s.runs[i].Revision)
		}
	}
	slices.Sort(revisions)
	for _, revision := range revisions {
		var scores []string
		for i := range s.runs {
			if run := &s.runs[i]; run.Revision == revision {
				n, of := run.Score.Verified()
				scores = append(scores, fmt.Sprintf("%s **%.1f** (%d of %d, %d failed)", run.Transport, run.Score.Points, n, of, run.Score.Must.Failed))
			}
		}
		p.printf("| %s (%s) | %s | %s | %s |\n", s.name, s.language, s.version, revision, strings.Join(scores, "; "))
	}
	if len(s.notes) > 0 {
		p.printf("| %s (%s) | %s | | %s |\n", s.name, s.language, s.version, cell(strings.Join(s.notes, "; ")))
	}
}

// failure is a row that a peer breaks, and where.
type failure struct {
	verdict.Verdict
	places []string
}

func failuresOf(s *subject) (found []*failure) {
	for i := range s.runs {
		for _, v := range s.runs[i].Verdicts {
			if v.Outcome != verdict.Fail {
				continue
			}
			at := slices.IndexFunc(found, func(f *failure) bool { return f.Row == v.Row })
			if at < 0 {
				at = len(found)
				found = append(found, &failure{Verdict: v})
			}
			found[at].places = append(found[at].places, s.runs[i].Revision+" over "+s.runs[i].Transport)
		}
	}
	return found
}

func (p *page) failures(s *subject) {
	found := failuresOf(s)
	if len(found) == 0 {
		return
	}
	p.printf("\n### %s %s as a %s: %d failed\n", s.name, s.version, s.role, len(found))
	for _, f := range found {
		link := "`" + f.Citation + "`"
		if url := f.URL(); url != "" {
			link = "[" + link + "](" + url + ")"
		}
		p.printf("\n**`%s`** %s, %s: %s\n\n", f.Row, f.Level, link, cell(f.Text))
		p.printf("- Seen in %s, by the probe `%s`: %s\n", strings.Join(f.places, ", "), f.Probe, cell(f.Why))
		remark := p.remarks[[3]string{s.name, s.role, f.Row}]
		if remark == "" {
			remark = "not yet."
		}
		p.printf("- Verified by hand: %s\n\n", cell(remark))
		p.evidence(f.Evidence)
	}
}

func (p *page) evidence(all []verdict.Evidence) {
	if len(all) == 0 {
		return
	}
	if skip := len(all) - mostEvidence; skip > 0 {
		all = all[skip:]
	}
	p.printf("````text\n")
	for _, e := range all {
		direction := "←"
		if e.Sent {
			direction = "→"
		}
		for line := range strings.Lines(quoted(e.Head)) {
			p.printf("%s %s\n", direction, strings.TrimRight(line, "\n"))
		}
		p.printf("%s %s\n", direction, quoted(e.Text))
		if e.Pointer != "" {
			p.printf("  at %s\n", e.Pointer)
		}
	}
	p.printf("````\n")
}

// quoted makes what a peer said safe to show, and cuts it.
func quoted(text string) string {
	text = strings.Map(func(c rune) rune {
		if c < ' ' && c != '\n' || c == 0x7f {
			return '�'
		}
		return c
	}, strings.TrimSpace(strings.ReplaceAll(text, "\r", "")))
	text = strings.ReplaceAll(text, "````", "` ` ` `")
	if len(text) <= mostBytes {
		return text
	}
	cut := strings.ToValidUTF8(text[:mostBytes], "")
	return fmt.Sprintf("%s … (%d bytes more)", cut, len(text)-len(cut))
}

// cell keeps a text on one line of a table or a list.
func cell(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	return strings.NewReplacer("|", `\|`, "<", "&lt;").Replace(text)
}
