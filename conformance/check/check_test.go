package main

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// results writes the results of a run as the suite does: scenarios by name,
// each with a list of statuses.
func results(t *testing.T, run string, scenarios map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, statuses := range scenarios {
		folder := filepath.Join(dir, run, name+"-2026-11-21T08-41-15-268Z")
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		var checks []string
		for status := range strings.FieldsSeq(statuses) {
			checks = append(checks, `{"id":"x","status":"`+status+`","errorMessage":"because"}`)
		}
		if err := os.WriteFile(filepath.Join(folder, "stdout.txt"), []byte("done\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "checks.json"), []byte("["+strings.Join(checks, ",")+"]"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// verdictOn judges one run of the server.
func verdictOn(t *testing.T, scenarios map[string]string, minimum map[string]int, known expected) *verdict {
	t.Helper()
	named := map[string]string{}
	for name, statuses := range scenarios {
		named["server-"+name] = statuses
	}
	runs, err := readRuns(results(t, "server-all-2025-11-25", named))
	if err != nil {
		t.Fatal(err)
	}
	want := &counts{Unscored: []string{"extra"}, Server: map[string]map[string]int{"2025-11-25": minimum}}
	i := slices.IndexFunc(runs, func(r *suiteRun) bool { return r.String() == "server all 2025-11-25" })
	return judgeRun(runs[i], want, known)
}

func TestJudge(t *testing.T) {
	minimum := map[string]int{"ping": 2}
	tests := []struct {
		name      string
		scenarios map[string]string
		want      string // part of what is wrong; empty for nothing
	}{
		{"good", map[string]string{"ping": "SUCCESS SUCCESS INFO"}, ""},
		{"more than before", map[string]string{"ping": "SUCCESS SUCCESS SUCCESS"}, ""},
		{"failure", map[string]string{"ping": "SUCCESS SUCCESS FAILURE"}, "FAILURE x: because"},
		{"warning", map[string]string{"ping": "SUCCESS SUCCESS WARNING"}, "WARNING x: because"},
		{"vacuous", map[string]string{"ping": "SKIPPED INFO"}, "0 checks succeeded, and there should be 2"},
		{"empty", map[string]string{"ping": ""}, "0 checks succeeded, and there should be 2"},
		{"less than before", map[string]string{"ping": "SUCCESS SKIPPED"}, "1 checks succeeded, and there should be 2"},
		{"broken", map[string]string{"extra": "SUCCESS"}, "ping: it left no results"},
		{"unknown", map[string]string{"ping": "SUCCESS SUCCESS", "extra": "SUCCESS"}, "extra: 1 checks succeeded, but the scenario is not in the table"},
		{"nothing", nil, "the run left no results"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			v := verdictOn(t, test.scenarios, minimum, nil)
			got := strings.Join(v.failed, "\n")
			if test.want == "" && (got != "" || v.passed != 1) || !strings.Contains(got, test.want) {
				t.Errorf("%q, %d passed; want %q", got, v.passed, test.want)
			}
		})
	}
}

func TestScored(t *testing.T) {
	v := verdictOn(t, map[string]string{"ping": "SUCCESS", "extra": "SUCCESS"}, map[string]int{"ping": 1, "extra": 1}, nil)
	if v.scored != [2]int{1, 1} || v.passed != 2 {
		t.Errorf("%+v", v)
	}
}

// An excuse holds only as long as it is needed.
func TestExcuses(t *testing.T) {
	known := expected{{Role: "server", Reason: "It is not there.", Scenarios: []string{"tasks"}}}
	for statuses, excused := range map[string]int{"SUCCESS FAILURE": 1, "SUCCESS WARNING": 1, "SKIPPED": 1, "SUCCESS": 0} {
		v := verdictOn(t, map[string]string{"ping": "SUCCESS", "tasks": statuses}, map[string]int{"ping": 1}, known)
		if len(v.failed) != 0 || len(v.excused) != excused {
			t.Errorf("%s: %+v", statuses, v)
		}
	}
	dir := results(t, "server-all-2025-11-25", map[string]string{"server-tasks": "SUCCESS"})
	runs, err := readRuns(dir)
	if err != nil {
		t.Fatal(err)
	}
	verdicts := judge(runs, &counts{}, known)
	if last := verdicts[len(verdicts)-1]; len(last.failed) != 1 {
		t.Errorf("nobody noticed that the excuse is not needed: %+v", last)
	}
}

// The results of authorization scenarios are in a folder of their own.
func TestNestedNames(t *testing.T) {
	runs, err := readRuns(results(t, "client-all-2025-11-25", map[string]string{"auth/basic-cimd": "SUCCESS"}))
	if err != nil {
		t.Fatal(err)
	}
	found := slices.ContainsFunc(runs, func(r *suiteRun) bool { return len(r.scenarios["auth/basic-cimd"]) == 1 })
	if !found {
		t.Error("auth/basic-cimd was not found")
	}
}

// The prefix that the suite puts before the name of a scenario may also be the
// beginning of the name.
func TestAuthorizationServerNames(t *testing.T) {
	runs, err := readRuns(results(t, "authorization-all-2025-11-25", map[string]string{
		"authorization-server-authorization-server-metadata-endpoint": "SUCCESS", "authorization-server-authorization-code-grant": "SUCCESS",
	}))
	if err != nil {
		t.Fatal(err)
	}
	want := &counts{Authorization: map[string]map[string]int{"2025-11-25": {"authorization-server-metadata-endpoint": 1, "authorization-code-grant": 1}}}
	i := slices.IndexFunc(runs, func(r *suiteRun) bool { return len(r.scenarios) > 0 })
	if v := judgeRun(runs[i], want, nil); v.passed != 2 || len(v.failed) != 0 {
		t.Errorf("%+v", v)
	}
}

// Extensions must pass in requirement sets, but are not scored.
func TestExtensions(t *testing.T) {
	want := &counts{Extensions: []string{"auth/dpop"}, Client: map[string]map[string]int{"2025-11-25": {"auth/dpop": 1, "initialize": 1}}}
	for selection, failed := range map[string]int{"all": 0, "requirements": 1} {
		runs, err := readRuns(results(t, "client-"+selection+"-2025-11-25", map[string]string{"initialize": "SUCCESS"}))
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(runs, func(r *suiteRun) bool { return len(r.scenarios) > 0 })
		if v := judgeRun(runs[i], want, nil); v.passed != 1 || len(v.failed) != failed || v.scored[1] != 1 {
			t.Errorf("%s: %+v", selection, v)
		}
	}
}

// A client that hangs or fails after the checks have succeeded has not passed.
func TestUndone(t *testing.T) {
	dir := results(t, "client-all-2025-11-25", map[string]string{"sse-retry": "SUCCESS", "initialize": "SUCCESS"})
	said, err := filepath.Glob(filepath.Join(dir, "*", "sse-retry-*", "stdout.txt"))
	if err != nil || len(said) != 1 {
		t.Fatal(said, err)
	}
	if err := os.WriteFile(said[0], nil, 0o600); err != nil {
		t.Fatal(err)
	}
	runs, err := readRuns(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := &counts{Client: map[string]map[string]int{"2025-11-25": {"sse-retry": 1, "initialize": 1}}}
	i := slices.IndexFunc(runs, func(r *suiteRun) bool { return len(r.scenarios) > 0 })
	v := judgeRun(runs[i], want, nil)
	if v.passed != 1 || len(v.failed) != 1 || !strings.HasPrefix(v.failed[0], "sse-retry: the client did not get to the end") {
		t.Errorf("%+v", v)
	}
}

// The files that the run uses are there and make sense.
func TestTables(t *testing.T) {
	want, err := readCounts("../counts.json")
	if err != nil {
		t.Fatal(err)
	}
	known, err := readExpected("../expected.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range suiteRuns() {
		for name := range want.of(r) {
			if known.has(r.role, name) {
				t.Errorf("%s: %s is expected to fail, and to succeed", r, name)
			}
		}
	}
}

func TestReport(t *testing.T) {
	var b bytes.Buffer
	failed := report(&b, []*verdict{
		{run: "good", checks: map[string]int{"SUCCESS": 3}, passed: 2},
		{run: "bad", checks: map[string]int{"FAILURE": 1}, passed: 1, failed: []string{"ping: it left no results"}},
	})
	if failed != 1 || !strings.HasSuffix(b.String(), "\n3 passed, 1 failed\n") || !strings.Contains(b.String(), "✗ bad: ping") {
		t.Errorf("%d\n%s", failed, b.String())
	}
}

func TestLearn(t *testing.T) {
	runs, err := readRuns(results(t, "server-all-2025-11-25", map[string]string{
		"server-ping": "SUCCESS SUCCESS", "server-worse": "SUCCESS FAILURE", "server-new": "SUCCESS FAILURE", "server-tasks": "SUCCESS",
	}))
	if err != nil {
		t.Fatal(err)
	}
	c := &counts{Server: map[string]map[string]int{"2025-11-25": {"ping": 1, "worse": 5, "gone": 1}}}
	c.learn(runs, expected{{Role: "server", Reason: "It is not there.", Scenarios: []string{"tasks"}}})
	if got := c.Server["2025-11-25"]; !maps.Equal(got, map[string]int{"ping": 2, "worse": 5}) {
		t.Errorf("%v", got)
	}
}
