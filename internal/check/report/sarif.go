package report

import (
	"io"
	"net/url"
	"strings"

	"github.com/parley-mcp/parley/internal/check/sarif"
	"github.com/parley-mcp/parley/internal/check/verdict"
)

// writeSARIF writes failures and warnings as results, and their rows as rules. A
// known failure is suppressed, with its reason.
func writeSARIF(w io.Writer, r *verdict.Report, _ Options) error {
	r = shown(r)
	n, of := r.Score.Verified()
	run := sarif.Run{
		Tool:       sarif.Tool{Driver: sarif.Driver{Name: "parley check", FullName: r.Tool, Rules: []sarif.Rule{}}},
		Automation: &sarif.Automation{ID: "parley-check/" + strings.ReplaceAll(roleName(r.Role), " ", "-") + "/"},
		Results:    []sarif.Result{},
		Properties: map[string]any{"score": r.Score.Points, "rowsVerified": n, "rows": of, "profile": r.Profile, "partial": r.Partial},
		Invocations: []sarif.Invocation{{
			Successful: r.Partial == "", Start: r.Started.UTC().Format("2006-01-02T15:04:05.000Z"),
		}},
	}
	if r.Partial != "" {
		run.Invocations[0].Notifications = []sarif.Notification{{Level: "error", Message: sarif.Text{Text: partialText(r)}}}
	}
	rules := map[string]int{}
	for i := range r.Runs {
		for j := range r.Runs[i].Verdicts {
			v := &r.Runs[i].Verdicts[j]
			if !v.Failed() {
				continue
			}
			if _, ok := rules[v.Row]; !ok {
				rules[v.Row] = len(run.Tool.Driver.Rules)
				run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, ruleOf(v))
			}
			run.Results = append(run.Results, resultOf(r, i, v, rules[v.Row]))
		}
	}
	return writeDocument(w, sarif.New(run))
}

func ruleOf(v *verdict.Verdict) sarif.Rule {
	help := v.Text
	if v.Mend != "" {
		help += " " + v.Mend
	}
	return sarif.Rule{
		ID: v.Row, Short: sarif.Text{Text: v.Text}, Help: sarif.Text{Text: help}, HelpURI: v.URL(),
		Default: sarif.Configuration{Level: sarifLevel(v)},
	}
}

func sarifLevel(v *verdict.Verdict) string {
	if v.Outcome == verdict.Fail {
		return "error"
	}
	return "warning"
}

func resultOf(r *verdict.Report, run int, v *verdict.Verdict, rule int) sarif.Result {
	where := place(r, run)
	return sarif.Result{
		RuleID: v.Row, RuleIndex: rule, Level: sarifLevel(v), Message: sarif.Text{Text: failureText(v)},
		Locations: []sarif.Location{{
			Physical: sarif.Physical{Artifact: sarif.Artifact{URI: targetURI(r.Target)}},
			Logical:  []sarif.Logical{{Full: r.Target, Kind: "resource"}},
		}},
		Fingerprints: map[string]string{"parleyRow/v1": v.Row + " in " + where},
		Suppressions: sarif.Accepted(v.Known),
		Properties:   map[string]any{"revision": r.Runs[run].Revision, "transport": r.Runs[run].Transport},
	}
}

// targetURI makes a URI of a target, which may be a command.
func targetURI(target string) string {
	if u, err := url.Parse(target); err == nil && (u.Scheme == "http" || u.Scheme == "https") {
		return u.String()
	}
	return url.PathEscape(target)
}
