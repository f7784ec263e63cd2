package report

import (
	"io"
	"net/url"
	"strings"

	"github.com/parley-mcp/parley/internal/check/verdict"
)

// The members of SARIF 2.1.0 that are used:
// https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool        sarifTool         `json:"tool"`
		Automation  sarifID           `json:"automationDetails"`
		Invocations []sarifInvocation `json:"invocations"`
		Results     []sarifResult     `json:"results"`
		Properties  map[string]any    `json:"properties"`
	}
	sarifID struct {
		ID string `json:"id"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name     string      `json:"name"`
		FullName string      `json:"fullName"`
		Rules    []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID      string         `json:"id"`
		Short   sarifText      `json:"shortDescription"`
		Help    sarifText      `json:"help"`
		HelpURI string         `json:"helpUri,omitzero"`
		Config  map[string]any `json:"defaultConfiguration"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifInvocation struct {
		Successful    bool                `json:"executionSuccessful"`
		Start         string              `json:"startTimeUtc"`
		Notifications []sarifNotification `json:"toolExecutionNotifications,omitzero"`
	}
	sarifNotification struct {
		Level   string    `json:"level"`
		Message sarifText `json:"message"`
	}
	sarifResult struct {
		RuleID       string             `json:"ruleId"`
		RuleIndex    int                `json:"ruleIndex"`
		Level        string             `json:"level"`
		Message      sarifText          `json:"message"`
		Locations    []sarifLocation    `json:"locations"`
		Fingerprints map[string]string  `json:"partialFingerprints"`
		Suppressions []sarifSuppression `json:"suppressions,omitzero"`
		Properties   map[string]any     `json:"properties"`
	}
	sarifSuppression struct {
		Kind          string `json:"kind"`
		Justification string `json:"justification"`
	}
	sarifLocation struct {
		Physical struct {
			Artifact struct {
				URI string `json:"uri"`
			} `json:"artifactLocation"`
		} `json:"physicalLocation"`
		Logical []sarifLogical `json:"logicalLocations"`
	}
	sarifLogical struct {
		Name string `json:"fullyQualifiedName"`
		Kind string `json:"kind"`
	}
)

// writeSARIF writes failures and warnings as results, and their rows as rules. A
// known failure is suppressed, with its reason.
func writeSARIF(w io.Writer, r *verdict.Report, _ Options) error {
	r = shown(r)
	n, of := r.Score.Verified()
	run := sarifRun{
		Tool:       sarifTool{sarifDriver{Name: "parley check", FullName: r.Tool, Rules: []sarifRule{}}},
		Automation: sarifID{"parley-check/" + strings.ReplaceAll(roleName(r.Role), " ", "-") + "/"},
		Results:    []sarifResult{},
		Properties: map[string]any{"score": r.Score.Points, "rowsVerified": n, "rows": of, "profile": r.Profile, "partial": r.Partial},
		Invocations: []sarifInvocation{{
			Successful: r.Partial == "", Start: r.Started.UTC().Format("2006-01-02T15:04:05.000Z"),
		}},
	}
	if r.Partial != "" {
		run.Invocations[0].Notifications = []sarifNotification{{Level: "error", Message: sarifText{partialText(r)}}}
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
	return writeDocument(w, sarifLog{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run}})
}

func ruleOf(v *verdict.Verdict) sarifRule {
	help := v.Text
	if v.Mend != "" {
		help += " " + v.Mend
	}
	return sarifRule{
		ID: v.Row, Short: sarifText{v.Text}, Help: sarifText{help}, HelpURI: v.URL(),
		Config: map[string]any{"level": sarifLevel(v)},
	}
}

func sarifLevel(v *verdict.Verdict) string {
	if v.Outcome == verdict.Fail {
		return "error"
	}
	return "warning"
}

func resultOf(r *verdict.Report, run int, v *verdict.Verdict, rule int) sarifResult {
	where := place(r, run)
	res := sarifResult{
		RuleID: v.Row, RuleIndex: rule, Level: sarifLevel(v), Message: sarifText{failureText(v)},
		Fingerprints: map[string]string{"parleyRow/v1": v.Row + " in " + where},
		Properties:   map[string]any{"revision": r.Runs[run].Revision, "transport": r.Runs[run].Transport},
	}
	var at sarifLocation
	at.Physical.Artifact.URI = targetURI(r.Target)
	at.Logical = []sarifLogical{{Name: r.Target, Kind: "resource"}}
	res.Locations = []sarifLocation{at}
	if v.Known != "" {
		res.Suppressions = []sarifSuppression{{Kind: "external", Justification: v.Known}}
	}
	return res
}

// targetURI makes a URI of a target, which may be a command.
func targetURI(target string) string {
	if u, err := url.Parse(target); err == nil && (u.Scheme == "http" || u.Scheme == "https") {
		return u.String()
	}
	return url.PathEscape(target)
}
