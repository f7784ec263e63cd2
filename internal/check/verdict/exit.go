package verdict

// The exit codes of a check. They agree with those of the program: 1 is also
// that of other commands whose check found errors, and 3 that of a peer that
// could not be reached.
const (
	ExitPassed = 0
	ExitFailed = 1
	ExitNotRun = 3
)

// Exit returns the exit code of a check: [ExitFailed] if a MUST failed that no
// baseline accepts, else [ExitNotRun] if nothing was judged or the check did not
// get to its end, else [ExitPassed]. Warnings do not count. Who ends a check by a
// signal has a code of its own for that.
func (r *Report) Exit() int {
	judged := false
	for i := range r.Runs {
		for j := range r.Runs[i].Verdicts {
			v := &r.Runs[i].Verdicts[j]
			if v.Outcome == Fail && v.Known == "" {
				return ExitFailed
			}
			judged = judged || v.Outcome == Pass || v.Failed()
		}
	}
	if !judged || r.Partial != "" {
		return ExitNotRun
	}
	return ExitPassed
}
