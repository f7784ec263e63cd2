package probe

import (
	"slices"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/requirement"
	"github.com/parley-mcp/parley/internal/check/verdict"
)

// Judged is a probe with what it found.
type Judged struct {
	Info
	Finding
}

// Principal returns the row of a probe that gets its failure in a revision, and
// all rows that hold in it. It returns nil if none does.
func (i *Info) Principal(revision string) (first *requirement.Row, all []*requirement.Row) {
	for _, id := range i.Rows {
		if r := requirement.ByID(id); r != nil && r.HoldsIn(revision) {
			all = append(all, r)
		}
	}
	if len(all) == 0 {
		return nil, nil
	}
	return all[0], all
}

// Verdicts makes the verdicts of one revision, in the order of the table. Of
// several probes that judge a row the worst finding counts. log is what they looked
// at, which may still go on.
func Verdicts(revision string, judged []Judged, log *peer.Log) []verdict.Verdict {
	j := judge{revision: revision, by: map[string]*Judged{}, rows: map[string]verdict.Verdict{}}
	for n := range judged {
		j.by[judged[n].ID] = &judged[n]
	}
	for n := range judged {
		j.explain(&judged[n])
	}
	log.Look(func() {
		for n := range judged {
			j.enter(&judged[n])
		}
	})
	var all []verdict.Verdict
	for r := range requirement.All() {
		if v, ok := j.rows[r.ID]; ok {
			all = append(all, v)
		}
	}
	return all
}

type judge struct {
	revision string
	by       map[string]*Judged
	rows     map[string]verdict.Verdict
}

// explain takes back what a failure elsewhere explains.
func (j *judge) explain(p *Judged) {
	if p.Outcome == verdict.Pass || p.Outcome == verdict.NotApplicable {
		return
	}
	for _, id := range p.After {
		if other := j.by[id]; other != nil && other.Outcome == verdict.Fail {
			p.Finding = Unverified("another fault hides it").Explained(id)
			return
		}
	}
}

// enter makes the verdicts of a probe's rows.
func (j *judge) enter(p *Judged) {
	principal, rows := p.Principal(j.revision)
	for _, r := range rows {
		v := verdict.Verdict{
			Row: r.ID, Level: r.Level, Text: r.Text, Citation: r.Citation(), Probe: p.ID,
			Outcome: p.Outcome, Why: p.Why, Because: j.because(p.Because), Mend: p.Mend,
		}
		switch {
		case p.Outcome != verdict.Fail:
			v.Mend = ""
		case r != principal:
			v.Outcome, v.Why, v.Because, v.Mend = verdict.Unverified, "it is the rule of "+principal.ID+", which failed", principal.ID, ""
		case !r.Must():
			v.Outcome = verdict.Warn
		}
		if v.Outcome == verdict.Fail || v.Outcome == verdict.Warn {
			v.Evidence = Evidence(p.Blamed)
		}
		if old, ok := j.rows[r.ID]; !ok || worse(v.Outcome, old.Outcome) {
			j.rows[r.ID] = v
		}
	}
}

// because names the row of a probe that failed, or "".
func (j *judge) because(id string) string {
	other := j.by[id]
	if other == nil || other.Outcome != verdict.Fail {
		return ""
	}
	if r, _ := other.Principal(j.revision); r != nil {
		return r.ID
	}
	return ""
}

// worst orders outcomes: what was seen goes before what was not.
var worst = []verdict.Outcome{verdict.Fail, verdict.Warn, verdict.Pass, verdict.Unverified, verdict.NotApplicable}

func worse(a, b verdict.Outcome) bool { return slices.Index(worst, a) < slices.Index(worst, b) }

// mostShown is how much of what is to blame is shown.
const mostShown = 6

// mostText is how many bytes of a message are shown.
const mostText = 2000

// Evidence makes what a report shows of what is blamed: the messages in order,
// with the HTTP around them.
func Evidence(blamed []Blame) []verdict.Evidence {
	blamed = blamed[:min(len(blamed), mostShown)]
	var all []verdict.Evidence
	shown := map[*peer.Exchange]bool{}
	for _, b := range blamed {
		if b.Message == nil {
			continue
		}
		e := verdict.Evidence{Number: b.Message.Number, At: b.Message.At, Sent: b.Message.Sent, Pointer: b.Pointer, Cut: b.Message.Cut}
		e.Text, e.Cut = cut(b.Message.Raw, e.Cut)
		if x := b.Message.Exchange; x != nil {
			e.Head = head(x, b.Message.Sent != x.Incoming)
			shown[x] = shown[x] || b.Message.Sent == x.Incoming
		}
		all = append(all, e)
	}
	for _, b := range blamed {
		if x := b.Exchange; x != nil && !shown[x] {
			shown[x] = true
			all = append(all, ofExchange(x, b)...)
		}
	}
	slices.SortStableFunc(all, func(a, b verdict.Evidence) int { return int(a.At - b.At) })
	return slices.CompactFunc(all, func(a, b verdict.Evidence) bool {
		return a.Number == b.Number && a.Number != 0 && a.Pointer == b.Pointer
	})
}

func cut(raw []byte, already int) (string, int) {
	if len(raw) <= mostText {
		return string(raw), already
	}
	return string(raw[:mostText]), already + len(raw) - mostText
}
