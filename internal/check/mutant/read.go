package mutant

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Read reads the lists that a pattern names. If PARLEY_MUTANTS is set in the
// environment, only mutants with that text in their place or row are returned.
func Read(pattern string) ([]*Mutant, error) {
	files, err := filepath.Glob(pattern)
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("there are no lists of mutants at %s", pattern)
	}
	var all []*Mutant
	for _, file := range files {
		text, err := os.ReadFile(file) //nolint:gosec // the tests name it
		if err != nil {
			return nil, err
		}
		some, err := Parse(filepath.Base(file), string(text))
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	want := os.Getenv("PARLEY_MUTANTS")
	return slices.DeleteFunc(all, func(m *Mutant) bool {
		return !strings.Contains(m.Place, want) && !strings.Contains(m.Row, want)
	}), nil
}
