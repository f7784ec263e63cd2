package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// verdict is the judgement of one run.
type verdict struct {
	run     string
	checks  map[string]int // by status, of the scenarios that have to succeed
	scored  [2]int         // how many scored scenarios passed, of how many
	passed  int
	failed  []string // what is wrong, one entry for each scenario
	excused []string // scenarios that are expected to fail, and did
}

// judge compares runs with the numbers that they have to reach. The last
// verdict is about entries of known that no longer apply.
func judge(runs []*suiteRun, want *counts, known expected) []*verdict {
	list := &verdict{run: "expected failures"}
	failing := map[string]bool{} // roles and scenarios that did fail as expected
	var verdicts []*verdict
	for _, r := range runs {
		v := judgeRun(r, want, known)
		verdicts = append(verdicts, v)
		for _, name := range v.excused {
			failing[r.role+" "+name] = true
		}
	}
	for _, x := range known {
		for _, name := range x.Scenarios {
			if !failing[x.Role+" "+name] {
				list.failed = append(list.failed, fmt.Sprintf("%s %s: it no longer fails, or no longer runs: remove it from the list", x.Role, name))
			}
		}
	}
	return append(verdicts, list)
}

func judgeRun(r *suiteRun, want *counts, known expected) *verdict {
	v := &verdict{run: r.String(), checks: map[string]int{}}
	minimum := want.of(r)
	names := slices.Collect(maps.Keys(minimum))
	for name := range r.scenarios {
		if _, ok := minimum[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	if len(r.scenarios) == 0 {
		v.failed = append(v.failed, "the run left no results")
		return v
	}
	for _, name := range names {
		if known.has(r.role, name) {
			if !clean(r.scenarios[name]) {
				v.excused = append(v.excused, name)
			}
			continue
		}
		v.scenario(r, name, minimum[name], want.scored(name))
	}
	return v
}

// clean reports whether a scenario passed, so that it needs no excuse.
func clean(checks []check) bool {
	n := tally(checks)
	return n["SUCCESS"] > 0 && n["FAILURE"] == 0 && n["WARNING"] == 0
}

func (v *verdict) scenario(r *suiteRun, name string, minimum int, scored bool) {
	checks := r.scenarios[name]
	n := tally(checks)
	for status, count := range n {
		v.checks[status] += count
	}
	if scored {
		v.scored[1]++
	}
	wrong := ""
	switch {
	case checks == nil:
		wrong = "it left no results"
	case n["FAILURE"] > 0 || n["WARNING"] > 0:
		wrong = complaints(checks)
	case r.undone[name]:
		wrong = "the client did not get to the end: see its stderr.txt"
	case minimum == 0:
		wrong = fmt.Sprintf("%d checks succeeded, but the scenario is not in the table", n["SUCCESS"])
	case n["SUCCESS"] < minimum:
		wrong = fmt.Sprintf("%d checks succeeded, and there should be %d", n["SUCCESS"], minimum)
	}
	if wrong != "" {
		v.failed = append(v.failed, name+": "+wrong)
		return
	}
	v.passed++
	if scored {
		v.scored[0]++
	}
}

func complaints(checks []check) string {
	var text strings.Builder
	for _, c := range checks {
		if c.Status == "FAILURE" || c.Status == "WARNING" {
			fmt.Fprintf(&text, "\n      %s %s: %s", c.Status, c.ID, c.ErrorMessage)
		}
	}
	return text.String()
}
