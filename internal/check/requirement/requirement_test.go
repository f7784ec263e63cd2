package requirement_test

import (
	"testing"

	"github.com/parley-mcp/parley/internal/check/requirement"
)

func TestEveryRowIsWhole(t *testing.T) {
	seen := map[string]bool{}
	for r := range requirement.All() {
		if seen[r.ID] {
			t.Errorf("%s is there twice", r.ID)
		}
		seen[r.ID] = true
		if r.Page == "" || r.Text == "" || len(r.Binds) == 0 || r.Level == "" {
			t.Errorf("%s lacks its page, text, level or whom it binds", r.ID)
		}
		if len(r.Seen) == 0 && r.Reason == "" {
			t.Errorf("%s can't be seen, and says no reason", r.ID)
		}
	}
	if len(seen) < 1700 {
		t.Errorf("%d rows, want all of the specification", len(seen))
	}
}
