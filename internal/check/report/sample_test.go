package report_test

import (
	"time"

	"github.com/parley-mcp/parley/internal/check/requirement"
	"github.com/parley-mcp/parley/internal/check/verdict"
)

// of makes the verdict of a row as the judge does. The sentences are those of
// this test, so that its golden files do not change with the table.
func of(id string, outcome verdict.Outcome) verdict.Verdict {
	v := verdict.Verdict{Row: id, Outcome: outcome, Level: "MUST", Text: "inputSchema has the type object at its root.", Citation: "2026-07-28 server/tools#tool"}
	switch id {
	case "2511.server.tools-001":
		v.Text, v.Citation = "Servers with tools declare the capability tools.", "2025-11-25 server/tools#capabilities"
	case "2511.server.tools-002", "2511.server.tools-003":
		v.Citation = "2025-11-25 server/tools#tool"
	case aShould:
		v.Level, v.Text = "SHOULD", "Names of tools have 1 to 128 characters."
	}
	return v
}

const aShould = "26.server.tools-020"

// seenBroken is a failure with evidence of both directions.
func seenBroken(id string, outcome verdict.Outcome) verdict.Verdict {
	v := of(id, outcome)
	v.Probe = "tools/input-schema-object"
	v.Why = `the tool "add" has an inputSchema whose type is "array"`
	v.Mend = `Give the tool an inputSchema with "type": "object".`
	v.Evidence = []verdict.Evidence{{
		Number: 4, At: 120 * time.Millisecond, Sent: true,
		Head: "POST http://127.0.0.1:3000/mcp\nContent-Type: application/json\nMcp-Method: tools/list\n",
		Text: `{"jsonrpc":"2.0","id":4,"method":"tools/list","params":{}}`,
	}, {
		Number: 5, At: 1340 * time.Millisecond, Head: "200 OK\nContent-Type: application/json\n",
		Text: `{"jsonrpc":"2.0","id":4,"result":{"tools":[{"name":"add","inputSchema":{"type":"array"}}]}}`, Cut: 512,
		Pointer: "/result/tools/0/inputSchema/type",
	}}
	return v
}

// sample is a report with everything in it: two revisions, each outcome, a known
// failure, a stale entry, notes.
func sample() *verdict.Report {
	hidden := of("2511.server.tools-003", verdict.Unverified)
	hidden.Because, hidden.Why = "2511.server.tools-002", "another fault hides it"
	uncalled := of("26.server.tools-010", verdict.Unverified)
	uncalled.Why = "no tool may be called without --allow"
	lacking := of("26.server.prompts-001", verdict.NotApplicable)
	lacking.Why = "the server has no prompts"
	known := seenBroken("26.server.tools-003", verdict.Fail)
	known.Probe, known.Known = "tools/other", "Mended in 2.1, see our tracker."
	r := &verdict.Report{
		Tool: "parley 0.13.0", Target: "http://127.0.0.1:3000/mcp", Name: "everything", Version: "2.0.0",
		Role: requirement.Server, Started: time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC), Took: 3200 * time.Millisecond,
		Notes: []string{"12 tools were not called: they do not say that they are read-only. Allow one with --allow NAME, or all with --allow-all."},
		Stale: []verdict.Entry{{Revision: "2025-11-25", Role: requirement.Server, Row: "2511.server.tools-001", Reason: "Old."}},
		Runs: []verdict.Run{{
			Revision: "2025-11-25", Transport: "http", Requests: 40, Took: 1200 * time.Millisecond,
			Verdicts: []verdict.Verdict{of("2511.server.tools-001", verdict.Pass), seenBroken("2511.server.tools-002", verdict.Fail), hidden},
		}, {
			Revision: "2026-07-28", Transport: "http", Requests: 61, Took: 2 * time.Second,
			Verdicts: []verdict.Verdict{
				of("26.server.tools-001", verdict.Pass), of("26.server.tools-002", verdict.Pass), known,
				seenBroken("26.server.tools-019", verdict.Fail), seenBroken(aShould, verdict.Warn), uncalled, lacking,
			},
		}},
	}
	return grade(r)
}

// grade grades a report as if no profile were frozen.
func grade(r *verdict.Report) *verdict.Report {
	r.Role = ""
	r.Grade()
	r.Role = requirement.Server
	return r
}

// partial is a report of a check that was ended early.
func partial() *verdict.Report {
	r := sample()
	r.Runs = r.Runs[:1]
	r.Stale = nil
	r.Partial = "interrupted"
	return grade(r)
}

// hostile fills what a peer can fill with text.
func hostile(text string) *verdict.Report {
	r := sample()
	for _, s := range []*string{&r.Target, &r.Name, &r.Version, &r.Partial} {
		*s = text
	}
	r.Notes = append(r.Notes, text)
	r.Stale[0].Reason = text
	for i := range r.Runs {
		for j := range r.Runs[i].Verdicts {
			v := &r.Runs[i].Verdicts[j]
			v.Why = text
			for k := range v.Evidence {
				v.Evidence[k].Head, v.Evidence[k].Text, v.Evidence[k].Pointer = "200 OK\nX: "+text, text, text
			}
		}
	}
	return r
}
