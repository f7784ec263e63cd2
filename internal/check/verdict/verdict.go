// Package verdict is what the checker says: of each row an outcome with its
// evidence, of each revision a score. Durations are written in milliseconds by
// package report.
package verdict

import (
	"cmp"
	"time"

	"github.com/parley-mcp/parley/internal/check/requirement"
)

// Outcome is what became of a row.
type Outcome string

// The outcomes.
const (
	Pass          Outcome = "pass"
	Fail          Outcome = "fail"           // a MUST was seen broken
	Warn          Outcome = "warn"           // a SHOULD was seen broken
	Unverified    Outcome = "not verified"   // nothing was seen, and Why says why
	NotApplicable Outcome = "not applicable" // the peer has no such feature, and Why says so
)

// Verdict is the outcome of one row in one revision.
type Verdict struct {
	Row      string  `json:"row"`
	Level    string  `json:"level"`
	Text     string  `json:"text"` // of the row
	Citation string  `json:"citation"`
	Probe    string  `json:"probe,omitzero"` // the probe that judged it
	Outcome  Outcome `json:"outcome"`
	// Why says what was wrong, or why nothing was seen. A pass has none.
	Why string `json:"why,omitzero"`
	// Because is the row whose failure explains why this one was not verified.
	Because string `json:"because,omitzero"`
	// Evidence is what was seen. A failure has some.
	Evidence []Evidence `json:"evidence,omitzero"`
	// Mend is what whoever runs the peer can do about a failure.
	Mend string `json:"mend,omitzero"`
	// Known is the reason of a baseline for accepting this failure, or is "".
	Known string `json:"known,omitzero"`
	// Unscored is set for a row that is not part of the profile: it is judged and
	// shown, and has no points.
	Unscored bool `json:"unscored,omitzero"`
}

// Failed reports whether a MUST or a SHOULD was seen broken.
func (v *Verdict) Failed() bool { return v.Outcome == Fail || v.Outcome == Warn }

// Evidence is one thing that was sent or came, redacted.
type Evidence struct {
	// Number is its place in the transcript, from 1.
	Number int `json:"number"`
	// At is when it was seen, since the check began.
	At time.Duration `json:"-"`
	// Sent is set for what the checker sent.
	Sent bool `json:"sent"`
	// Head is the request or status line and the headers, if it went over HTTP.
	Head string `json:"head,omitzero"`
	// Text is the message, or what came instead of one.
	Text string `json:"text"`
	// Cut is how many bytes of the text were left out.
	Cut int `json:"cut,omitzero"`
	// Pointer is the JSON pointer of what was wrong in the text.
	Pointer string `json:"pointer,omitzero"`
}

// Run is what was judged in one revision, over one transport.
type Run struct {
	Revision  string `json:"revision"`
	Transport string `json:"transport"` // stdio, http or http+sse
	// Role is the role that was judged, if it is not the report's. Then all rows
	// that were judged have points, and there is no profile.
	Role     requirement.Role `json:"role,omitzero"`
	Verdicts []Verdict        `json:"verdicts"` // one for each row of the role that holds in the revision and has a probe
	Profile  string           `json:"profile"`  // such as 2026-07-28@1; Grade sets it
	Digest   string           `json:"digest"`   // of the profile, in hexadecimal
	Score    Score            `json:"score"`    // Grade sets it
	Requests int              `json:"requests"` // how many the checker made
	Took     time.Duration    `json:"-"`
}

// roleOf is the role that a run judges.
func (r *Report) roleOf(run *Run) requirement.Role { return cmp.Or(run.Role, r.Role) }

// Place is the transport of a run, and its role if it is not the report's.
func (r *Run) Place() string {
	if r.Role == "" {
		return r.Transport
	}
	return r.Transport + ", " + string(r.Role)
}

// Score is a grade and the counts that it was made from.
type Score struct {
	// Points are from 0 to 100, cut off to one decimal place.
	Points float64 `json:"points"`
	// Capped is set if a MUST that failed keeps the points at 94.
	Capped bool  `json:"capped,omitzero"`
	Must   Count `json:"must"`
	Should Count `json:"should"`
}

// Count counts rows by their outcomes.
type Count struct {
	Passed        int `json:"passed"`
	Failed        int `json:"failed"` // warnings, of SHOULDs
	Unverified    int `json:"unverified"`
	NotApplicable int `json:"notApplicable"`
}

// Report is all that a check says.
type Report struct {
	Tool    string           `json:"tool"`    // parley and its version
	Target  string           `json:"target"`  // as the user named it, redacted
	Name    string           `json:"name"`    // what the peer calls itself
	Version string           `json:"version"` // and its version
	Role    requirement.Role `json:"role"`
	Profile string           `json:"profile"` // such as 2026-07-28@1, one for each revision, joined by commas
	Started time.Time        `json:"started"`
	Took    time.Duration    `json:"-"`
	// Partial says why the check did not get to its end, or is "".
	Partial string `json:"partial,omitzero"`
	// Notes are what whoever reads the report has to know: what was not called
	// and how to allow it, what the checker had to make up.
	Notes []string `json:"notes,omitzero"`
	// Stale are the entries of the baseline whose rows fail no more.
	Stale []Entry `json:"stale,omitzero"`
	Runs  []Run   `json:"runs"`
	Score Score   `json:"score"` // over all runs
}
