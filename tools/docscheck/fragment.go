package main

import (
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"slices"
	"strings"
)

// A source is a Go block as a file: whole, or in the function that its directive
// names, with the imports that it uses.
type source struct {
	pkg    string
	text   string
	runs   bool // main calls the function
	isTest bool
}

// known maps names of packages to their paths.
type known map[string]string

// others are the packages that fragments use besides those of the SDK.
var others = known{
	"atomic": "sync/atomic", "bytes": "bytes", "context": "context", "embed": "embed", "errors": "errors", "exec": "os/exec",
	"filepath": "path/filepath", "fmt": "fmt", "fs": "io/fs", "http": "net/http", "httptest": "net/http/httptest", "io": "io", "iter": "iter",
	"json": "encoding/json", "log": "log", "maps": "maps", "net": "net", "os": "os", "rand": "crypto/rand", "signal": "os/signal", "slices": "slices",
	"slog": "log/slog", "strconv": "strconv", "strings": "strings", "sync": "sync", "synctest": "testing/synctest", "syscall": "syscall",
	"otlptracehttp": "go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp", "sdktrace": "go.opentelemetry.io/otel/sdk/trace",
	"testing": "testing", "time": "time", "tls": "crypto/tls", "url": "net/url",
}

// makeSource makes a file of a block. at is the page, for the positions in errors.
func makeSource(b *block, at string, packages known, pkg string) (*source, error) {
	if strings.HasPrefix(strings.TrimLeft(b.text, "\n"), "package ") || strings.Contains(b.text, "\npackage ") {
		return whole(b, at)
	}
	in, inside := b.has("in")
	_, run := b.has("run")
	var file strings.Builder
	decls, body := "", b.text
	if with, ok := b.has("with"); ok {
		decls = with.body
	}
	if inside {
		decls += in.body
		stmts, err := ending(in.arg, body, run)
		if err != nil {
			return nil, err
		}
		name := "_"
		if run {
			name = "fragment"
		}
		signature := strings.TrimSpace(strings.TrimPrefix(in.arg, "func"))
		body = fmt.Sprintf("func %s%s {\n//line %s:%d\n%s%s\n}\n", name, signature, at, b.line, b.text, stmts)
	} else {
		body = fmt.Sprintf("//line %s:%d\n%s", at, b.line, body)
	}
	if run {
		pkg = "main"
		decls += "func main() {\n\tif err := fragment(context.Background()); err != nil {\n\t\tpanic(err)\n\t}\n}\n"
	}
	if b.lang == "go" && !inside {
		if err := formatted(b.text); err != nil {
			return nil, err
		}
	}
	imports, err := importsOf("package p\n"+decls+"\n"+body, packages)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(&file, "package %s\n\nimport (\n", pkg)
	for _, line := range imports {
		fmt.Fprintf(&file, "\t%s\n", line)
	}
	fmt.Fprintf(&file, ")\n\n%s\n%s", decls, body)
	_, test := b.has("test")
	return &source{pkg: pkg, text: file.String(), runs: run, isTest: test || slices.Contains(imports, `testing "testing"`) && strings.Contains(body, "func Test")}, nil
}

func whole(b *block, at string) (*source, error) {
	f, err := parser.ParseFile(token.NewFileSet(), at, b.text, parser.ImportsOnly)
	if err != nil {
		return nil, err
	}
	if err := formatted(b.text); err != nil {
		return nil, err
	}
	_, test := b.has("test")
	_, run := b.has("run")
	return &source{pkg: f.Name.Name, text: fmt.Sprintf("//line %s:%d\n%s", at, b.line, b.text), runs: run, isTest: test}, nil
}

func formatted(text string) error {
	out, err := format.Source([]byte(text))
	if err != nil {
		return err
	}
	if strings.TrimSpace(string(out)) != strings.TrimSpace(text) {
		return fmt.Errorf("not as gofmt writes it:\n%s", out)
	}
	return nil
}

// ending returns the statements that end the function around a fragment: what it
// declares for readers counts as used, and it need not return.
func ending(signature, body string, run bool) (string, error) {
	results, err := hasResults(signature)
	if err != nil {
		return "", err
	}
	file, err := parser.ParseFile(token.NewFileSet(), "", "package p\nfunc _() {\n"+body+"\n}", parser.SkipObjectResolution)
	if err != nil {
		return "", err
	}
	if err := formatted(body); err != nil {
		return "", err
	}
	f, ok := file.Decls[0].(*ast.FuncDecl)
	if !ok {
		return "", fmt.Errorf("not statements")
	}
	var names []string
	for _, s := range f.Body.List {
		names = append(names, declared(s)...)
	}
	var end strings.Builder
	slices.Sort(names)
	for _, n := range slices.Compact(names) {
		fmt.Fprintf(&end, "_ = &%s\n", n)
	}
	switch {
	case results && run:
		end.WriteString("return nil\n")
	case results:
		end.WriteString("panic(\"the end of the fragment\")\n")
	}
	return end.String(), nil
}

func hasResults(signature string) (bool, error) {
	e, err := parser.ParseExpr(signature)
	if err != nil {
		return false, fmt.Errorf("%q is not the signature of a function: %w", signature, err)
	}
	f, ok := e.(*ast.FuncType)
	if !ok {
		return false, fmt.Errorf("%q is not the signature of a function", signature)
	}
	return f.Results != nil, nil
}

func declared(s ast.Stmt) []string {
	var names []string
	add := func(e ast.Expr) {
		if id, ok := e.(*ast.Ident); ok && id.Name != "_" {
			names = append(names, id.Name)
		}
	}
	switch s := s.(type) {
	case *ast.AssignStmt:
		if s.Tok == token.DEFINE {
			for _, e := range s.Lhs {
				add(e)
			}
		}
	case *ast.DeclStmt:
		if d, ok := s.Decl.(*ast.GenDecl); ok && d.Tok == token.VAR {
			for _, spec := range d.Specs {
				if v, ok := spec.(*ast.ValueSpec); ok {
					for _, id := range v.Names {
						add(id)
					}
				}
			}
		}
	}
	return names
}

// importsOf returns the imports of a file that has none: names and quoted paths.
func importsOf(text string, packages known) ([]string, error) {
	file, err := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	used, own := map[string]bool{}, map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if id, ok := n.X.(*ast.Ident); ok {
				used[id.Name] = true
			}
		case *ast.FuncType:
			for _, f := range n.Params.List {
				for _, id := range f.Names {
					own[id.Name] = true
				}
			}
		case ast.Stmt:
			for _, name := range declared(n) {
				own[name] = true
			}
		}
		return true
	})
	for _, d := range file.Imports {
		return nil, fmt.Errorf("a fragment imports %s: say package, or leave it out", d.Path.Value)
	}
	var paths []string
	for name := range used {
		path, ok := packages[name]
		if !ok {
			path, ok = others[name]
		}
		if ok && !own[name] {
			paths = append(paths, fmt.Sprintf("%s %q", name, path))
		}
	}
	slices.Sort(paths)
	return paths, nil
}
