package verdict

import (
	"slices"
	"strings"
)

// The points of a score, in tenths. A MUST that failed costs at least the
// difference between all and most.
const (
	allPoints    = 1000
	mustPoints   = 950
	shouldPoints = allPoints - mustPoints
	mostPoints   = 940
)

// Grade sets the profiles and the scores of a report, of each run and over all
// runs, from the verdicts of the runs. It is called once all verdicts are there.
//
// MUST rows (with MUST NOT) own 95 points and SHOULD rows (with SHOULD NOT) 5.
// Each share is spread evenly over the rows that apply: a row that passed earns
// its part, one that failed or was not verified earns none. Rows that are not
// applicable leave the denominator. If no SHOULD row applies the MUST rows own
// all 100 points, and the other way round; if none applies at all there are no
// points. A MUST that failed keeps the points at 94 or below, however many
// others passed. Points are cut off after one decimal place, never rounded up,
// so that 100 means that every row passed.
//
// MAY rows have no points, and neither have rows outside of the profile (see
// [Profile]). A row of the profile that has no verdict was not verified, and
// Grade adds that verdict. A failure that a baseline accepts costs what any
// failure costs. The score over all runs is made from the counts of all runs
// together, so that a run with more applicable rows weighs more.
func (r *Report) Grade() {
	var must, should Count
	var names []string
	for i := range r.Runs {
		run := &r.Runs[i]
		var profile *Profile
		if r.roleOf(run) == r.Role {
			profile = ProfileOf(run.Revision, r.Role)
		}
		run.grade(profile)
		must.add(run.Score.Must)
		should.add(run.Score.Should)
		if !slices.Contains(names, run.Profile) {
			names = append(names, run.Profile)
		}
	}
	r.Score = scoreOf(must, should)
	r.Profile = strings.Join(names, ",")
}

// grade counts the verdicts that belong to a profile, or all if it is nil.
func (r *Run) grade(p *Profile) {
	r.Profile, r.Digest = r.Revision+"@"+unfrozen, ""
	if p != nil {
		r.Profile, r.Digest = p.Name(), p.Digest
		r.Verdicts = append(r.Verdicts, p.missing(r.Verdicts)...)
	}
	var must, should Count
	for i := range r.Verdicts {
		v := &r.Verdicts[i]
		v.Unscored = p != nil && !p.Has(v.Row)
		switch {
		case v.Unscored:
		case v.Must():
			must.count(v.Outcome)
		case v.Should():
			should.count(v.Outcome)
		}
	}
	r.Score = scoreOf(must, should)
}

// scoreOf makes a score from counts.
func scoreOf(must, should Count) Score {
	s := Score{Must: must, Should: should}
	tenths := tenthsOf(must, should)
	if must.Failed > 0 && tenths > mostPoints {
		s.Capped, tenths = true, mostPoints
	}
	s.Points = float64(tenths) / 10
	return s
}

// tenthsOf computes in whole numbers, so that nothing is lost before the cut.
func tenthsOf(must, should Count) int {
	m, s := must.Applicable(), should.Applicable()
	switch {
	case m == 0 && s == 0:
		return 0
	case s == 0:
		return allPoints * must.Passed / m
	case m == 0:
		return allPoints * should.Passed / s
	}
	return (mustPoints*must.Passed*s + shouldPoints*should.Passed*m) / (m * s)
}

// Verified returns how many rows were judged by what was seen, and how many
// apply: MUSTs and SHOULDs together.
func (s *Score) Verified() (n, of int) {
	of = s.Must.Applicable() + s.Should.Applicable()
	return of - s.Must.Unverified - s.Should.Unverified, of
}

// Applicable is how many rows apply: those in the denominator.
func (c *Count) Applicable() int { return c.Passed + c.Failed + c.Unverified }

func (c *Count) count(o Outcome) {
	switch o {
	case Pass:
		c.Passed++
	case Fail, Warn:
		c.Failed++
	case NotApplicable:
		c.NotApplicable++
	default:
		c.Unverified++
	}
}

func (c *Count) add(other Count) {
	c.Passed += other.Passed
	c.Failed += other.Failed
	c.Unverified += other.Unverified
	c.NotApplicable += other.NotApplicable
}
