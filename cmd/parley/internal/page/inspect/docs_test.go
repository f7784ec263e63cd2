package inspect

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The tables of docs/page-api.md have each route of the page and of the console, and none
// that there is not.
func TestDocsHaveTheRoutes(t *testing.T) {
	page, err := os.ReadFile("../../../../../docs/page-api.md")
	if err != nil {
		t.Fatal(err)
	}
	ofPage, ofConsole, ok := strings.Cut(string(page), "\n## The console of a gateway\n")
	if !ok {
		t.Fatal("docs/page-api.md has no section about the console")
	}
	for of, routes := range map[string][2]map[string]bool{
		"the page":    {registered(t, "."), documented(t, ofPage)},
		"the console": {registered(t, "../console"), documented(t, ofConsole)},
	} {
		there, told := routes[0], routes[1]
		delete(told, "GET /events") // of package web, which both have
		delete(told, "GET /")       // also where a code is used up, which is no route of the API
		delete(there, "GET /")
		if len(there) < 10 {
			t.Errorf("%s has only the routes %q: they were not found", of, slices.Sorted(maps.Keys(there)))
		}
		for route := range there {
			if !told[route] {
				t.Errorf("%s has %s, which docs/page-api.md does not tell", of, route)
			}
		}
		for route := range told {
			if !there[route] {
				t.Errorf("docs/page-api.md tells %s, which %s does not have", route, of)
			}
		}
	}
}

var (
	pattern  = regexp.MustCompile(`^(GET|POST|PUT|DELETE) (/\S*)$`)
	code     = regexp.MustCompile("`([^`]+)`")
	wildcard = regexp.MustCompile(`\{[^}]*\}`)
)

// registered returns the patterns of routes in the sources of a package: each text that has
// the form of one.
func registered(t *testing.T, dir string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	routes := map[string]bool{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if text, err := strconv.Unquote(lit.Value); err == nil && pattern.MatchString(text) {
					routes[wildcard.ReplaceAllString(text, "{}")] = true
				}
			}
			return true
		})
	}
	return routes
}

// documented returns the routes in the first columns of tables. There several methods share
// a path, "…" stands for the path before without its last part, and what follows "?" are
// parameters.
func documented(t *testing.T, page string) map[string]bool {
	t.Helper()
	routes := map[string]bool{}
	for line := range strings.Lines(page) {
		row, ok := strings.CutPrefix(line, "| ")
		if !ok {
			continue
		}
		column, _, _ := strings.Cut(row, " |")
		var methods []string
		method, path := "", ""
		for _, found := range code.FindAllStringSubmatch(column, -1) {
			text, _, _ := strings.Cut(wildcard.ReplaceAllString(found[1], "{}"), "?")
			if slices.Contains([]string{"GET", "POST", "PUT", "DELETE"}, text) {
				methods = append(methods, text)
				continue
			}
			if end, short := strings.CutPrefix(text, "…/"); short && path != "" {
				text = method + " " + path[:strings.LastIndex(path, "/")+1] + end
			}
			parts := pattern.FindStringSubmatch(text)
			if parts == nil {
				continue
			}
			method, path = parts[1], parts[2]
			for _, m := range append(methods, method) {
				routes[m+" "+path] = true
			}
			methods = nil
		}
	}
	return routes
}
