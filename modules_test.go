package parley_test

import (
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// maxModules is how many modules, besides this one, a server or a client may
// depend on: those imported by code that is not a test. See
// docs/decisions/0004.
const maxModules = 10

// TestModules checks that the SDK imports only what its own go.mod requires.
// The compiler does not: with go.work, it also finds what only the program
// requires.
func TestModules(t *testing.T) {
	required := requirements(t)
	used := map[string]string{} // imported outside of tests: module to file
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return skipFolder(path, d.Name())
		}
		if filepath.Ext(path) != ".go" {
			return nil
		}
		names, err := importsOf(path)
		for _, name := range names {
			from := origin(name, required)
			switch {
			case from == "":
				t.Errorf("%s imports %s, which go.mod does not require: what only the program needs belongs in cmd/parley", path, name)
			case from != standard && from != own && !strings.HasSuffix(path, "_test.go"):
				used[from] = path
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(used) == 0 || len(used) > maxModules {
		t.Errorf("%d modules, want at most %d:", len(used), maxModules)
		for _, name := range slices.Sorted(maps.Keys(used)) {
			t.Errorf("\t%s, imported by %s", name, used[name])
		}
	}
}

// The origins of packages that belong to none of the required modules.
const (
	standard = "the standard library"
	own      = "this module"
)

// origin says which of the required modules has a package; it is empty if none
// of them does.
func origin(pkg string, required []string) string {
	first, _, _ := strings.Cut(pkg, "/")
	if !strings.Contains(first, ".") {
		return standard
	}
	if dir, ok := strings.CutPrefix(pkg, module); ok {
		if otherModule(dir) {
			return ""
		}
		return own
	}
	best := ""
	for _, r := range required {
		if covers(r, pkg) && len(r) > len(best) {
			best = r
		}
	}
	return best
}

// otherModule reports whether a folder belongs to another module.
func otherModule(dir string) bool {
	for ; dir != "."; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return true
		}
	}
	return false
}

// skipFolder skips what the go command skips: other modules, and folders by
// name.
func skipFolder(path, name string) error {
	if path == "." {
		return nil
	}
	if strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "testdata" || name == "node_modules" || otherModule(path) {
		return filepath.SkipDir
	}
	return nil
}

// requirements returns the modules that go.mod requires directly.
func requirements(t *testing.T) []string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "mod", "edit", "-json", "go.mod").Output()
	if err != nil {
		t.Fatalf("go mod edit: %v", err)
	}
	var file struct {
		Require []struct {
			Path     string
			Indirect bool
		}
	}
	if err := json.Unmarshal(out, &file); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range file.Require {
		if !r.Indirect {
			names = append(names, r.Path)
		}
	}
	return names
}
