package serverprobe_test

import (
	"context"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/parley-mcp/parley/internal/check/mutant"
	"github.com/parley-mcp/parley/internal/check/serverprobe"
	"github.com/parley-mcp/parley/internal/check/verdict"
)

type closer interface {
	Close(ctx context.Context) error
}

type mcptestHandler = http.Handler

// cases are where the specimen is judged: every revision over every transport
// that it has.
var cases = []struct{ revision, transport, scenario string }{
	{"2026-07-28", "stdio", ""},
	{"2026-07-28", "http", ""},
	{"2025-11-25", "stdio", ""},
	{"2025-11-25", "http", ""},
	{"2025-06-18", "stdio", ""},
	{"2025-06-18", "http", ""},
	{"2025-03-26", "stdio", ""},
	{"2025-03-26", "http", ""},
	{"2024-11-05", "stdio", ""},
	{"2024-11-05", "http+sse", ""},
	{"2026-07-28", "http", "modern"},
	{"2026-07-28", "http", "protected"},
	{"2025-11-25", "http", "protected"},
}

// A server that does everything right is accused of nothing.
func TestInnocent(t *testing.T) {
	for _, c := range cases {
		t.Run(c.revision+"/"+c.transport+c.scenario, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				report := judgeAs(t, c.revision, c.transport, c.scenario, nil, serverprobe.Options{Stress: true})
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
		t.Run(m.Row+"@"+m.Revision+"/"+m.Transport, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				faulty := mutant.New(m)
				report := judgeAs(t, m.Revision, m.Transport, m.Scenario, faulty, serverprobe.Options{Stress: true})
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
				if !faulty.Fired() {
					t.Errorf("%s: nothing that its switches match was seen", m.Place)
				} else if !found {
					t.Errorf("%s: %s was not found", m.Place, m.Row)
				}
			})
		})
	}
}

// A judge is only as good as the faults that it was seen to find.
func TestThereAreMutants(t *testing.T) {
	const least = 250
	if n := len(mutants(t)); n < least && os.Getenv("PARLEY_MUTANTS") == "" {
		t.Errorf("there are %d mutants, want %d at least", n, least)
	}
}

// What servers in the field do otherwise, and may, is no fault.
func TestTolerated(t *testing.T) {
	for _, m := range read(t, "../mutant/testdata/tolerated/server.txt") {
		t.Run(m.Row+"@"+m.Revision+"/"+m.Transport, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				odd := mutant.New(m)
				report := judgeAs(t, m.Revision, m.Transport, m.Scenario, odd, serverprobe.Options{Stress: true})
				for _, v := range report.Runs[0].Verdicts {
					if v.Outcome == verdict.Fail || v.Outcome == verdict.Warn {
						t.Errorf("%s: accused although it is kept: %s", m.Place, describe(v))
					}
				}
				if !odd.Fired() {
					t.Errorf("%s: nothing that its switches match was seen", m.Place)
				}
			})
		})
	}
}

// mutants reads the lists of mutants.
func mutants(t *testing.T) []*mutant.Mutant { return read(t, "../mutant/testdata/server/*.txt") }

// read reads lists; PARLEY_MUTANTS is a part of the place or name of those wanted.
func read(t *testing.T, lists string) []*mutant.Mutant {
	t.Helper()
	all, err := mutant.Read(lists)
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
