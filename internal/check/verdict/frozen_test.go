package verdict_test

import (
	"flag"
	"os"
	"slices"
	"testing"

	"github.com/parley-mcp/parley/internal/check/coverage"
	"github.com/parley-mcp/parley/internal/check/requirement"
	"github.com/parley-mcp/parley/internal/check/serverprobe"
	"github.com/parley-mcp/parley/internal/check/verdict"
)

var (
	update = flag.Bool("update", false, "freeze the first profile where there is none")
	next   = flag.Bool("next", false, "freeze the next profile where the rows have changed")
)

// scored returns the rows that a new profile of a revision and role has: those
// that have points and a probe. What only "parley check auth" judges of servers is
// not in the profile of servers.
func scored(revision string, role requirement.Role) []string {
	var ids []string
	for r := range requirement.All() {
		if (r.Must() || r.Should()) && r.HoldsIn(revision) && len(coverage.Of(r, role)) > 0 && (role != requirement.Server || byServerprobe(r.ID)) {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

func byServerprobe(row string) bool {
	return slices.ContainsFunc(serverprobe.All(), func(p *serverprobe.Probe) bool { return slices.Contains(p.Rows, row) })
}

// TestProfiles holds the frozen profiles to their digests, and with a flag makes
// what is missing. It never changes one.
func TestProfiles(t *testing.T) {
	all, err := verdict.ReadProfiles(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	for _, revision := range revisions() {
		for _, role := range []requirement.Role{requirement.Server, requirement.Client, requirement.Authorization, requirement.Intermediary} {
			rows := scored(revision, role)
			if p := verdict.Newest(all, revision, role); len(rows) > 0 && (*update && p == nil || *next && p != nil) {
				made, err := verdict.Freeze(".", revision, role, rows)
				if err != nil {
					t.Fatal(err)
				}
				t.Logf("%s of the %s has %d rows", made.Name(), role, len(made.Rows))
			}
		}
	}
	for _, p := range all {
		for _, id := range p.Rows {
			if r := requirement.ByID(id); r == nil || !r.HoldsIn(p.Revision) || len(coverage.Of(r, p.Role)) == 0 {
				t.Errorf("%s of the %s has %s, which no probe judges any more: it could never pass again", p.Name(), p.Role, id)
			}
		}
	}
}

// revisions are those that the rows name.
func revisions() []string {
	var all []string
	for r := range requirement.All() {
		all = append(all, r.Revisions...)
	}
	return slices.Compact(slices.Sorted(slices.Values(all)))
}
