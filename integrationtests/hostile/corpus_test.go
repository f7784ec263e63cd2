package hostile_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// entry is one case of the corpus; see doc.go for its fields.
type entry struct {
	file   string
	name   string
	fields map[string][]string
}

// load reads the cases of the files in a directory.
func load(t *testing.T, dir string) (files map[string][]*entry) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join("testdata", dir, "*.txt"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no corpus in %q: %v", dir, err)
	}
	files = map[string][]*entry{}
	for _, name := range names {
		class := strings.TrimSuffix(filepath.Base(name), ".txt")
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files[class] = parse(t, class, string(text))
	}
	return files
}

func parse(t *testing.T, file, text string) (list []*entry) {
	t.Helper()
	var e *entry
	var key string
	for i, line := range strings.Split(text, "\n") {
		name, isCase := strings.CutPrefix(line, "== ")
		more, goesOn := strings.CutPrefix(line, "\t")
		k, value, isField := strings.Cut(line, ":")
		switch {
		case isCase:
			e = &entry{file: file, name: name, fields: map[string][]string{}}
			list = append(list, e)
		case line == "" || line[0] == '#':
		case e == nil || !goesOn && !isField || goesOn && key == "":
			t.Fatalf("%s.txt:%d: not understood: %s", file, i+1, line)
		case goesOn:
			values := e.fields[key]
			values[len(values)-1] += "\n" + more
		default:
			key = k
			e.fields[key] = append(e.fields[key], strings.TrimPrefix(value, " "))
		}
	}
	return list
}

// route is a way to the peer. What a case says about the transport like also
// applies to this one, unless the case names this one: for servers HTTP+SSE is
// like HTTP; for clients, which read one stream, it is like stdio.
type route struct{ transport, era, like string }

func (r route) String() string { return r.transport + "/" + r.era }

var (
	toBoth = []route{
		{transport: "stdio", era: "stateless"},
		{transport: "stdio", era: "session"},
		{transport: "http", era: "stateless"},
		{transport: "http", era: "session"},
	}
	toServers = append(slices.Clone(toBoth), route{"sse", "session", "http"})
	toClients = append(slices.Clone(toBoth), route{"sse", "session", "stdio"})
)

// all returns the values of a key: the most specific key wins.
func (e *entry) all(key string, r route) []string {
	places := []string{r.transport + "/" + r.era, r.era, r.transport}
	if r.like != "" {
		places = []string{r.transport, r.like + "/" + r.era, r.era, r.like}
	}
	for _, place := range places {
		if v, ok := e.fields[key+"/"+place]; ok {
			return v
		}
	}
	return e.fields[key]
}

// one returns the only value of a key, or "".
func (e *entry) one(key string, r route) string {
	if v := e.all(key, r); len(v) > 0 {
		return v[0]
	}
	return ""
}

// goes reports whether a case is sent over a route.
func (e *entry) goes(r route) bool {
	words := strings.Fields(strings.Join(e.fields["on"], " "))
	return among(words, r.transport, "stdio", "http", "sse") && among(words, r.era, "stateless", "session")
}

// among reports whether own is among those words that are of a kind; if there
// are none, it is.
func among(words []string, own string, kind ...string) bool {
	others := func(word string) bool { return slices.Contains(kind, word) }
	return slices.Contains(words, own) || !slices.ContainsFunc(words, others)
}
