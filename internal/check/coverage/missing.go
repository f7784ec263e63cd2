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
	for line := range strings.Lines(missingTable) {
		if cells := strings.Split(strings.TrimSpace(line), "\t"); len(cells) == 3 {
			m[judged{requirement.Role(cells[1]), cells[0]}] = cells[2]
		}
	}
	return m
})

// Missing says why a row that could be seen on a role has no probe, or "".
func Missing(r *requirement.Row, role requirement.Role) string { return missing()[judged{role, r.ID}] }
