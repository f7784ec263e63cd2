package report

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"io"
	"strings"
	"sync"

	"github.com/parley-mcp/parley/internal/check/verdict"
)

//go:embed page.html
var pageHTML string

//go:embed page.css
var pageCSS string

//go:embed page.js
var pageJS string

var page = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Parse(pageHTML))
})

// pageData is what the page shows.
type pageData struct {
	Report              *verdict.Report
	Subject, Role       string
	Partial, Unscored   string
	Summaries           []*summary
	Sections            []section
	Reasons             []reason
	Stale               []string
	CSS                 template.CSS
	JS                  template.JS
	CSSDigest, JSDigest string
	Started, Took       string
}

// section is the rows of one outcome.
type section struct {
	Class, Title string
	Rows         []pageRow
}

// pageRow is a row as the page shows it.
type pageRow struct {
	*group
	Seen []string // the evidence, as text
}

// Open reports whether the row's details are shown at once: there is something to
// do about it.
func (r *pageRow) Open() bool { return r.Outcome == verdict.Fail && r.Known == "" }

// writeHTML writes one page that asks nothing of any network. Its policy allows no
// script but its own, so that a mistake in escaping would not run anything.
func writeHTML(w io.Writer, r *verdict.Report, _ Options) error {
	r = shown(r)
	d := pageData{
		Report: r, Subject: subject(r), Role: roleName(r.Role), Partial: partialText(r), Unscored: unscoredText,
		Summaries: summaries(r), Reasons: reasons(r), Started: r.Started.UTC().Format("2006-01-02 15:04 UTC"), Took: took(r.Took),
		CSS: template.CSS(pageCSS), JS: template.JS(pageJS), //nolint:gosec // both are files of this package
		CSSDigest: digest(pageCSS), JSDigest: digest(pageJS),
	}
	for i := range r.Stale {
		d.Stale = append(d.Stale, staleText(&r.Stale[i]))
	}
	for _, s := range []struct {
		class, title string
		outcome      verdict.Outcome
	}{
		{"fail", "Failures", verdict.Fail},
		{"warn", "Warnings", verdict.Warn},
		{"open", "Not verified", verdict.Unverified},
		{"pass", "Passed", verdict.Pass},
		{"none", "Not applicable", verdict.NotApplicable},
	} {
		d.Sections = append(d.Sections, sectionOf(r, s.class, s.title, s.outcome))
	}
	return page().Execute(w, d)
}

func sectionOf(r *verdict.Report, class, title string, outcome verdict.Outcome) section {
	s := section{Class: class, Title: title}
	for _, g := range groups(r, outcome) {
		row := pageRow{group: g}
		if outcome == verdict.Unverified {
			g.Why = whyNot(&g.Verdict)
		}
		for i := range g.Evidence {
			row.Seen = append(row.Seen, strings.TrimRight(evidenceText(&g.Evidence[i]), "\n"))
		}
		s.Rows = append(s.Rows, row)
	}
	return s
}

// digest is what a policy calls a script or a style by.
func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}
