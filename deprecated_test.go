package parley_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	// deprecates matches the one form in which documentation says that the protocol
	// deprecates a feature.
	deprecates = regexp.MustCompile(`Revision \d{4}-\d\d-\d\d deprecates [^.:]+ \(docs/deprecated\.md\)`)
	// mentions matches any form.
	mentions   = regexp.MustCompile(`(?i)\bdeprecate[sd]?\b`)
	publicName = regexp.MustCompile("`([a-z]+(?:[./][A-Za-z]+)+)`")
)

// TestDeprecatedFeatures holds the documentation of names to the table of
// docs/deprecated.md, both ways; see docs/decisions/0020-deprecations.md.
func TestDeprecatedFeatures(t *testing.T) {
	listed := deprecatedNames(t)
	for name, doc := range publicDocs(t) {
		doc = strings.Join(strings.Fields(doc), " ")
		switch {
		case strings.Contains(doc, "Deprecated: "):
			t.Errorf("%s has a Deprecated: paragraph", name)
		case listed[name] && !deprecates.MatchString(doc):
			t.Errorf("docs/deprecated.md lists %s, whose documentation does not say so: %s", name, doc)
		case !listed[name] && deprecates.MatchString(doc):
			t.Errorf("the documentation of %s says that it is deprecated, but docs/deprecated.md does not list it", name)
		case !listed[name] && mentions.MatchString(doc):
			t.Errorf("the documentation of %s mentions deprecation in a form of its own: %s", name, doc)
		}
		delete(listed, name)
	}
	for name := range listed {
		t.Errorf("docs/deprecated.md lists %s, which does not exist", name)
	}
}

// deprecatedNames returns the names in the first column of the table.
func deprecatedNames(t *testing.T) map[string]bool {
	t.Helper()
	page, err := os.ReadFile("docs/deprecated.md")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for line := range strings.Lines(string(page)) {
		column, _, isRow := strings.Cut(strings.TrimPrefix(line, "|"), "|")
		for _, m := range publicName.FindAllStringSubmatch(column, -1) {
			if isRow && m[1] != "auth/oauth" { // which has other grants
				names[m[1]] = true
			}
		}
	}
	if len(names) < 6 {
		t.Fatalf("the table has the names %v: it was not read", names)
	}
	return names
}

// publicDocs returns what is documented in public packages: names as users write them,
// and packages by their paths.
func publicDocs(t *testing.T) map[string]string {
	t.Helper()
	docs := map[string]string{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		folder := filepath.ToSlash(filepath.Dir(path))
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata"):
			return fs.SkipDir
		case d.IsDir(), !strings.HasSuffix(path, ".go"), strings.HasSuffix(path, "_test.go"), !isPublic(module + folder), folder == ".":
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil || file.Name.Name == "main" {
			return err
		}
		docs[folder] += file.Doc.Text()
		for _, decl := range file.Decls {
			documented(docs, file.Name.Name, decl)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return docs
}

// documented adds the documentation of a declaration, and of the fields in it.
func documented(docs map[string]string, pkg string, decl ast.Decl) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		name := d.Name.Name
		if d.Recv != nil {
			name = receiver(d.Recv.List[0].Type) + "." + name
		}
		docs[pkg+"."+name] += d.Doc.Text()
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				docs[pkg+"."+s.Name.Name] += d.Doc.Text() + s.Doc.Text()
				documentedFields(docs, pkg+"."+s.Name.Name, s.Type)
			case *ast.ValueSpec:
				for _, n := range s.Names {
					docs[pkg+"."+n.Name] += d.Doc.Text() + s.Doc.Text()
				}
			}
		}
	}
}

func documentedFields(docs map[string]string, name string, typ ast.Expr) {
	s, ok := typ.(*ast.StructType)
	if !ok {
		return
	}
	for _, f := range s.Fields.List {
		if i := slices.IndexFunc(f.Names, func(n *ast.Ident) bool { return n.IsExported() }); i >= 0 {
			docs[name+"."+f.Names[i].Name] += f.Doc.Text()
		}
	}
}

// receiver returns the name of the type that a method is declared on.
func receiver(typ ast.Expr) string {
	switch x := typ.(type) {
	case *ast.StarExpr:
		return receiver(x.X)
	case *ast.IndexExpr:
		return receiver(x.X)
	case *ast.Ident:
		return x.Name
	}
	return ""
}
