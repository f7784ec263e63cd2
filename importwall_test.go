package parley_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const (
	module  = "github.com/parley-mcp/parley/"
	program = module + "cmd/parley/internal/"
)

// walls says what each package must not import; a name covers the packages
// below it. The wall around server is the design: features do not know which
// era or revision they are served in, or by what transport.
var walls = map[string][]string{
	"jsonrpc":           {module + "mcp", module + "server", module + "client", module + "transport", module + "internal/era", module + "internal/revision", "net/http"},
	"mcp":               {module + "server", module + "client", module + "transport", module + "internal/era", module + "internal/revision", "net/http"},
	"apps":              {module + "server", module + "client", module + "transport", module + "internal/era", module + "internal/revision", "net/http"},
	"internal/revision": {module + "server", module + "client", module + "transport", module + "internal/era", "net/http"},
	"internal/era":      {module + "server", module + "client", module + "transport", "net/http"},
	"internal/content":  {module + "server", module + "client", module + "transport", module + "internal/era", module + "internal/revision", "net/http"},
	"server":            {module + "internal/era", module + "internal/revision", module + "internal/stream", module + "transport", module + "client", "net/http"},
	"auth/oauth":        {module + "server", module + "client", module + "transport", module + "internal/era"},
	"client":            {module + "server", module + "transport", "net/http"},
	"card":              {module + "server", module + "client", module + "transport", module + "internal/era"},
	"transport":         {module + "server", module + "client"},

	"cmd/parley/internal/reference": {program + "cli", program + "devauth"},
	"cmd/parley/internal/devauth":   {program + "cli", program + "reference", module + "server", module + "client", module + "transport"},
}

// above are folders that a rule for the folder around them does not cover: they stand on
// top of it.
var above = map[string]string{
	"client/host": "a host makes clients, and reaches servers over any transport",
}

func TestImportWall(t *testing.T) {
	for dir, forbidden := range walls {
		t.Run(dir, func(t *testing.T) {
			files := 0
			err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
				if err == nil && d.IsDir() && above[filepath.ToSlash(path)] != "" {
					return filepath.SkipDir
				}
				if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
					return err
				}
				files++
				return checkImports(t, path, forbidden)
			})
			if err != nil {
				t.Fatal(err)
			}
			if files == 0 {
				t.Errorf("no Go files in %s: the rule checks nothing", dir)
			}
		})
	}
}

func checkImports(t *testing.T, path string, forbidden []string) error {
	names, err := importsOf(path)
	for _, name := range names {
		for _, f := range forbidden {
			if covers(f, name) {
				t.Errorf("%s imports %s", path, name)
			}
		}
	}
	return err
}

// importsOf returns what a Go file imports.
func importsOf(path string) ([]string, error) {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, spec := range file.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, nil
}

// covers reports whether a package is at or below a path.
func covers(path, pkg string) bool { return pkg == path || strings.HasPrefix(pkg, path+"/") }
