package coverage

import (
	_ "embed"
	"strings"
	"sync"

	"github.com/parley-mcp/parley/internal/check/requirement"
)

//go:embed missing.tsv
var missingTable string

// missing are the rows that could be seen, and that nothing looks at, with what is
// lacking.
var missing = sync.OnceValue(func() map[judged]string {
	m := map[judged]string{}
	_, lines, _ := strings.Cut(missingTable, "\n") // the first one has the headings
	for line := range strings.Lines(lines) {
		if cells := strings.Split(strings.TrimSpace(line), "\t"); len(cells) == 3 {
			m[judged{requirement.Role(cells[1]), cells[0]}] = cells[2]
		}
	}
	return m
})

// Missed returns the rows and roles of the list, as "ROW ROLE".
func Missed() []string {
	var all []string
	for m := range missing() {
		all = append(all, m.row+" "+string(m.role))
	}
	return all
}

// Missing says why a row that could be seen on a role has no probe, or "".
func Missing(r *requirement.Row, role requirement.Role) string { return missing()[judged{role, r.ID}] }
