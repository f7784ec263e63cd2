package static

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// loads is what loads a module later. What is imported by name, the bundler has found.
var loads = regexp.MustCompile(`\bimport\(|\bimport\.meta`)

// What a page needs is packed into one file of each kind, which refers to nothing else.
func TestPack(t *testing.T) {
	for _, page := range []string{Inspect, Console} {
		t.Run(page, func(t *testing.T) {
			packed, err := Pack(page)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for name := range packed {
				names = append(names, name)
			}
			slices.Sort(names)
			if want := []string{"LICENSE-htm", "LICENSE-preact", "icon.svg", "index.html", "page.css", "page.css.map", "page.js", "page.js.map"}; !slices.Equal(names, want) {
				t.Errorf("packed are %q, want %q", names, want)
			}
			if found := loads.Find(packed["page.js"]); found != nil {
				t.Errorf("page.js has %s: it loads more than itself", found)
			}
			if css := string(packed["page.css"]); strings.Contains(css, "@import") || strings.Contains(css, "url(") {
				t.Error("page.css loads more than itself")
			}
			if size := compressed(t, packed["page.js"]) + compressed(t, packed["page.css"]); size > 150<<10 {
				t.Errorf("modules and style sheets take %d bytes compressed", size)
			}
		})
	}
}

func compressed(t *testing.T, plain []byte) int {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(plain); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Len()
}

// Every module and every style sheet is part of a page.
func TestAllIsPacked(t *testing.T) {
	used := map[string]bool{}
	for _, page := range []string{Inspect, Console} {
		packed, err := Pack(page)
		if err != nil {
			t.Fatal(err)
		}
		var about struct {
			Sources        []string `json:"sources"`
			SourcesContent []string `json:"sourcesContent"`
		}
		if err := json.Unmarshal(packed["page.js.map"], &about); err != nil {
			t.Fatal(err)
		}
		for i, source := range about.Sources {
			_, name, _ := strings.Cut(source, ":")
			used[name] = true
			if about.SourcesContent[i] != read(t, name) {
				t.Errorf("the map of %s does not have %s as it was written", page, name)
			}
		}
		for line := range strings.SplitSeq(read(t, page+"/page.css"), "\n") {
			if name, ok := strings.CutPrefix(line, `@import "../`); ok {
				used[strings.TrimSuffix(name, `";`)] = true
			} else if name, ok := strings.CutPrefix(line, `@import "./`); ok {
				used[page+"/"+strings.TrimSuffix(name, `";`)] = true
			}
		}
	}
	for _, name := range sources(t, ".js", ".mjs", ".css") {
		if !used[name] && !strings.HasSuffix(name, "/page.css") && !onlyPasses(t, name) {
			t.Errorf("no page has %s", name)
		}
	}
}

// onlyPasses reports whether a module has nothing of its own: it passes on what others export, so
// that the map of a page does not mention it.
func onlyPasses(t *testing.T, name string) bool {
	t.Helper()
	for line := range strings.SplitSeq(read(t, name), "\n") {
		if line != "" && !strings.HasPrefix(line, "//") && !passes.MatchString(line) {
			return false
		}
	}
	return true
}

var passes = regexp.MustCompile(`^export .* from "[^"]+";$`)
