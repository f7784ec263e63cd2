package verdict_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/internal/check/requirement"
	"github.com/parley-mcp/parley/internal/check/verdict"
)

const baseline = `# ours
- revision: 2026-07-28
  role: server
  row: 26.server.tools-019
  reason: A client of ours needs it until March.
- role: server
  row: 26.server.tools-002
  reason: "Mended upstream: see #12"
`

func TestReadBaseline(t *testing.T) {
	got, err := verdict.ReadBaseline(strings.NewReader(baseline))
	if err != nil {
		t.Fatal(err)
	}
	want := verdict.Entry{Revision: "2026-07-28", Role: requirement.Server, Row: "26.server.tools-019", Reason: "A client of ours needs it until March.", Line: 2}
	if len(got) != 2 || got[0] != want || got[1].Revision != "" || got[1].Reason != "Mended upstream: see #12" {
		t.Errorf("the entries are %+v", got)
	}
	for _, nothing := range []string{"", "# only words\n", "[]\n", "---\n"} {
		if got, err := verdict.ReadBaseline(strings.NewReader(nothing)); err != nil || len(got) != 0 {
			t.Errorf("%q is %v, %v, want no entries", nothing, got, err)
		}
	}
}

func TestBadBaselines(t *testing.T) {
	for name, tc := range map[string]struct{ text, want string }{
		"no reason":          {"- {role: server, row: 26.server.tools-019}", "line 1: 26.server.tools-019 has no reason; write why"},
		"reason not filled":  {"- role: server\n  row: 26.server.tools-019\n  reason: \"\"", "has no reason"},
		"reason of blanks":   {"- role: server\n  row: 26.server.tools-019\n  reason: \"  \"", "has no reason"},
		"no such row":        {"- {role: server, row: 26.nothing-001, reason: x}", `there is no row "26.nothing-001"`},
		"trait of a server":  {"- {role: server, row: gateway.logs, reason: x}", `there is no row "gateway.logs"`},
		"no trait":           {"- {role: intermediary, row: \"gateway.\\n\", reason: x}", "there is no row"},
		"no row":             {"- {role: server, reason: x}", "names no row"},
		"other role":         {"- {role: sever, row: 26.server.tools-019, reason: x}", `the role "sever"`},
		"other revision":     {"- {revision: 2024-11-05, role: server, row: 26.server.tools-019, reason: x}", "does not hold in the revision"},
		"member not known":   {"- {role: server, row: 26.server.tools-019, reason: x, until: y}", `no member "until"`},
		"twice":              {"- {role: server, row: 26.server.tools-019, reason: x}\n- {role: server, row: 26.server.tools-019, reason: y}", "line 2: 26.server.tools-019 is in the baseline twice"},
		"reason is a list":   {"- {role: server, row: 26.server.tools-019, reason: [x]}", `"reason" must be a text`},
		"not a list":         {"row: x", "must be a list"},
		"entry is a text":    {"- x", "an entry is a mapping"},
		"not YAML":           {"- {", "is not YAML"},
		"several are listed": {"- {role: server, row: 26.server.tools-019}\n- {role: server, row: 26.nothing-001, reason: x}", "line 2: there is no row"},
		"too long":           {strings.Repeat("#", 5<<20), "more than"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := verdict.ReadBaseline(strings.NewReader(tc.text))
			if err == nil || !strings.Contains(err.Error(), tc.want) || got != nil {
				t.Errorf("%v, %v, want an error with %q", got, err, tc.want)
			}
		})
	}
}

// judged is a report of two revisions, of which the second has what is said.
func judged(row string, outcome verdict.Outcome) *verdict.Report {
	return &verdict.Report{Role: requirement.Server, Runs: []verdict.Run{
		{Revision: "2025-11-25", Verdicts: []verdict.Verdict{{Row: "2511.server.tools-001", Level: "MUST", Outcome: verdict.Pass}}},
		{Revision: "2026-07-28", Verdicts: []verdict.Verdict{{Row: row, Level: "MUST", Outcome: outcome}}},
	}}
}

func TestApply(t *testing.T) {
	const row = "26.server.tools-019"
	for name, tc := range map[string]struct {
		entry        verdict.Entry
		outcome      verdict.Outcome
		known, stale bool
		exit         int
	}{
		"fails":             {verdict.Entry{Revision: "2026-07-28", Role: requirement.Server, Row: row}, verdict.Fail, true, false, verdict.ExitPassed},
		"in every revision": {verdict.Entry{Role: requirement.Server, Row: row}, verdict.Fail, true, false, verdict.ExitPassed},
		"warns":             {verdict.Entry{Role: requirement.Server, Row: row}, verdict.Warn, true, false, verdict.ExitPassed},
		"passes now":        {verdict.Entry{Role: requirement.Server, Row: row}, verdict.Pass, false, true, verdict.ExitPassed},
		"applies no more":   {verdict.Entry{Role: requirement.Server, Row: row}, verdict.NotApplicable, false, true, verdict.ExitPassed},
		"was not verified":  {verdict.Entry{Role: requirement.Server, Row: row}, verdict.Unverified, false, false, verdict.ExitPassed},
		"another role":      {verdict.Entry{Role: requirement.Client, Row: row}, verdict.Fail, false, false, verdict.ExitFailed},
		"another revision":  {verdict.Entry{Revision: "2025-11-25", Role: requirement.Server, Row: row}, verdict.Fail, false, false, verdict.ExitFailed},
		"another row":       {verdict.Entry{Role: requirement.Server, Row: "26.server.tools-001"}, verdict.Fail, false, false, verdict.ExitFailed},
	} {
		t.Run(name, func(t *testing.T) {
			tc.entry.Reason = "because"
			r := judged(row, tc.outcome)
			verdict.Baseline{tc.entry}.Apply(r)
			if known := r.Runs[1].Verdicts[0].Known == "because"; known != tc.known || (len(r.Stale) == 1) != tc.stale || r.Exit() != tc.exit {
				t.Errorf("known: %t, stale: %v, exit %d, want %t, %t and %d", known, r.Stale, r.Exit(), tc.known, tc.stale, tc.exit)
			}
		})
	}
}

// What is written has to be filled in, keeps what there was, and leaves out what
// is stale.
func TestWriteBaseline(t *testing.T) {
	r := judged("26.server.tools-019", verdict.Fail)
	r.Runs = append(r.Runs, r.Runs[1]) // the same, over another transport
	applied := verdict.Baseline{
		{Revision: "2025-11-25", Role: requirement.Server, Row: "2511.server.tools-001", Reason: "it passes now"},
		{Role: requirement.Client, Row: "26.server.tools-002", Reason: "with a \"quote\":\nand a line"},
	}
	applied.Apply(r)
	var b bytes.Buffer
	if err := verdict.WriteBaseline(&b, r, applied); err != nil {
		t.Fatal(err)
	}
	if _, err := verdict.ReadBaseline(bytes.NewReader(b.Bytes())); err == nil || !strings.Contains(err.Error(), "26.server.tools-019 has no reason") {
		t.Errorf("the error is %v, want one for the reason that is not there yet:\n%s", err, &b)
	}
	filled := strings.Replace(b.String(), `reason: ""`, `reason: soon`, 1)
	got, err := verdict.ReadBaseline(strings.NewReader(filled))
	if err != nil || len(got) != 2 || got[0].Reason != applied[1].Reason || got[1].Row != "26.server.tools-019" || got[1].Revision != "2026-07-28" {
		t.Errorf("it reads as %+v, %v:\n%s", got, err, filled)
	}
	b.Reset()
	if err := verdict.WriteBaseline(&b, judged("26.server.tools-019", verdict.Pass), nil); err != nil {
		t.Fatal(err)
	}
	if got, err := verdict.ReadBaseline(&b); err != nil || len(got) != 0 {
		t.Errorf("a baseline of nothing is %v, %v", got, err)
	}
}

// What only gateways are judged by, and no requirement says, can be accepted too.
func TestBaselineOfAGateway(t *testing.T) {
	r := judged("gateway.logs", verdict.Fail)
	r.Role = requirement.Intermediary
	var b bytes.Buffer
	if err := verdict.WriteBaseline(&b, r, nil); err != nil {
		t.Fatal(err)
	}
	filled := strings.Replace(b.String(), `reason: ""`, `reason: soon`, 1)
	got, err := verdict.ReadBaseline(strings.NewReader(filled))
	if err != nil || len(got) != 1 {
		t.Fatalf("it reads as %+v, %v:\n%s", got, err, filled)
	}
	got.Apply(r)
	if v := r.Runs[1].Verdicts[0]; v.Known != "soon" {
		t.Errorf("the verdict is %+v", v)
	}
}

// A baseline that can be read comes back from being written.
func FuzzBaseline(f *testing.F) {
	f.Add(baseline)
	f.Add("- {role: client, row: 26.server.tools-002, reason: \"\\u202e \\0 x\"}")
	f.Add("- &a {role: client, row: 26.server.tools-002, reason: x}\n- *a\n")
	f.Add("- {role: intermediary, revision: x, row: gateway.logs, reason: x}")
	f.Add("- {")
	f.Fuzz(func(t *testing.T, text string) {
		all, err := verdict.ReadBaseline(strings.NewReader(text))
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := verdict.WriteBaseline(&b, &verdict.Report{}, all); err != nil {
			t.Fatal(err)
		}
		again, err := verdict.ReadBaseline(bytes.NewReader(b.Bytes()))
		if err != nil || len(again) != len(all) {
			t.Fatalf("%d entries come back as %d, %v:\n%s", len(all), len(again), err, &b)
		}
		for i := range all {
			if all[i].Row != again[i].Row || all[i].Reason != again[i].Reason || all[i].Revision != again[i].Revision || all[i].Role != again[i].Role {
				t.Errorf("%+v comes back as %+v", all[i], again[i])
			}
		}
	})
}
