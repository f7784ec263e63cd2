package main

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// report prints a table, what is wrong, and the line that sums it up. It
// returns how many failed.
func report(w io.Writer, verdicts []*verdict) (failed int) {
	passed := 0
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(t, "run\tscored\tpassed\tfailed\texpected\tSUCCESS\tFAILURE\tWARNING\tSKIPPED")
	for _, v := range verdicts {
		passed += v.passed
		failed += len(v.failed)
		if v.checks == nil && len(v.failed) == 0 {
			continue
		}
		_, _ = fmt.Fprintf(t, "%s\t%d/%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\n", v.run, v.scored[0], v.scored[1], v.passed, len(v.failed), len(v.excused),
			v.checks["SUCCESS"], v.checks["FAILURE"], v.checks["WARNING"], v.checks["SKIPPED"])
	}
	_ = t.Flush() // there is nowhere to report that the report cannot be written
	for _, v := range verdicts {
		for _, wrong := range v.failed {
			_, _ = fmt.Fprintf(w, "\n  ✗ %s: %s", v.run, wrong)
		}
	}
	if failed > 0 {
		_, _ = fmt.Fprintln(w)
	}
	_, _ = fmt.Fprintf(w, "\n%d passed, %d failed\n", passed, failed)
	return failed
}
