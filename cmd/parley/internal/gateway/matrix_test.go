package gateway_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/mcptest"
)

var update = flag.Bool("update", false, "write the page with the table")

// outcome is what came out of one test. not says why there was nothing to test.
type outcome struct {
	passed bool
	not    string
}

// column is what servers a column is about, and which clients.
type column struct {
	front string // the era of the clients, over all transports
	back  mcptest.Mode
}

// table has the outcomes of each feature, by the columns.
type table map[string]map[column][]outcome

func era(m mcptest.Mode) string {
	if stateless(m) {
		return "stateless"
	}
	return "session"
}

func (c table) add(f *feature, front, back mcptest.Mode, o outcome) {
	if c[f.name] == nil {
		c[f.name] = map[column][]outcome{}
	}
	at := column{era(front), back}
	c[f.name][at] = append(c[f.name][at], o)
}

// columns are in the order of the modes.
func columns() (all []column) {
	for _, front := range modes {
		for _, back := range modes {
			if c := (column{era(front), back}); !slices.Contains(all, c) {
				all = append(all, c)
			}
		}
	}
	return all
}

// isWhole reports whether nothing was left out, as it is when single tests are run.
func (c table) isWhole() bool {
	for _, f := range features {
		tests := 0
		for _, outcomes := range c[f.name] {
			tests += len(outcomes)
		}
		if tests != len(modes)*len(modes)*len(shares) {
			return false
		}
	}
	return true
}

// String is the table in Markdown.
func (c table) String() string {
	var page, notes strings.Builder
	var reasons []string
	page.WriteString("| |")
	for _, at := range columns() {
		fmt.Fprintf(&page, " %s → %s, %s |", at.front, era(at.back), transport(at.back))
	}
	page.WriteString("\n|---|" + strings.Repeat("---|", len(columns())) + "\n")
	for _, f := range features {
		fmt.Fprintf(&page, "| %s |", f.name)
		for _, at := range columns() {
			fmt.Fprintf(&page, " %s |", cell(c[f.name][at], &reasons))
		}
		page.WriteString("\n")
	}
	for i, reason := range reasons {
		fmt.Fprintf(&notes, "%d. %s\n", i+1, reason)
	}
	return page.String() + "\n" + notes.String()
}

// transport is how a server is reached: lines are those of standard streams.
func transport(m mcptest.Mode) string {
	if m.IsHTTP() {
		return "HTTP"
	}
	return "stdio"
}

// cell is what came out of all tests of a feature in a column.
func cell(outcomes []outcome, reasons *[]string) string {
	passed := 0
	for _, o := range outcomes {
		if o.not != "" {
			i := slices.Index(*reasons, o.not)
			if i < 0 {
				i = len(*reasons)
				*reasons = append(*reasons, o.not)
			}
			return fmt.Sprintf("– (%d)", i+1)
		}
		if o.passed {
			passed++
		}
	}
	if passed == len(outcomes) {
		return "yes"
	}
	return fmt.Sprintf("**%d of %d**", passed, len(outcomes))
}

// compare fails the test if the page says something else.
func (c table) compare(t *testing.T) {
	t.Helper()
	const page, begin, end = "../../../../docs/gateway-table.md", "<!-- table -->\n", "<!-- end of table -->"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	had, after, ended := strings.Cut(rest, end)
	switch got := c.String(); {
	case !ok || !ended:
		t.Fatal("the page has no place for the table")
	case got == had:
	case !*update:
		t.Errorf("docs/gateway-table.md is not up to date; run \"make gateway-table\":\n%s", got)
	default:
		if err := os.WriteFile(page, []byte(before+begin+got+end+after), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
