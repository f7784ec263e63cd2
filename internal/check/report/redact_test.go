package report_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/internal/check/report"
	"github.com/parley-mcp/parley/internal/check/requirement"
	"github.com/parley-mcp/parley/internal/check/verdict"
	"github.com/parley-mcp/parley/internal/redact"
)

// A secret that is everywhere is in no format of a report.
func TestNoFormatHasASecret(t *testing.T) {
	const secret = `s3cr3t/"tök en"+value`
	const begins = "s3cr3t"
	r := redact.New(http.Header{"Authorization": {"Bearer " + secret}, "X-Custom": {"custom-s3cr3t-value"}}, "s3cr3t-refresh")
	everywhere := secret + " " + `s3cr3t/\"tök en\"+value` + " s3cr3t%2F%22t%C3%B6k+en%22%2Bvalue custom-s3cr3t-value s3cr3t-refresh"
	rep := &verdict.Report{
		Tool: "parley", Target: "https://h.example/?key=" + everywhere, Name: everywhere, Version: everywhere, Role: requirement.Server,
		Partial: everywhere, Notes: []string{everywhere},
		Runs: []verdict.Run{{Revision: "2026-07-28", Verdicts: []verdict.Verdict{{
			Row: "26.server.tools-019", Level: "MUST", Outcome: verdict.Fail, Why: everywhere, Mend: everywhere,
			Evidence: []verdict.Evidence{
				{Head: "GET /" + everywhere + "\nX-Other: " + everywhere + "\nAuthorization: Bearer " + secret, Text: everywhere, Pointer: "/" + everywhere},
				{Text: "cut in the middle: " + secret[:len(secret)-4], Cut: 4},
			},
		}}}},
	}
	report.Redact(rep, r)
	rep.Grade()
	for _, format := range report.Formats() {
		var b bytes.Buffer
		if err := report.Write(&b, format, rep, report.Options{}); err != nil {
			t.Fatal(err)
		}
		if at := strings.Index(b.String(), begins); at >= 0 {
			t.Errorf("%s has a secret: …%.60s", format, b.String()[max(0, at-30):])
		}
	}
}
