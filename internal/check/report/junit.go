package report

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/parley-mcp/parley/internal/check/verdict"
)

// The elements of JUnit's XML that Jenkins, GitLab, GitHub's actions and Azure
// read alike.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Errors   int          `xml:"errors,attr"`
		Skipped  int          `xml:"skipped,attr"`
		Time     string       `xml:"time,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name       string          `xml:"name,attr"`
		Tests      int             `xml:"tests,attr"`
		Failures   int             `xml:"failures,attr"`
		Errors     int             `xml:"errors,attr"`
		Skipped    int             `xml:"skipped,attr"`
		Time       string          `xml:"time,attr"`
		Timestamp  string          `xml:"timestamp,attr"`
		Properties []junitProperty `xml:"properties>property"`
		Cases      []junitCase     `xml:"testcase"`
	}
	junitProperty struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	junitCase struct {
		Name    string       `xml:"name,attr"`
		Class   string       `xml:"classname,attr"`
		Time    string       `xml:"time,attr"`
		Skipped *junitResult `xml:"skipped"`
		Error   *junitResult `xml:"error"`
		Failure *junitResult `xml:"failure"`
		Out     string       `xml:"system-out,omitempty"`
	}
	junitResult struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr,omitempty"`
		Text    string `xml:",chardata"`
	}
)

// writeJUnit writes a suite for each run and a case for each row. What was not
// verified, is not applicable or is a known failure is skipped; a warning passes,
// with its text as output. A partial report has a case that is an error.
func writeJUnit(w io.Writer, r *verdict.Report, _ Options) error {
	r = shown(r)
	all := junitSuites{Name: r.Tool + ", " + r.Target, Time: seconds(r.Took)}
	for i := range r.Runs {
		all.Suites = append(all.Suites, suiteOf(r, &r.Runs[i]))
	}
	if r.Partial != "" {
		all.Suites = append(all.Suites, partialSuite(r))
	}
	for _, s := range all.Suites {
		all.Tests, all.Failures, all.Errors, all.Skipped = all.Tests+s.Tests, all.Failures+s.Failures, all.Errors+s.Errors, all.Skipped+s.Skipped
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func suiteOf(r *verdict.Report, run *verdict.Run) junitSuite {
	s := junitSuite{
		Name: strings.Join([]string{roleName(cmp.Or(run.Role, r.Role)), run.Revision, "over", run.Transport}, " "), Tests: len(run.Verdicts),
		Time: seconds(run.Took), Timestamp: r.Started.UTC().Format("2006-01-02T15:04:05"),
		Properties: []junitProperty{
			{"score", points(&run.Score)}, {"rows verified", verified(&run.Score)}, {"profile", run.Profile}, {"target", r.Target}, {"name", subject(r)},
		},
	}
	if r.Partial != "" {
		s.Properties = append(s.Properties, junitProperty{"partial", r.Partial})
	}
	for i := range run.Verdicts {
		c := caseOf(&run.Verdicts[i])
		switch {
		case c.Failure != nil:
			s.Failures++
		case c.Skipped != nil:
			s.Skipped++
		}
		s.Cases = append(s.Cases, c)
	}
	return s
}

func caseOf(v *verdict.Verdict) junitCase {
	_, page, _ := strings.Cut(v.Citation, " ")
	page, _, _ = strings.Cut(page, "#")
	c := junitCase{Name: v.Row + " " + v.Level + ": " + v.Text, Class: page, Time: "0"}
	switch {
	case v.Known != "":
		c.Skipped = &junitResult{Message: "known failure: " + v.Known}
		c.Out = failureText(v)
	case v.Outcome == verdict.Fail:
		c.Failure = &junitResult{Message: v.Why, Type: v.Row, Text: failureText(v)}
	case v.Outcome == verdict.Warn:
		c.Out = "Warning: " + failureText(v)
	case v.Outcome != verdict.Pass:
		c.Skipped = &junitResult{Message: string(v.Outcome) + ": " + whyNot(v)}
	}
	return c
}

// failureText tells a failure where there is only plain text.
func failureText(v *verdict.Verdict) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s: %s\n%s\n", v.Row, v.Level, v.Text, v.Why)
	if v.Mend != "" {
		fmt.Fprintf(&b, "How to mend it: %s\n", v.Mend)
	}
	if v.Unscored {
		b.WriteString(unscoredText + "\n")
	}
	fmt.Fprintf(&b, "See %s\n", v.URL())
	for i := range v.Evidence {
		b.WriteString("\n" + evidenceText(&v.Evidence[i]))
	}
	return b.String()
}

func partialSuite(r *verdict.Report) junitSuite {
	return junitSuite{
		Name: "the check", Tests: 1, Errors: 1, Time: "0", Timestamp: r.Started.UTC().Format("2006-01-02T15:04:05"),
		Cases: []junitCase{{Name: "gets to its end", Class: "check", Time: "0", Error: &junitResult{Message: partialText(r), Type: "partial"}}},
	}
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }
