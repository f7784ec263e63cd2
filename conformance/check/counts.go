package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
)

// counts says how many checks must succeed in a run.
type counts struct {
	// Unscored are the scenarios that are in no requirement set, or are in one
	// without being scored; they have to succeed all the same.
	Unscored []string `json:"unscored"`
	// Extensions are the scenarios of extensions. They are not scored either. A
	// selection by revision leaves them out; only the requirement sets have
	// them.
	Extensions []string `json:"extensions"`
	// Named are the scenarios of extensions that no requirement set has. They run
	// only when they are named, in a selection of their own.
	Named []string `json:"named"`
	// Each role says, by revision and scenario, how many checks must succeed at
	// least. A scenario that is not listed must not run.
	Server        map[string]map[string]int `json:"server"`
	Client        map[string]map[string]int `json:"client"`
	Authorization map[string]map[string]int `json:"authorization"`
}

// role returns the numbers of one role, which only learn changes.
func (c *counts) role(name string) *map[string]map[string]int {
	switch name {
	case "server":
		return &c.Server
	case "client":
		return &c.Client
	}
	return &c.Authorization
}

func readCounts(path string) (*counts, error) {
	c := &counts{}
	if err := readJSON(path, c); err != nil {
		return nil, err
	}
	for _, role := range roles {
		for revision, scenarios := range *c.role(role) {
			for name, n := range scenarios {
				if n < 1 {
					return nil, fmt.Errorf("%s: %s %s %s: without a check the scenario shows nothing", path, role, revision, name)
				}
			}
		}
	}
	return c, nil
}

// of returns how many checks must succeed in a run, by scenario.
func (c *counts) of(r *suiteRun) map[string]int {
	want := maps.Clone((*c.role(r.role))[r.revision])
	maps.DeleteFunc(want, func(name string, _ int) bool {
		named := slices.Contains(c.Named, name)
		return named != (r.selection == selectionNamed) || r.selection == "all" && slices.Contains(c.Extensions, name)
	})
	return want
}

func (c *counts) scored(scenario string) bool {
	return !slices.Contains(slices.Concat(c.Unscored, c.Extensions, c.Named), scenario)
}

// learn replaces the numbers with those of the runs. A scenario that failed
// keeps its number.
func (c *counts) learn(runs []*suiteRun, known expected) {
	old := *c
	for _, role := range roles {
		*c.role(role) = map[string]map[string]int{}
	}
	for _, r := range runs {
		byRevision := *c.role(r.role)
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
	return os.WriteFile(path, b.Bytes(), 0o644) //nolint:gosec // the file is source code, and readable by everybody
}
