package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// A check as the suite writes it.
type check struct {
	ID           string `json:"id"`
	Description  string `json:"description"`
	Status       string `json:"status"` // SUCCESS, FAILURE, WARNING, SKIPPED or INFO
	ErrorMessage string `json:"errorMessage"`
}

// suiteRun is one invocation of the suite.
type suiteRun struct {
	role, selection, revision string
	scenarios                 map[string][]check
	// undone are the scenarios that the client did not complete, as it says
	// itself. The suite does not check that.
	undone map[string]bool
}

func (r *suiteRun) String() string { return r.role + " " + r.selection + " " + r.revision }

// roles are what the suite tests: a server, clients, and an authorization
// server.
var roles = []string{"server", "client", "authorization"}

// selectionNamed is the selection of counts.Named.
const selectionNamed = "named"

// suiteRuns returns the runs of the suite. It has requirement sets for two
// revisions only, and none for authorization servers.
func suiteRuns() []*suiteRun {
	var runs []*suiteRun
	for _, role := range roles {
		for _, revision := range []string{"2025-11-25", "2026-07-28"} {
			if role != "authorization" {
				runs = append(runs, &suiteRun{role: role, selection: "requirements", revision: revision})
			}
		}
		for _, revision := range []string{"2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"} {
			runs = append(runs, &suiteRun{role: role, selection: "all", revision: revision})
		}
		if role != "authorization" {
			runs = append(runs, &suiteRun{role: role, selection: selectionNamed, revision: "2026-07-28"})
		}
	}
	return runs
}

// readRuns reads the results of suiteRuns. A run that left nothing has no
// scenarios.
func readRuns(dir string) ([]*suiteRun, error) {
	runs := suiteRuns()
	for _, r := range runs {
		if err := r.read(filepath.Join(dir, r.role+"-"+r.selection+"-"+r.revision)); err != nil {
			return nil, fmt.Errorf("%s: %w", r, err)
		}
	}
	return runs, nil
}

// prefixes are what the suite puts before the name of a scenario, by role.
var prefixes = map[string]string{"server": "server-", "authorization": "authorization-server-"}

// timestamp is what the suite puts after the name of a scenario.
var timestamp = regexp.MustCompile(`-\d{4}-\d\d-\d\dT[\dZ-]+$`)

func (r *suiteRun) read(dir string) error {
	r.scenarios, r.undone = map[string][]check{}, map[string]bool{}
	if _, err := os.Stat(dir); err != nil {
		return nil //nolint:nilerr // judge reports missing results
	}
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "checks.json" {
			return err
		}
		name, err := filepath.Rel(dir, filepath.Dir(path))
		if err != nil {
			return err
		}
		name = timestamp.ReplaceAllString(filepath.ToSlash(name), "")
		name = strings.TrimPrefix(name, prefixes[r.role])
		var checks []check
		err = readJSON(path, &checks)
		r.scenarios[name] = checks
		if r.role == "client" && err == nil {
			var said []byte
			said, err = os.ReadFile(filepath.Join(filepath.Dir(path), "stdout.txt"))
			r.undone[name] = string(said) != "done\n"
		}
		return err
	})
}

// tally counts checks by status.
func tally(checks []check) map[string]int {
	n := map[string]int{}
	for _, c := range checks {
		n[c.Status]++
	}
	return n
}

func readJSON(path string, v any) error {
	data, err := os.ReadFile(path) //nolint:gosec // the caller of this program names the folder
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, v); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
