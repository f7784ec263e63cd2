// Check judges the results of the official conformance suite. The suite's exit
// codes ignore warnings, scenarios that tested nothing, and scenarios that
// broke. Check counts instead, scenario by scenario:
//
//	check -counts counts.json -expected expected.json DIR
//
// DIR holds the results of each run of the suite in a folder that is named by
// role, selection and revision, such as "server-requirements-2025-11-25".
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
)

func main() {
	var f files
	flag.StringVar(&f.counts, "counts", "counts.json", "`FILE` that says how many checks succeed in each scenario")
	flag.StringVar(&f.expected, "expected", "expected.json", "`FILE` that says which scenarios fail, and why")
	var faults []string
	flag.Func("fault", "also count this failure outside the suite, described by `TEXT` (repeatable)", func(text string) error {
		faults = append(faults, text)
		return nil
	})
	update := flag.Bool("update", false, "write what was counted to the file of -counts, to be reviewed")
	flag.Parse()
	f.results = flag.Arg(0)
	verdicts, err := f.verdicts(*update)
	if err != nil {
		fmt.Fprintln(os.Stderr, "check:", err)
		os.Exit(2)
	}
	if len(faults) > 0 {
		verdicts = append(verdicts, &verdict{run: "around", failed: faults})
	}
	out := os.Stdout //nolint:forbidigo // this program serves nothing
	if report(out, verdicts) > 0 {
		os.Exit(1)
	}
}

// files are the inputs of a judgement.
type files struct{ counts, expected, results string }

func (f *files) verdicts(update bool) ([]*verdict, error) {
	if f.results == "" {
		return nil, errors.New("usage: check [flags] DIR")
	}
	known, err := readExpected(f.expected)
	if err != nil {
		return nil, err
	}
	runs, err := readRuns(f.results)
	if err != nil {
		return nil, err
	}
	want, err := readCounts(f.counts)
	if err != nil {
		return nil, err
	}
	if update {
		want.learn(runs, known)
		if err := want.write(f.counts); err != nil {
			return nil, err
		}
	}
	return judge(runs, want, known), nil
}
