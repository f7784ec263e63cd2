package ref_test

import (
	"strings"
	"testing"

	"github.com/parley-mcp/parley/internal/ref"
)

func TestVariables(t *testing.T) {
	vars := map[string]string{"A": "1", "EMPTY": ""}
	lookup := func(name string) (string, bool) { v, ok := vars[name]; return v, ok }
	for _, c := range []struct{ text, want, err string }{
		{"", "", ""},
		{"a$b", "a$b", ""},
		{"${A}${env:A}-${A:-2}", "11-1", ""},
		{"${B:-x:-y}", "x:-y", ""},
		{"${EMPTY}|${EMPTY:-2}", "|2", ""},
		{"${B}", "", "B is not set"},
		{"${input:x}", "", "${input:x} is no reference"},
		{"${}", "", "${} is no reference"},
		{"x${A", "", "${A has no end"},
	} {
		got, err := ref.Replace(c.text, func(r string) (string, error) { return ref.Variable(r, lookup) })
		if got != c.want || (err != nil) != (c.err != "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%q becomes %q, %v", c.text, got, err)
		}
	}
}
