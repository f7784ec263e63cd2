package parley_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// These find the tests that a line names, and those that a file declares.
var (
	namedTest    = regexp.MustCompile("`(Test[A-Za-z0-9_]+)`")
	declaredTest = regexp.MustCompile(`(?m)^func (Test[A-Za-z0-9_]+)\(`)
)

// docs/conformance.md answers each of its requirements, says so for each only once,
// and names tests that exist. A MUST that Parley keeps has a test.
func TestConformancePage(t *testing.T) {
	page, err := os.ReadFile(filepath.FromSlash("docs/conformance.md"))
	if err != nil {
		t.Fatal(err)
	}
	tests := declaredTests(t)
	seen := map[string]bool{}
	section := ""
	const tasks = "Tasks of 2025-11-25"
	for line := range strings.Lines(string(page)) {
		if title, ok := strings.CutPrefix(line, "## "); ok {
			section = strings.TrimSpace(title)
		}
		cells := strings.Split(strings.TrimSpace(line), " | ")
		id := strings.TrimPrefix(cells[0], "| ")
		if len(cells) < 4 || !strings.Contains(id, ".") {
			continue
		}
		if seen[id] {
			t.Errorf("%s is there twice", id)
		}
		seen[id] = true
		if strings.TrimSpace(cells[3]) == "" {
			t.Errorf("%s has no answer", id)
		}
		named := namedTest.FindAllStringSubmatch(line, -1)
		if len(named) == 0 && (section == "Kept" || section == tasks) && strings.HasPrefix(cells[1], "MUST") {
			t.Errorf("%s is a MUST, and names no test", id)
		}
		for _, name := range named {
			if !tests[name[1]] {
				t.Errorf("%s names the test %s, which does not exist", id, name[1])
			}
		}
	}
	const all = 187 + 48 // the second are those about tasks
	if len(seen) != all {
		t.Errorf("the page has %d requirements, want %d", len(seen), all)
	}
}

func declaredTests(t *testing.T) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range declaredTest.FindAllSubmatch(text, -1) {
			found[string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
