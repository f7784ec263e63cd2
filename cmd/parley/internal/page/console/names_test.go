package console

import (
	"net/http"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/cmd/parley/internal/page/web"
)

// A question may call things as clients do. What does not exist is said.
func TestNamesOfQuestions(t *testing.T) {
	b := as(t, open(t, new(stage), Entrance{}), web.Viewer)
	for _, tc := range []struct {
		question string
		status   int
		want     string
	}{
		{`{"backend":"shop","tool":"pay"}`, http.StatusOK, `"why":"about pay"`},
		{`{"backend":"shop","tool":"shop__pay"}`, http.StatusOK, `"why":"about pay"`},
		{`{"backend":"shop","tool":"no"}`, http.StatusOK, `"unlisted":"shop lists no tool of this name"`},
		{`{"backend":"shop","prompt":"pay"}`, http.StatusOK, `"unlisted":"shop lists no prompt of this name"`},
		{`{"backend":"down","tool":"pay"}`, http.StatusOK, `"unlisted":"down cannot be asked what it lists: it is down"`},
		{`{"backend":"shop","resource":"file:///any"}`, http.StatusOK, `"why":"about file:///any"`},
		{`{"backend":"shop","tool":"pay","view":"staff"}`, http.StatusOK, `"why":"about pay"`},
		{`{"backend":"shop","tool":"pay","view":"no"}`, http.StatusBadRequest, `"field":"view"`},
	} {
		status, body := b.do("POST", "/api/v1/policy/explain", tc.question)
		if status != tc.status || !strings.Contains(body, tc.want) || strings.Contains(body, "unlisted") != strings.Contains(tc.want, "unlisted") {
			t.Errorf("%s: %d %s, want %d %s", tc.question, status, body, tc.status, tc.want)
		}
	}
}
