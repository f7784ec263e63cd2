package similar_test

import (
	"testing"

	"github.com/parley-mcp/parley/internal/similar"
)

func TestNames(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"abc", "abc", 0}, {"", "abc", 3}, {"abc", "", 3}, {"tools-48", "tools-048", 1}, {"kitten", "sitting", 3}, {"titel", "title", 1}, {"ca", "abc", 3}, {"abcd", "badc", 2}} {
		if got := similar.Edits(c.a, c.b); got != c.want {
			t.Errorf("%q and %q differ by %d, want %d", c.a, c.b, got, c.want)
		}
	}
	if got := similar.Names("LIST", []string{"x", "y", "tools/list-pages", "lift"}); got[0] != "tools/list-pages" && got[1] != "tools/list-pages" {
		t.Errorf("near LIST are %q, want what contains it among the first", got)
	}
}
