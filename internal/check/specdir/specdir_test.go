package specdir

import (
	"os"
	"path/filepath"
	"testing"
)

func TestFind(t *testing.T) {
	root := t.TempDir()
	spec := filepath.Join(root, "shared", "spec")
	inner := filepath.Join(root, "repo", "internal", "deep")
	for _, dir := range []string{spec, inner} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "repo", "go.mod"), []byte("module m\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv(env, "")
	t.Chdir(inner)
	if got, ok := Find(); !ok || !sameFile(t, got, spec) {
		t.Errorf("Find() = %q, %v; want %q", got, ok, spec)
	}
	other := t.TempDir()
	t.Setenv(env, other)
	if got, ok := Find(); !ok || got != other {
		t.Errorf("Find() with %s set = %q, %v; want %q", env, got, ok, other)
	}
	t.Setenv(env, filepath.Join(other, "absent"))
	if got, ok := Find(); ok {
		t.Errorf("Find() with %s naming no directory = %q, true; want false", env, got)
	}
}

func sameFile(t *testing.T, a, b string) bool {
	t.Helper()
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}
