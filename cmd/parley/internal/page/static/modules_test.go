package static

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	eager   = regexp.MustCompile(`(?m)^(?:import|export)\s[^;]*?from "([^"]+)";|^import "([^"]+)";`)
	lazy    = regexp.MustCompile(`import\("([^"]+)"\)`)
	preload = regexp.MustCompile(`<link rel="modulepreload" href="([^"]+)">`)
	script  = regexp.MustCompile(`<script type="module" src="([^"]+)"></script>`)
)

// imports are the modules that one imports, by their names in the folder.
func imports(t *testing.T, name string, by *regexp.Regexp) []string {
	t.Helper()
	var found []string
	for _, m := range by.FindAllStringSubmatch(read(t, name), -1) {
		spec := strings.Join(m[1:], "")
		if !strings.HasPrefix(spec, ".") {
			t.Errorf("%s imports %q, which a page without a bundler does not have", name, spec)
			continue
		}
		found = append(found, path.Join(path.Dir(name), spec))
	}
	return found
}

// Every module that is imported is here.
func TestImports(t *testing.T) {
	for _, name := range ours(t) {
		for _, other := range append(imports(t, name, eager), imports(t, name, lazy)...) {
			if _, err := fs.Stat(Files, other); err != nil {
				t.Errorf("%s imports %s, which is not here", name, other)
			}
		}
	}
}

// The pages announce the modules that their first view needs, and no others: the browser would
// find out one after the other.
func TestPreloads(t *testing.T) {
	for html, views := range map[string][]string{"index.html": {"inspect/connect.js", "inspect/overview.js"}, "console.html": nil} {
		text := read(t, html)
		main := script.FindStringSubmatch(text)
		if main == nil {
			t.Fatalf("%s has no module", html)
		}
		want := map[string]bool{}
		var visit func(name string)
		visit = func(name string) {
			if want[name] {
				return
			}
			want[name] = true
			if strings.HasSuffix(name, ".js") {
				for _, other := range imports(t, name, eager) {
					visit(other)
				}
			}
		}
		for _, name := range append([]string{main[1]}, views...) {
			visit(name)
		}
		delete(want, main[1])
		var lines []string
		for name := range want {
			lines = append(lines, fmt.Sprintf(`<link rel="modulepreload" href="%s">`, name))
		}
		slices.Sort(lines)
		var got []string
		for _, m := range preload.FindAllStringSubmatch(text, -1) {
			got = append(got, m[0])
		}
		if !slices.Equal(got, lines) {
			t.Errorf("%s should have these lines:\n%s", html, strings.Join(lines, "\n"))
		}
	}
}
