package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/internal/check/verdict"
)

// TestPage makes the page of one server with one failure, seen over two transports.
func TestPage(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	peers := write("peers.tsv", "# peer\n"+
		"one\t1.0\tGo\tgo\tserver\tstdio\t2025-11-25\tone\n"+
		"one\t1.0\tGo\tgo\tserver\thttp\t2025-11-25\tone\n"+
		"one\t1.0\tGo\tgo\tserver\tsse\t2024-11-05\tone\n")
	verified := write("verified.tsv", "one\tserver\trow-001\tits source | says so\n")
	report := verdict.Report{Runs: []verdict.Run{{
		Revision: "2025-11-25", Transport: "stdio",
		Score: verdict.Score{Points: 94, Must: verdict.Count{Passed: 9, Failed: 1, Unverified: 2}},
		Verdicts: []verdict.Verdict{{
			Row: "row-001", Level: "MUST", Text: "Servers MUST answer.", Citation: "2025-11-25 basic#responses", Probe: "basic/answers",
			Outcome: verdict.Fail, Why: "it said <nothing>",
			Evidence: []verdict.Evidence{{Sent: true, Text: `{"id":1}`}, {Text: strings.Repeat("x", mostBytes+10) + "\x1b[31m", Pointer: "/id"}},
		}, {Row: "row-002", Outcome: verdict.Pass}},
	}}}
	for _, transport := range []string{"stdio", "http"} {
		report.Runs[0].Transport = transport
		text, err := json.Marshal(report)
		if err != nil {
			t.Fatal(err)
		}
		write("one.server."+transport+".json", string(text))
	}

	var out strings.Builder
	if err := run(&out, peers, verified, dir); err != nil {
		t.Fatal(err)
	}
	got := out.String()
	for _, want := range []string{
		"| one (Go) | 1.0 | 2025-11-25 | stdio **94.0** (10 of 12, 1 failed); http **94.0** (10 of 12, 1 failed) |",
		"no report over sse",
		"### one 1.0 as a server: 1 failed",
		"(https://modelcontextprotocol.io/specification/2025-11-25/basic#responses): Servers MUST answer.",
		"Seen in 2025-11-25 over stdio, 2025-11-25 over http, by the probe `basic/answers`: it said &lt;nothing>",
		`Verified by hand: its source \| says so`,
		"→ {\"id\":1}\n", "(17 bytes more)\n  at /id\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the page has no %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "row-002") || strings.Contains(got, "\x1b") || strings.Contains(got, "## Clients") {
		t.Errorf("the page has what does not belong there:\n%s", got)
	}
}

// TestPeersAreListedOnce reads the list that is committed.
func TestPeersAreListedOnce(t *testing.T) {
	rows, err := table("../peers.tsv", 8)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, row := range rows {
		key := strings.Join([]string{row[0], row[4], row[5]}, ".")
		if seen[key] {
			t.Errorf("%s is there twice", key)
		}
		seen[key] = true
		if row[4] == "client" && !strings.Contains(row[7], "{server}") {
			t.Errorf("%s: the command has no place for the server", key)
		}
	}
	if remarks, err := table("../verified.tsv", 4); err != nil {
		t.Error(err)
	} else if len(remarks) > 0 && remarks[0][3] == "" {
		t.Errorf("a remark is empty: %q", remarks[0])
	}
}
