package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// Whatever a file has, reading it ends, and every mistake is at a place in the file.
func FuzzRead(f *testing.F) {
	for _, pattern := range []string{"testdata/mistakes/*.yaml", "testdata/valid/*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			f.Fatal(files, err)
		}
		for _, file := range files {
			source, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(source)
		}
	}
	env := outside(f.TempDir(), map[string]string{"TOKEN": "t"})
	f.Fuzz(func(t *testing.T, source []byte) {
		c, err := parse("g.yaml", source, env)
		if err == nil {
			inside(t, source, c.Warnings)
			if d := Difference(c, c); !d.IsEmpty() {
				t.Errorf("it differs from itself: %s", &d)
			}
			return
		}
		mistakes, ok := errors.AsType[Mistakes](err)
		if !ok || len(mistakes) == 0 {
			t.Fatalf("%T: %v", err, err)
		}
		inside(t, source, mistakes)
	})
}

// inside checks that mistakes are at places of a file.
func inside(t *testing.T, source []byte, mistakes Mistakes) {
	t.Helper()
	lines := strings.Split(strings.TrimPrefix(string(source), "\ufeff"), "\n")
	for _, m := range mistakes {
		if m.Line < 1 || m.Line > len(lines) || m.Column < 1 || m.Column > utf8.RuneCountInString(lines[m.Line-1])+1 {
			t.Errorf("the place is not in the file: %v", m)
		}
	}
}
