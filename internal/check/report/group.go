package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/parley-mcp/parley/internal/check/requirement"
	"github.com/parley-mcp/parley/internal/check/verdict"
)

// group is a row with the same outcome in several runs, so that a fault is told
// once. The verdict, with its evidence, is that of the first run.
type group struct {
	verdict.Verdict
	Places []string
}

// Where names the runs.
func (g *group) Where() string { return strings.Join(g.Places, ", ") }

// groups collects the verdicts of some outcomes: failures that nobody accepts
// first, the rest in the order of the outcomes and then of the runs.
func groups(r *verdict.Report, outcomes ...verdict.Outcome) []*group {
	type key struct {
		row, known string
		outcome    verdict.Outcome
	}
	var all []*group
	by := map[key]*group{}
	for i := range r.Runs {
		for _, v := range r.Runs[i].Verdicts {
			if !slices.Contains(outcomes, v.Outcome) {
				continue
			}
			k := key{v.Row, v.Known, v.Outcome}
			g := by[k]
			if g == nil {
				g = &group{Verdict: v}
				by[k] = g
				all = append(all, g)
			}
			g.Places = append(g.Places, place(r, i))
		}
	}
	slices.SortStableFunc(all, func(a, b *group) int {
		if known := compareBool(a.Known != "", b.Known != ""); known != 0 && a.Outcome == b.Outcome {
			return known
		}
		return cmp.Compare(slices.Index(outcomes, a.Outcome), slices.Index(outcomes, b.Outcome))
	})
	return all
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// place names a run: the revision, and the transport if that is what tells it
// from another.
func place(r *verdict.Report, run int) string {
	name := r.Runs[run].Revision
	for i := range r.Runs {
		if i != run && r.Runs[i].Revision == name {
			return name + " over " + r.Runs[run].Place()
		}
	}
	return name
}

// reason is why rows were not verified, and how many.
type reason struct {
	Why  string
	Rows int
}

// reasons counts the rows that were not verified, over all runs, by why; most
// first.
func reasons(r *verdict.Report) []reason {
	counts := map[string]int{}
	for i := range r.Runs {
		for j := range r.Runs[i].Verdicts {
			v := &r.Runs[i].Verdicts[j]
			if v.Outcome == verdict.Unverified {
				counts[whyNot(v)]++
			}
		}
	}
	var all []reason
	for why, n := range counts {
		all = append(all, reason{why, n})
	}
	slices.SortFunc(all, func(a, b reason) int {
		return cmp.Or(cmp.Compare(b.Rows, a.Rows), cmp.Compare(a.Why, b.Why))
	})
	return all
}

func whyNot(v *verdict.Verdict) string {
	switch {
	case v.Because != "":
		return "hidden by the failure of " + v.Because
	case v.Why == "":
		return "no reason was given"
	}
	return v.Why
}

// summary is a line of the table of runs.
type summary struct {
	Revision, Transport, Profile string
	Score                        verdict.Score
	Failed, Known, Warned        int
}

// Points is the score as it is written everywhere.
func (s *summary) Points() string { return points(&s.Score) }

// Verified says how many rows were verified.
func (s *summary) Verified() string { return verified(&s.Score) }

// summaries has a line for each run, and one for all if there are several.
func summaries(r *verdict.Report) []*summary {
	var lines []*summary
	total := &summary{Revision: "all", Score: r.Score}
	for i := range r.Runs {
		run := &r.Runs[i]
		s := &summary{Revision: run.Revision, Transport: run.Place(), Profile: run.Profile, Score: run.Score}
		for j := range run.Verdicts {
			v := &run.Verdicts[j]
			switch {
			case v.Known != "":
				s.Known++
			case v.Outcome == verdict.Fail:
				s.Failed++
			case v.Outcome == verdict.Warn:
				s.Warned++
			}
		}
		total.Failed, total.Known, total.Warned = total.Failed+s.Failed, total.Known+s.Known, total.Warned+s.Warned
		lines = append(lines, s)
	}
	if len(lines) != 1 {
		lines = append(lines, total)
	}
	return lines
}

// points writes a score with its one decimal place; 100 has none.
func points(s *verdict.Score) string {
	if s.Points == 100 {
		return "100"
	}
	return fmt.Sprintf("%.1f", s.Points)
}

func verified(s *verdict.Score) string {
	n, of := s.Verified()
	return fmt.Sprintf("%d of %d", n, of)
}

// subject is what was judged, as it calls itself.
func subject(r *verdict.Report) string {
	name := strings.TrimSpace(r.Name + " " + r.Version)
	if name == "" {
		return "a " + roleName(r.Role) + " that did not say its name"
	}
	return name
}

func roleName(role requirement.Role) string {
	if role == requirement.Intermediary {
		return "gateway"
	}
	return string(role)
}

// unscoredText is said of a row that fails without costing points.
const unscoredText = "The row is not part of the profile, so it costs no points."

// took writes a duration for people.
func took(d time.Duration) string {
	if d < time.Second {
		return d.Round(time.Millisecond).String()
	}
	return d.Round(100 * time.Millisecond).String()
}

// plural writes a number with its noun.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// partialText marks a report of a check that did not get to its end.
func partialText(r *verdict.Report) string {
	if r.Partial == "" {
		return ""
	}
	return "Partial report: the check did not get to its end (" + r.Partial + ")."
}

// arrow says which way a piece of evidence went.
func arrow(e *verdict.Evidence) string {
	if e.Sent {
		return "→ sent by the checker"
	}
	return "← came from the peer"
}

// evidenceText writes a piece of evidence as lines.
func evidenceText(e *verdict.Evidence) string {
	var b strings.Builder
	b.WriteString(arrow(e))
	if e.Number > 0 {
		fmt.Fprintf(&b, ", message %d", e.Number)
	}
	fmt.Fprintf(&b, ", at %s\n", took(e.At))
	if head := strings.TrimSpace(e.Head); head != "" {
		b.WriteString(head + "\n\n")
	}
	b.WriteString(strings.TrimRight(e.Text, "\n"))
	if e.Cut > 0 {
		fmt.Fprintf(&b, "\n… %s more", plural(e.Cut, "byte"))
	}
	if e.Pointer != "" {
		b.WriteString("\nat " + e.Pointer)
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}
