package shellwords_test

import (
	"os/exec"
	"runtime"
	"slices"
	"testing"

	"github.com/parley-mcp/parley/cmd/parley/internal/shellwords"
)

func TestOf(t *testing.T) {
	for line, want := range map[string][]string{
		``:                       {},
		`  `:                     {},
		`call  echo text=hi`:     {"call", "echo", "text=hi"},
		`echo 'a b' "c 'd'" e\ `: {"echo", "a b", "c 'd'", "e "},
		`a:='{"x": 1}'`:          {`a:={"x": 1}`},
		`"\"" ''`:                {`"`, ""},
		`x '' `:                  {"x", ""},
	} {
		got, err := shellwords.Of(line)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, error %v", line, got, err)
		}
	}
	for _, line := range []string{`echo 'a`, `echo "a`, `echo a\`} {
		if _, err := shellwords.Of(line); err == nil {
			t.Errorf("%s: no error", line)
		}
	}
}

func TestQuote(t *testing.T) {
	for _, word := range []string{"", "plain", "a b", "it's", `"`, "$HOME", "a\nb", "*", "~", "`id`", "#", "a;b", "é"} {
		quoted := shellwords.Quote(word)
		if got, err := shellwords.Of(quoted); err != nil || !slices.Equal(got, []string{word}) {
			t.Errorf("%q is quoted as %s, which is read as %q, error %v", word, quoted, got, err)
		}
		if runtime.GOOS == "windows" {
			continue
		}
		out, err := exec.CommandContext(t.Context(), "sh", "-c", "printf %s "+quoted).Output()
		if err != nil || string(out) != word {
			t.Errorf("%q is quoted as %s, which a shell reads as %q, error %v", word, quoted, out, err)
		}
	}
}
