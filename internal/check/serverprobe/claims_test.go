package serverprobe_test

import (
	"testing"
	"testing/synctest"

	"github.com/parley-mcp/parley/internal/check/mutant"
	"github.com/parley-mcp/parley/internal/check/serverprobe"
	"github.com/parley-mcp/parley/internal/check/verdict"
)

// A server that lists a revision and refuses its handshake is at fault in that
// revision, and in nothing else: it is not one that does not speak it.
func TestClaimsAreJudged(t *testing.T) {
	for _, edit := range []string{"fail -32603 not today", `set /result/protocolVersion "2025-06-18"`} {
		t.Run(edit, func(t *testing.T) {
			all, err := mutant.Parse("here", "2511.basic.lifecycle-010 2025-11-25 stdio\n\tto-client result initialize asked /params/protocolVersion \"2025-11-25\": "+edit)
			if err != nil {
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) {
				target, stop := serve(t, "stdio", "", mutant.New(all[0]))
				defer stop()
				report, err := serverprobe.Check(t.Context(), target, &serverprobe.Options{Revisions: []string{"2026-07-28", "2025-11-25"}, Rate: 1e9})
				if err != nil {
					t.Fatal(err)
				}
				if len(report.Runs) != 2 || report.Runs[1].Revision != "2025-11-25" {
					t.Fatalf("%d revisions were judged, want both that the server claims", len(report.Runs))
				}
				found := false
				for _, v := range report.Runs[1].Verdicts {
					switch {
					case v.Outcome != verdict.Fail && v.Outcome != verdict.Warn:
					case v.Row == "2511.basic.lifecycle-010":
						found = true
					default:
						t.Errorf("accused of more: %s", describe(v))
					}
				}
				if !found {
					t.Error("the refusal was not found")
				}
			})
		})
	}
}
