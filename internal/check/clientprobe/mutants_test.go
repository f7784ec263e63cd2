package clientprobe_test

import (
	"cmp"
	"os"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/parley-mcp/parley/internal/check/clientprobe"
	"github.com/parley-mcp/parley/internal/check/mutant"
	"github.com/parley-mcp/parley/internal/check/verdict"
)

// cases are where the specimen is judged: every revision over every transport
// that it has.
var cases = []struct{ revision, transport string }{
	{"2026-07-28", "stdio"},
	{"2026-07-28", "http"},
	{"2025-11-25", "stdio"},
	{"2025-11-25", "http"},
	{"2025-06-18", "stdio"},
	{"2025-06-18", "http"},
	{"2025-03-26", "stdio"},
	{"2025-03-26", "http"},
	{"2024-11-05", "stdio"},
	{"2024-11-05", "http+sse"},
}

// A client that does everything right is accused of nothing.
func TestInnocent(t *testing.T) {
	for _, c := range cases {
		t.Run(c.revision+"/"+c.transport, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				report := judge(t, c.revision, c.transport, nil, clientprobe.Options{})
				for _, v := range report.Runs[0].Verdicts {
					if v.Outcome == verdict.Fail || v.Outcome == verdict.Warn {
						t.Errorf("%s", describe(v))
					}
					if os.Getenv("PARLEY_CHECK_VERBOSE") != "" && v.Outcome != verdict.Pass {
						t.Logf("%s %s (%s): %s", v.Row, v.Outcome, v.Probe, v.Why)
					}
				}
			})
		})
	}
}

// Each mutant has one fault, which is found, and nothing else is said of it.
func TestMutants(t *testing.T) {
	for _, m := range mutant.Sample(mutants(t)) {
		t.Run(m.Row+"@"+m.Revision+"/"+m.Transport+"/"+cmp.Or(m.Scenario, clientprobe.TheBase), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				fault := &fault{mutant: m}
				report := judge(t, m.Revision, m.Transport, fault, clientprobe.Options{Scenarios: []string{m.Scenario}})
				found := false
				for _, v := range report.Runs[0].Verdicts {
					accused := v.Outcome == verdict.Fail || v.Outcome == verdict.Warn
					switch {
					case v.Row == m.Row:
						found = accused
						if !accused {
							t.Errorf("%s: %s is %q: %s", m.Place, m.Row, v.Outcome, v.Why)
						}
					case accused:
						t.Errorf("%s: accused although it is kept: %s", m.Place, describe(v))
					}
				}
				if !fault.fired {
					t.Errorf("%s: nothing that its switches match was seen", m.Place)
				} else if !found {
					t.Errorf("%s: %s was not found", m.Place, m.Row)
				}
			})
		})
	}
}

// What clients in the field do otherwise, and may, is no fault of the row.
func TestTolerated(t *testing.T) {
	all, err := mutant.Read("../mutant/testdata/tolerated/client.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		t.Run(m.Row, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				fault := &fault{mutant: m}
				report := judge(t, m.Revision, m.Transport, fault, clientprobe.Options{Scenarios: []string{m.Scenario}})
				for _, v := range report.Runs[0].Verdicts {
					if v.Row == m.Row && (v.Outcome == verdict.Fail || v.Outcome == verdict.Warn) {
						t.Errorf("%s: %s", m.Place, describe(v))
					}
				}
				if !fault.fired {
					t.Errorf("%s: nothing that its switches match was seen", m.Place)
				}
			})
		})
	}
}

// A judge is only as good as the faults that it was seen to find.
func TestThereAreMutants(t *testing.T) {
	const least = 120
	if n := len(mutants(t)); n < least && os.Getenv("PARLEY_MUTANTS") == "" {
		t.Errorf("there are %d mutants, want %d at least", n, least)
	}
}

// mutants reads the lists; PARLEY_MUTANTS is a part of the name of those wanted.
func mutants(t *testing.T) []*mutant.Mutant {
	t.Helper()
	all, err := mutant.Read("../mutant/testdata/client/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func describe(v verdict.Verdict) string {
	var b strings.Builder
	b.WriteString(v.Row + " " + string(v.Outcome) + " (" + v.Probe + "): " + v.Why + "\n  " + v.Text)
	for _, e := range v.Evidence {
		b.WriteString("\n    " + strings.TrimSpace(e.Head+e.Text) + " at " + e.Pointer)
	}
	return b.String()
}
