package parley_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// ARCHITECTURE.md says how many files change when something is added ("the
// walks"). That new members travel without further code is tested elsewhere
// (TestEveryMemberTravels in internal/era, integrationtests/nextrevision);
// these tests count files.

// judge is the checker, which speaks for itself: what it sends must not come from
// what it judges.
const judge = "internal/check"

// sources returns the Go files of the SDK, without tests, examples, and the
// programs that run the suites of others.
func sources(t *testing.T) []string {
	t.Helper()
	var paths []string
	for _, root := range []string{"jsonrpc", "mcp", "server", "client", "transport", "auth", "internal"} {
		err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
			if err == nil && d.IsDir() && filepath.ToSlash(path) == judge {
				return filepath.SkipDir
			}
			if err == nil && strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
				paths = append(paths, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return paths
}

func parse(t *testing.T, path string, mode parser.Mode) *ast.File {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, mode)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// A method is written in five files: its name and descriptor, its types, the
// revisions that have it, what serves it and what calls it. Four of them name it.
func TestWalkOfAMethod(t *testing.T) {
	const most = 4
	for _, method := range []string{"MethodListPrompts", "MethodGetPrompt", "MethodListTemplates", "MethodListResources", "MethodReadResource"} {
		var naming []string
		for _, path := range sources(t) {
			named := false
			ast.Inspect(parse(t, path, 0), func(n ast.Node) bool {
				id, ok := n.(*ast.Ident)
				named = named || ok && id.Name == method
				return !named
			})
			if named {
				naming = append(naming, path)
			}
		}
		if len(naming) == 0 || len(naming) > most {
			t.Errorf("%s is named in %d files, and %d are enough: %s", method, len(naming), most, strings.Join(naming, ", "))
		}
	}
}

// A transport is written outside of the repository, so it needs nothing
// internal.
func TestWalkOfATransport(t *testing.T) {
	paths, err := filepath.Glob("examples/websocket/*.go")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no example of a transport (%v)", err)
	}
	for _, path := range paths {
		for _, spec := range parse(t, path, parser.ImportsOnly).Imports {
			if name, _ := strconv.Unquote(spec.Path.Value); strings.Contains(name, "/internal/") {
				t.Errorf("%s imports %s", path, name)
			}
		}
	}
}
