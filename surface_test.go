package parley_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// private are the folders whose packages nobody outside of this module imports:
// programs, and tests that drive everything.
var private = []string{"cmd", "conformance", "examples", "integrationtests", "interop", "internal"}

// TestNothingInternalInPublic checks that public packages only use types that
// their users can name: no exported function, method, field, constant or
// variable may mention a type of a package below internal.
func TestNothingInternalInPublic(t *testing.T) {
	for _, pkg := range publicPackages(t) {
		for _, leak := range leaks(pkg) {
			t.Errorf("%s, which users cannot name: hide it behind a function in internal/access", leak)
		}
	}
}

// TestOptionsArePointers checks that all functions take their options in one
// way: by pointer, where nil means the defaults.
func TestOptionsArePointers(t *testing.T) {
	found := 0
	for _, pkg := range publicPackages(t) {
		for _, name := range pkg.Scope().Names() {
			f, ok := pkg.Scope().Lookup(name).(*types.Func)
			if !ok || !f.Exported() {
				continue
			}
			for param := range f.Signature().Params().Variables() {
				typ, pointer := types.Unalias(param.Type()).(*types.Pointer)
				if pointer && isOptions(typ.Elem()) {
					found++
				}
				if isOptions(param.Type()) {
					t.Errorf("%s.%s takes %s by value, want a pointer", pkg.Path(), name, param.Type())
				}
			}
		}
	}
	if found == 0 {
		t.Error("no function takes options: nothing was checked")
	}
}

func isOptions(typ types.Type) bool {
	named, ok := types.Unalias(typ).(*types.Named)
	return ok && strings.HasSuffix(named.Obj().Name(), "Options")
}

// TestLeaksAreFound plants a mention of an internal type in every place where
// an exported name can have one.
func TestLeaksAreFound(t *testing.T) {
	const planted = `package planted

import "example.com/planted/internal/hidden"

var Variable hidden.T
var Inferred = hidden.New()
const Constant = hidden.Number
func Parameter(map[string][]*hidden.T) {}
func Result() (chan hidden.T, error) { return nil, nil }
func Function(func(...hidden.T)) {}
func Constraint[P hidden.I]() {}
func Argument(Generic[hidden.T]) {}
type Alias = hidden.T
type Pointer *hidden.T
type Generic[P any] struct{}
type Bounded[P hidden.I] struct{}
type Fields struct { Field hidden.T; *hidden.T; kept hidden.T }
func (Fields) Method(hidden.T) {}
func (Fields) method(hidden.T) {}
type Behind struct { Field unexported }
type unexported struct { Deep [2]hidden.T; kept hidden.T }
type Embeds struct { promoted }
type promoted struct{}
func (promoted) Promoted() hidden.T { return hidden.T{} }
type Interface interface { Asks(hidden.T); hidden.I }
type Union interface { ~int | hidden.Number32 }

func Fine(*Fields, error, Generic[int]) {}
func kept(hidden.T) {}
`
	want := []string{
		"Alias", "Argument", "Behind.Field.Deep", "Bounded[P]", "Constant", "Constraint[P]", "Embeds.promoted.Promoted",
		"Fields.Field", "Fields.Method", "Fields.T", "Function", "Inferred", "Interface embeds", "Interface.Asks",
		"Parameter", "Pointer", "Result", "Union embeds", "Variable",
	}
	hidden := check(t, nil, "example.com/planted/internal/hidden", `package hidden
type T struct{ Kept int }
type I interface{ Do() }
type N int
type Number32 int32
const Number N = 1
func New() T { return T{} }
`)
	pkg := check(t, hidden, "example.com/planted", planted)
	var got []string
	for _, leak := range leaks(pkg) {
		name, _, _ := strings.Cut(strings.TrimPrefix(leak, "example.com/planted."), " mentions ")
		got = append(got, name)
	}
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("found\n%q, want\n%q", got, want)
	}
}

// check compiles a package of one file, which may import hidden.
func check(t *testing.T, hidden *types.Package, path, source string) *types.Package {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path+".go", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	config := types.Config{Importer: importing(func(string) (*types.Package, error) { return hidden, nil })}
	pkg, err := config.Check(path, files, []*ast.File{file}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return pkg
}

type importing func(path string) (*types.Package, error)

func (f importing) Import(path string) (*types.Package, error) { return f(path) }

// publicPackages returns the packages that users of this module import, as
// the compiler's export data has them.
func publicPackages(t *testing.T) []*types.Package {
	t.Helper()
	exports := exportData(t)
	load := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		if exports[path] == "" {
			return nil, fmt.Errorf("go list names no export data of %s", path)
		}
		return os.Open(exports[path])
	})
	var public []*types.Package
	for path := range exports {
		if !isPublic(path) {
			continue
		}
		pkg, err := load.Import(path)
		if err != nil {
			t.Fatal(err)
		}
		public = append(public, pkg)
	}
	if len(public) == 0 {
		t.Fatal("go list names no public packages")
	}
	return public
}

// exportData returns the files that hold the export data of packages.
func exportData(t *testing.T) map[string]string {
	t.Helper()
	var stderr bytes.Buffer
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "-export", "-f", "{{.ImportPath}} {{.Export}}", "./...")
	list.Stderr = &stderr
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, &stderr)
	}
	exports := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		exports[path] = file
	}
	return exports
}

// isPublic reports whether users of the module import a package.
func isPublic(path string) bool {
	folder, ok := strings.CutPrefix(path, module)
	return ok && !isInternal(path) && !slices.ContainsFunc(private, func(p string) bool { return covers(p, folder) })
}

func isInternal(path string) bool { return slices.Contains(strings.Split(path, "/"), "internal") }

// leaks returns the exported names of a package that mention a type of an
// internal package, sorted.
func leaks(pkg *types.Package) []string {
	s := surface{pkg: pkg, walked: map[types.Type]bool{}}
	for _, name := range pkg.Scope().Names() {
		object := pkg.Scope().Lookup(name)
		if !object.Exported() {
			continue
		}
		where := pkg.Path() + "." + name
		if declared, ok := object.(*types.TypeName); ok {
			s.declaration(where, declared)
		} else {
			s.mention(where, object.Type())
		}
	}
	slices.Sort(s.found)
	return slices.Compact(s.found)
}

// surface walks what users of a package can see of it.
type surface struct {
	pkg    *types.Package
	walked map[types.Type]bool
	found  []string
}

// declaration looks into a type that is declared in the package.
func (s *surface) declaration(where string, name *types.TypeName) {
	named, ok := name.Type().(*types.Named)
	if !ok || name.IsAlias() {
		s.mention(where, types.Unalias(name.Type()))
		return
	}
	if s.walked[named] {
		return
	}
	s.walked[named] = true
	s.parameters(where, named.TypeParams())
	for method := range named.Methods() {
		if method.Exported() {
			s.mention(where+"."+method.Name(), method.Type())
		}
	}
	s.literal(where, named.Underlying())
}

// literal looks into the structure of a type: a struct's or an interface's
// members are names of their own.
func (s *surface) literal(where string, typ types.Type) {
	switch typ := typ.(type) {
	case *types.Struct:
		for field := range typ.Fields() {
			if field.Exported() || field.Embedded() {
				s.mention(where+"."+field.Name(), field.Type())
			}
		}
	case *types.Interface:
		for method := range typ.ExplicitMethods() {
			if method.Exported() {
				s.mention(where+"."+method.Name(), method.Type())
			}
		}
		for embedded := range typ.EmbeddedTypes() {
			s.mention(where+" embeds", embedded)
		}
	default:
		s.mention(where, typ)
	}
}

func (s *surface) parameters(where string, list *types.TypeParamList) {
	for p := range list.TypeParams() {
		s.mention(fmt.Sprintf("%s[%s]", where, p.Obj().Name()), p.Constraint())
	}
}

// mention looks at a type that is used in a declaration. A named type of the
// package itself counts as seen through: an unexported one by what it lets
// users reach.
func (s *surface) mention(where string, typ types.Type) {
	switch typ := typ.(type) {
	case *types.Alias:
		s.mention(where, types.Unalias(typ))
	case *types.Named:
		s.named(where, typ)
	case *types.Signature:
		s.parameters(where, typ.TypeParams())
		for v := range typ.Params().Variables() {
			s.mention(where, v.Type())
		}
		for v := range typ.Results().Variables() {
			s.mention(where, v.Type())
		}
	case *types.Map:
		s.mention(where, typ.Key())
		s.mention(where, typ.Elem())
	case interface{ Elem() types.Type }: // pointers, slices, arrays, channels
		s.mention(where, typ.Elem())
	case *types.Union:
		for term := range typ.Terms() {
			s.mention(where, term.Type())
		}
	case *types.Struct, *types.Interface:
		s.literal(where, typ)
	}
}

func (s *surface) named(where string, typ *types.Named) {
	for argument := range typ.TypeArgs().Types() {
		s.mention(where, argument)
	}
	object := typ.Origin().Obj()
	switch {
	case object.Pkg() == nil: // error and comparable
	case isInternal(object.Pkg().Path()) && !isStandard(object.Pkg().Path()):
		s.found = append(s.found, where+" mentions "+types.TypeString(typ, nil))
	case object.Pkg() == s.pkg && !object.Exported():
		s.declaration(where, object)
	}
}

// isStandard reports whether a package belongs to the standard library, which
// lets its users reach internal types by public names.
func isStandard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".")
}
