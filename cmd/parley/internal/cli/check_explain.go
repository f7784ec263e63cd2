package cli

import (
	"strings"

	"github.com/parley-mcp/parley/internal/check/coverage"
	"github.com/parley-mcp/parley/internal/check/requirement"
	"github.com/parley-mcp/parley/internal/similar"
	"github.com/parley-mcp/parley/internal/wire"
)

// explain shows the row or the probe of an ID.
func (a *app) explain(s *selection) error {
	if r := requirement.ByID(s.explain); r != nil {
		if s.revision != "" && !r.HoldsIn(s.revision) {
			return usagef("%s does not hold in %s; it does in %s", r.ID, s.revision, strings.Join(r.Revisions, ", "))
		}
		return a.explainRow(r, or(s.revision, newest(r)))
	}
	if probes := coverage.Named(s.explain); len(probes) > 0 {
		return a.explainProbes(probes)
	}
	return usagef("there is no requirement and no probe %q; near are %s", s.explain, strings.Join(similar.Names(s.explain, explainable()), ", "))
}

// explainable are the IDs that --explain takes.
func explainable() []string {
	var ids []string
	for r := range requirement.All() {
		ids = append(ids, r.ID)
	}
	for _, p := range coverage.Probes() {
		ids = append(ids, p.ID)
	}
	return ids
}

// shownProbe is a probe, as --output json shows it.
type shownProbe struct {
	ID      string           `json:"id"`
	Role    requirement.Role `json:"role"`
	Does    string           `json:"does"`
	Accepts string           `json:"accepts"`
	Mend    string           `json:"mend,omitzero"`
	Rows    []string         `json:"rows"` // of those of a revision, the first gets the failure
}

func newShownProbes(probes []*coverage.Probe) []shownProbe {
	shown := []shownProbe{}
	for _, p := range probes {
		shown = append(shown, shownProbe{ID: p.ID, Role: p.Role, Does: p.Does, Accepts: p.Accepts, Mend: p.Mend, Rows: p.Rows})
	}
	return shown
}

func (a *app) explainRow(r *requirement.Row, revision string) error {
	if a.flags.json() {
		var probes []*coverage.Probe
		for _, role := range r.Binds {
			probes = append(probes, coverage.Of(r, role)...)
		}
		raw, err := wire.Marshal(map[string]any{"row": newShownRow(r, revision), "probes": newShownProbes(probes)})
		a.out.json(raw)
		return err
	}
	a.out.printf("%s  %s\n%s\n\n", a.out.bold(r.ID), r.Level, r.Text)
	a.point("holds in", strings.Join(r.Revisions, ", "))
	a.point("stands at", r.Address(revision))
	for _, role := range r.Binds {
		probes := coverage.Of(r, role)
		if len(probes) == 0 {
			a.point(string(role), judgedBy(r, role))
		}
		for _, p := range probes {
			a.point(string(role), "judged by "+p.ID)
			a.point("  it does", p.Does)
			a.point("  it accepts", p.Accepts)
		}
	}
	if len(r.Seen) == len(r.Binds) && r.Reason != "" {
		a.point("but", r.Reason)
	}
	return nil
}

func (a *app) explainProbes(probes []*coverage.Probe) error {
	if a.flags.json() {
		raw, err := wire.Marshal(map[string]any{"probes": newShownProbes(probes)})
		a.out.json(raw)
		return err
	}
	for i, p := range probes {
		a.out.printf("%s%s  a probe of the %s\n\n", when(i > 0, "\n"), a.out.bold(p.ID), p.Role)
		a.explainProbe(p)
	}
	return nil
}

func (a *app) explainProbe(p *coverage.Probe) {
	a.point("it does", p.Does)
	a.point("it accepts", p.Accepts)
	if p.Mend != "" {
		a.point("to mend it", p.Mend)
	}
	for i, id := range p.Rows {
		if r := requirement.ByID(id); r != nil {
			a.point(when(i == 0, "judges"), r.ID+"  "+r.Level+"  "+r.Text)
		}
	}
}

// point prints a line of an explanation.
func (a *app) point(name, text string) { a.out.printf("%-21s %s\n", name, text) }
