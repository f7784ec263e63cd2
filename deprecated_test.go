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
	public := publicNames(t)
	for name, types := range public.types {
		if i := slices.IndexFunc(types, func(typ string) bool { return listed[typ] }); i >= 0 && !listed[name] && !exempt(name) {
			t.Errorf("docs/deprecated.md lists %s, but not %s, which has it in its type", types[i], name)
		}
	}
	for name, doc := range public.docs {
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

// exempt reports whether a name need not be in the table for what is in its type. Of the
// words of package mcp, the table has those that a program begins with; package mcptest
// tests handlers that are there already.
func exempt(name string) bool {
	return strings.HasPrefix(name, "mcp.") || strings.HasPrefix(name, "mcptest.")
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

// names is what public packages have: names as users write them, and packages by their
// paths.
type names struct {
	docs map[string]string
	// types are the types that the signature of a function, or the type of a field or of
	// a function type, is made of.
	types map[string][]string
}

func publicNames(t *testing.T) names {
	t.Helper()
	n := names{docs: map[string]string{}, types: map[string][]string{}}
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
		n.docs[folder] += file.Doc.Text()
		for _, decl := range file.Decls {
			n.declared(file.Name.Name, decl)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// declared adds a declaration, and the fields in it.
func (n *names) declared(pkg string, decl ast.Decl) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		name := d.Name.Name
		if d.Recv != nil {
			name = receiver(d.Recv.List[0].Type) + "." + name
		}
		n.docs[pkg+"."+name] += d.Doc.Text()
		n.madeOf(pkg, name, d.Type)
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				n.docs[pkg+"."+s.Name.Name] += d.Doc.Text() + s.Doc.Text()
				if _, isFunc := s.Type.(*ast.FuncType); isFunc {
					n.madeOf(pkg, s.Name.Name, s.Type)
				}
				n.fields(pkg, s.Name.Name, s.Type)
			case *ast.ValueSpec:
				for _, id := range s.Names {
					n.docs[pkg+"."+id.Name] += d.Doc.Text() + s.Doc.Text()
				}
			}
		}
	}
}

func (n *names) fields(pkg, name string, typ ast.Expr) {
	s, ok := typ.(*ast.StructType)
	if !ok {
		return
	}
	for _, f := range s.Fields.List {
		for _, id := range f.Names {
			if id.IsExported() {
				field := name + "." + id.Name
				n.docs[pkg+"."+field] += f.Doc.Text()
				n.madeOf(pkg, field, f.Type)
			}
		}
	}
}

// madeOf adds the types that typ is made of, if users can name what has it.
func (n *names) madeOf(pkg, name string, typ ast.Expr) {
	for part := range strings.SplitSeq(name, ".") {
		if !ast.IsExported(part) {
			return
		}
	}
	ast.Inspect(typ, func(node ast.Node) bool {
		switch x := node.(type) {
		case *ast.SelectorExpr:
			if of, ok := x.X.(*ast.Ident); ok {
				n.types[pkg+"."+name] = append(n.types[pkg+"."+name], of.Name+"."+x.Sel.Name)
			}
			return false
		case *ast.Ident:
			n.types[pkg+"."+name] = append(n.types[pkg+"."+name], pkg+"."+x.Name)
		}
		return true
	})
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
