package parley_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// minExamples is how many examples the public packages have at least. Only those
// with an output are run.
const minExamples = 60

// TestExamplesAreTheUsers checks that users could have written the examples: those
// of the documentation stand in external test packages and are run, and neither
// they nor the programs below examples/ import anything internal.
func TestExamplesAreTheUsers(t *testing.T) {
	count := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return skipNoExamples(path, d.Name())
		}
		if filepath.Ext(path) == ".go" {
			count += checkExamples(t, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if count < minExamples {
		t.Errorf("%d examples, want at least %d", count, minExamples)
	}
}

// skipNoExamples skips folders that users of the module see nothing of. Those of
// examples/ count, also where they are modules of their own.
func skipNoExamples(path, name string) error {
	hidden := slices.ContainsFunc(private, func(p string) bool { return covers(p, path) && p != "examples" })
	if hidden || name == "internal" || name == "testdata" || path != "." && strings.HasPrefix(name, ".") {
		return filepath.SkipDir
	}
	return nil
}

// checkExamples checks one file, and returns how many examples it has.
func checkExamples(t *testing.T, path string) int {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	examples := doc.Examples(file)
	if len(examples) == 0 && !covers("examples", filepath.ToSlash(path)) {
		return 0
	}
	for _, name := range imports(file) {
		if isInternal(name) {
			t.Errorf("%s imports %s, which users cannot", path, name)
		}
	}
	for _, e := range examples {
		if e.Output == "" && !e.EmptyOutput {
			t.Errorf("%s: Example%s has no output, so that it is not run", path, e.Name)
		}
		if !strings.HasSuffix(file.Name.Name, "_test") {
			t.Errorf("%s: Example%s belongs in package %s_test: users see it from outside", path, e.Name, file.Name.Name)
		}
	}
	return len(examples)
}

func imports(file *ast.File) []string {
	var names []string
	for _, spec := range file.Imports {
		names = append(names, strings.Trim(spec.Path.Value, `"`))
	}
	return names
}
