package toolname_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/internal/toolname"
)

func TestServerFor(t *testing.T) {
	for text, want := range map[string]string{
		"files": "files", "My Server": "my-server", "@scope/Server_2": "scope-server-2", "a--b": "a--b", "-x-": "x",
		strings.Repeat("ab-", 20): "ab-ab-ab-ab-ab-ab-ab-ab-ab-ab-ab", "": "server-4oymiquy", "日本": "",
	} {
		got := toolname.ServerFor(text)
		if !toolname.ValidServer(got) || want != "" && got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

func TestSplit(t *testing.T) {
	for _, c := range []struct {
		shown, server, own string
		exact              bool
	}{
		{"files__read", "files", "read", true},
		{"files___x", "files", "_x", true},
		{"files__", "files", "", true},
		{"files__get_it_ZNIUCAMK", "files", "", false},
		{"files_read", "", "", false},
		{"", "", "", false},
		{"files__get.it", "", "", false},
		{"files__" + strings.Repeat("x", 58), "", "", false},
	} {
		server, own, exact := toolname.Split(c.shown)
		if server != c.server || own != c.own || exact != c.exact {
			t.Errorf("%q is %q of %q (%v)", c.shown, own, server, exact)
		}
	}
}

var accepted = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// Whatever a tool is called, models take its name, and the name leads back to it.
func FuzzShow(f *testing.F) {
	for _, own := range []string{"", "read", "get.it", "größe", "_ABCDEFGH", "a__b", strings.Repeat("x", 200), "\xff", "\x00"} {
		f.Add("files", own, "other")
	}
	f.Fuzz(func(t *testing.T, text, own, other string) {
		server := toolname.ServerFor(text)
		if !toolname.ValidServer(server) {
			t.Fatalf("%q becomes %q", text, server)
		}
		shown := toolname.Show(server, own)
		if !accepted.MatchString(shown) || !toolname.Fits(shown) {
			t.Fatalf("%q of %q is shown as %q", own, server, shown)
		}
		of, back, exact := toolname.Split(shown)
		if of != server || toolname.Server(shown) != server || exact && back != own {
			t.Fatalf("%q of %q, shown as %q, is %q of %q", own, server, shown, back, of)
		}
		if other != own && toolname.Show(server, other) == shown {
			t.Fatalf("%q and %q are both shown as %q", own, other, shown)
		}
	})
}
