package cli

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// The tables of docs/cli.md and of the help are those of the program.
func TestOutcomesAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../../../docs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	var codes, numbers strings.Builder
	for _, o := range outcomes() {
		fmt.Fprintf(&codes, "| `%s` | %d | %s |\n", o.code, o.exit, strings.ReplaceAll(o.about, `"`, "`"))
	}
	for _, e := range exits() {
		fmt.Fprintf(&numbers, "| %d | %s |\n", e.exit, e.about)
		if !strings.Contains(exitHelp(), fmt.Sprintf("%d  %s", e.exit, e.about)) {
			t.Errorf("the help does not list exit code %d", e.exit)
		}
	}
	for _, table := range []string{codes.String(), numbers.String()} {
		if !strings.Contains(string(page), "|---|---|"+map[bool]string{true: "---|"}[strings.HasPrefix(table, "| `")]+"\n"+table+"\n") {
			t.Errorf("docs/cli.md lacks this table:\n%s", table)
		}
	}
}

// Every code leads to an exit code that is listed.
func TestOutcomesHaveExitCodes(t *testing.T) {
	listed := map[int]bool{}
	for _, e := range exits() {
		listed[e.exit] = true
	}
	seen := map[code]bool{}
	for _, o := range outcomes() {
		if !listed[o.exit] || o.exit == exitOK {
			t.Errorf("%s leads to exit code %d, which is not listed for errors", o.code, o.exit)
		}
		if seen[o.code] {
			t.Errorf("%s is listed twice", o.code)
		}
		seen[o.code] = true
	}
}
