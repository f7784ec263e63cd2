package parley_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// Revisions are rows: only the table of their properties, and the names by
// which users pin a revision, may name a single one. All other code asks for a
// property.
func TestNobodyNamesARevision(t *testing.T) {
	allowed := []string{
		"mcp/revision.go",            // the names
		"auth/oauth/discover_old.go", // one revision's discovery, which sends its name
		"internal/revision/",         // the rows
		"conformance/",               // runs a suite that has its own list
		"interop/", "examples/",      // are not the SDK
	}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != "." && (strings.HasPrefix(d.Name(), ".") || ownModule(path)):
			return filepath.SkipDir
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		for _, a := range allowed {
			if strings.HasPrefix(filepath.ToSlash(path), a) {
				return nil
			}
		}
		return namesNoRevision(t, path)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// ownModule reports whether a folder is a module of its own.
func ownModule(path string) bool {
	found, err := filepath.Glob(filepath.Join(path, "go.mod"))
	return err == nil && len(found) > 0
}

func namesNoRevision(t *testing.T, path string) error {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, nil, 0)
	if err != nil {
		return err
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			if strings.HasPrefix(n.Name, "Revision20") {
				t.Errorf("%s names %s; ask for a property in internal/revision", set.Position(n.Pos()), n.Name)
			}
		case *ast.BasicLit:
			if n.Kind == token.STRING && strings.Contains(n.Value, `"2026-07-28"`) {
				t.Errorf("%s has the literal %s; ask for a property in internal/revision", set.Position(n.Pos()), n.Value)
			}
		}
		return true
	})
	return nil
}
