package coverage_test

import (
	"strings"
	"testing"

	"github.com/parley-mcp/parley/internal/check/coverage"
	"github.com/parley-mcp/parley/internal/check/requirement"
)

// least is how many percent of the rows that can be seen must have probes.
var least = map[requirement.Role]map[coverage.Level]float64{
	requirement.Server: {coverage.Must: 95, coverage.Should: 80},
	requirement.Client: {coverage.Must: 90, coverage.Should: 80},
}

func TestCoverage(t *testing.T) {
	for _, c := range coverage.Counts("") {
		t.Logf("%-21s %-6s %4d rows, %4d can be seen, %4d have probes: %5.1f %%", c.Role, c.Level, c.Rows, c.Seen, c.Probed, c.Percent())
		if want := least[c.Role][c.Level]; c.Percent() < want {
			t.Errorf("%.1f %% of the %ss of the %s that can be seen have probes, want %.0f %%", c.Percent(), c.Level, c.Role, want)
		}
	}
	for r := range requirement.All() {
		for _, role := range r.Seen {
			why, probed := coverage.Missing(r, role), len(coverage.Of(r, role)) > 0
			switch {
			case !probed && why == "":
				t.Errorf("%s has neither a probe of a %s nor a reason for none", r.ID, role)
			case probed && why != "":
				t.Errorf("%s has a probe of a %s, so missing.tsv must not have it", r.ID, role)
			}
		}
	}
}

// The list of what has no probe yet has only rows that could have one.
func TestMissingRowsShow(t *testing.T) {
	for _, missed := range coverage.Missed() {
		id, role, _ := strings.Cut(missed, " ")
		if r := requirement.ByID(id); r == nil || !r.IsSeenOn(requirement.Role(role)) {
			t.Errorf("missing.tsv has %s of the %s, which is no row or can't be seen there", id, role)
		}
	}
}

// TestProbesNameRows finds probes that judge what is not there, or what the
// table says does not show.
func TestProbesNameRows(t *testing.T) {
	ids := map[string]bool{}
	for _, p := range coverage.Probes() {
		if name := string(p.Role) + " " + p.ID; ids[name] {
			t.Errorf("the probe %s of the %s is there twice", p.ID, p.Role)
		} else {
			ids[name] = true
		}
		if p.Does == "" || p.Accepts == "" || len(p.Rows) == 0 {
			t.Errorf("the probe %s does not say what it does, what it accepts, or which rows it judges", p.ID)
		}
		if requirement.ByID(p.ID) != nil || strings.ContainsAny(p.ID, " \t") {
			t.Errorf("the probe %q has an ID that could be that of a row, or spaces", p.ID)
		}
		checkRows(t, p)
	}
}

func checkRows(t *testing.T, p coverage.Probe) {
	named := map[string]bool{}
	for _, id := range p.Rows {
		r := requirement.ByID(id)
		switch {
		case r == nil:
			t.Errorf("the probe %s judges %s, which is no row", p.ID, id)
		case named[id]:
			t.Errorf("the probe %s names %s twice", p.ID, id)
		case !r.IsSeenOn(p.Role):
			t.Errorf("the probe %s judges %s on a %s, where the table says that it can't be seen", p.ID, id, p.Role)
		}
		named[id] = true
	}
}
