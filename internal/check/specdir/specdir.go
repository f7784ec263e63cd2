// Package specdir finds the specification for tests that compare something with
// its text. It is not part of this repository.
package specdir

import (
	"os"
	"path/filepath"
	"testing"
)

// env names the environment variable that overrides the search of [Find].
const env = "PARLEY_SPEC_DIR"

// Of returns the specification directory, and skips the test if there is none.
func Of(t testing.TB) string {
	t.Helper()
	dir, ok := Find()
	if !ok {
		t.Skip("the specification is not here; " + env + " names its folder, which has <revision>/schema.json")
	}
	return dir
}

// Find returns the specification directory, or ok=false. The environment
// variable PARLEY_SPEC_DIR decides if it is set; otherwise Find walks up from
// the root of the module that holds the working directory and takes the first
// directory ../shared/spec it meets.
func Find() (dir string, ok bool) {
	if dir := os.Getenv(env); dir != "" {
		return dir, isDir(dir)
	}
	wd, err := os.Getwd()
	if err != nil {
		return "", false
	}
	return findAbove(moduleRoot(wd))
}

// findAbove returns the first ../shared/spec at or above dir.
func findAbove(dir string) (string, bool) {
	for {
		parent := filepath.Dir(dir)
		if spec := filepath.Join(parent, "shared", "spec"); isDir(spec) {
			return spec, true
		}
		if parent == dir {
			return "", false
		}
		dir = parent
	}
}

// moduleRoot returns the closest directory at or above dir with a go.mod, or
// dir itself outside of any module.
func moduleRoot(dir string) string {
	for d := dir; ; {
		if _, err := os.Stat(filepath.Join(d, "go.mod")); err == nil {
			return d
		}
		parent := filepath.Dir(d)
		if parent == d {
			return dir
		}
		d = parent
	}
}

func isDir(path string) bool {
	info, err := os.Stat(path) //nolint:gosec // the caller names the folder of its schemas
	return err == nil && info.IsDir()
}
