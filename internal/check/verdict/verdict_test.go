package verdict_test

import (
	"testing"

	"github.com/parley-mcp/parley/internal/check/requirement"
	"github.com/parley-mcp/parley/internal/check/verdict"
)

// rows makes verdicts of a level, one for each letter: p(ass), f(ail), u(nverified), n(ot applicable).
func rows(level, outcomes string) []verdict.Verdict {
	var all []verdict.Verdict
	for _, c := range outcomes {
		v := verdict.Verdict{Row: level + string(c), Level: level}
		switch c {
		case 'p':
			v.Outcome = verdict.Pass
		case 'f':
			v.Outcome = verdict.Fail
			if !v.Must() {
				v.Outcome = verdict.Warn
			}
		case 'u':
			v.Outcome = verdict.Unverified
		case 'n':
			v.Outcome = verdict.NotApplicable
		}
		all = append(all, v)
	}
	return all
}

func reportOf(runs ...[]verdict.Verdict) *verdict.Report {
	r := &verdict.Report{Role: requirement.Server}
	for _, v := range runs {
		r.Runs = append(r.Runs, verdict.Run{Revision: "no-profile", Verdicts: v})
	}
	r.Grade()
	return r
}

func TestScore(t *testing.T) {
	for _, tc := range []struct {
		name         string
		must, should string
		points       float64
		capped       bool
		verified, of int
	}{
		{name: "all passed", must: "ppp", should: "pp", points: 100, verified: 5, of: 5},
		{name: "nothing applies", must: "nn", should: "n", points: 0},
		{name: "not applicable leaves the denominator", must: "ppnnn", should: "pn", points: 100, verified: 3, of: 3},
		{name: "not verified stays in", must: "pu", should: "pp", points: 52.5, verified: 3, of: 4},
		{name: "MUSTs own 95", must: "pppp", should: "ffff", points: 95, verified: 8, of: 8},
		{name: "SHOULDs own 5", must: "uu", should: "pp", points: 5, verified: 2, of: 4},
		{name: "no SHOULD applies", must: "pu", should: "n", points: 50, verified: 1, of: 2},
		{name: "no MUST applies", must: "", should: "ppf", points: 66.6, verified: 3, of: 3},
		{name: "cut off, not rounded", must: "ppu", should: "", points: 66.6, verified: 2, of: 3},
		{name: "a failed MUST caps", must: "f" + many("p", 999), should: "p", points: 94, capped: true, verified: 1001, of: 1001},
		{name: "below the cap nothing is capped", must: "fp", should: "p", points: 52.5, verified: 3, of: 3},
		{name: "never 100 with one that is open", must: "u" + many("p", 9999), should: "p", points: 99.9, verified: 10000, of: 10001},
	} {
		t.Run(tc.name, func(t *testing.T) {
			verdicts := append(rows("MUST", tc.must), rows("SHOULD NOT", tc.should)...)
			verdicts = append(verdicts, rows("MAY", "fffup")...) // have no points
			r := reportOf(verdicts)
			n, of := r.Score.Verified()
			if r.Score.Points != tc.points || r.Score.Capped != tc.capped || n != tc.verified || of != tc.of {
				t.Errorf("%v points (capped: %t), %d of %d, want %v (%t), %d of %d", r.Score.Points, r.Score.Capped, n, of, tc.points, tc.capped, tc.verified, tc.of)
			}
			if r.Runs[0].Score != r.Score {
				t.Errorf("the only run has %v, all have %v", r.Runs[0].Score, r.Score)
			}
		})
	}
}

func many(s string, n int) string {
	b := make([]byte, 0, n)
	for range n {
		b = append(b, s...)
	}
	return string(b)
}

func TestScoreOverAllRuns(t *testing.T) {
	r := reportOf(rows("MUST", "pppppppp"), rows("MUST", "uu"))
	if r.Runs[0].Score.Points != 100 || r.Runs[1].Score.Points != 0 || r.Score.Points != 80 {
		t.Errorf("%v and %v make %v, want 100, 0 and 80", r.Runs[0].Score.Points, r.Runs[1].Score.Points, r.Score.Points)
	}
}

func TestExit(t *testing.T) {
	known := rows("MUST", "pf")
	known[1].Known = "it is being mended"
	ended := reportOf(rows("MUST", "pp"))
	ended.Partial = "interrupted"
	broken := reportOf(rows("MUST", "pf"))
	broken.Partial = "interrupted"
	for name, tc := range map[string]struct {
		report *verdict.Report
		want   int
	}{
		"no MUST fails":           {reportOf(rows("MUST", "ppun")), verdict.ExitPassed},
		"a SHOULD fails":          {reportOf(append(rows("MUST", "p"), rows("SHOULD", "f")...)), verdict.ExitPassed},
		"a MUST fails":            {reportOf(rows("MUST", "p"), rows("MUST", "pf")), verdict.ExitFailed},
		"a failure that is known": {reportOf(known), verdict.ExitPassed},
		"nothing was judged":      {reportOf(rows("MUST", "uun")), verdict.ExitNotRun},
		"no runs":                 {reportOf(), verdict.ExitNotRun},
		"partial, nothing failed": {ended, verdict.ExitNotRun},
		"partial, a MUST failed":  {broken, verdict.ExitFailed},
	} {
		if got := tc.report.Exit(); got != tc.want {
			t.Errorf("%s: exit %d, want %d", name, got, tc.want)
		}
	}
}

func TestURL(t *testing.T) {
	const spec = "https://modelcontextprotocol.io/specification/"
	for citation, want := range map[string]string{
		"2026-07-28 server/tools#error-handling":             spec + "2026-07-28/server/tools#error-handling",
		"2025-11-25 basic/index#meta":                        spec + "2025-11-25/basic#meta",
		"2026-07-28 index":                                   spec + "2026-07-28",
		"2025-11-25 schema.json#basemetadata":                spec + "2025-11-25/schema#basemetadata",
		"2025-11-25 guides/security_best_practices#ssrf":     spec + "2025-11-25/basic/security_best_practices#ssrf",
		"2026-07-28 basic/authorization/index#token-passing": spec + "2026-07-28/basic/authorization#token-passing",
		"": "",
	} {
		v := verdict.Verdict{Citation: citation}
		if got := v.URL(); got != want {
			t.Errorf("%s is at %s, want %s", citation, got, want)
		}
	}
}
