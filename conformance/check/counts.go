package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
)

// counts says what a run has to show.
type counts struct {
	// Unscored are the scenarios that are in no requirement set, or not there
	// to be scored; they have to succeed all the same.
	Unscored []string `json:"unscored"`
	// Server and Client say, by revision and scenario, how many checks have to
	// succeed at least. A scenario that is missing must not run.
	Server map[string]map[string]int `json:"server"`
	Client map[string]map[string]int `json:"client"`
}

func readCounts(path string) (*counts, error) {
	c := &counts{}
	if err := readJSON(path, c); err != nil {
		return nil, err
	}
	for role, revisions := range map[string]map[string]map[string]int{"server": c.Server, "client": c.Client} {
		for revision, scenarios := range revisions {
			for name, n := range scenarios {
				if n < 1 {
					return nil, fmt.Errorf("%s: %s %s %s: without a check the scenario shows nothing", path, role, revision, name)
				}
			}
		}
	}
	return c, nil
}

// of returns what a run has to show.
func (c *counts) of(r *suiteRun) map[string]int {
	if r.role == "server" {
		return c.Server[r.revision]
	}
	return c.Client[r.revision]
}

func (c *counts) scored(scenario string) bool { return !slices.Contains(c.Unscored, scenario) }

// learn replaces the numbers by those of the runs. A scenario that failed
// teaches nothing and keeps its number.
func (c *counts) learn(runs []*suiteRun, known expected) {
	old := *c
	c.Server, c.Client = map[string]map[string]int{}, map[string]map[string]int{}
	for _, r := range runs {
		byRevision := c.Client
		if r.role == "server" {
			byRevision = c.Server
		}
		if byRevision[r.revision] == nil {
			byRevision[r.revision] = map[string]int{}
		}
		for name, checks := range r.scenarios {
			if known.has(r.role, name) {
				continue
			}
			n := old.of(r)[name]
			if clean(checks) {
				n = tally(checks)["SUCCESS"]
			}
			if least, ok := byRevision[r.revision][name]; n > 0 && (!ok || n < least) {
				byRevision[r.revision][name] = n
			}
		}
	}
}

func (c *counts) write(path string) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	if err := e.Encode(c); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o644) //nolint:gosec // it is source code, for everybody to read
}
