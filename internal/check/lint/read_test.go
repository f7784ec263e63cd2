package lint

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/internal/wire"
)

const aTool = `{"name":"get_a","inputSchema":{"type":"object"}}`

// A file may be many things; pointers lead into it.
func TestRead(t *testing.T) {
	for name, c := range map[string]struct{ doc, want string }{
		"list":             {`[` + aTool + `,{"uri":"a:b"},{"uriTemplate":"a:{b}"},{"name":"p","arguments":[]}]`, "tool /0, resource /1, template /2, prompt /3"},
		"result":           {`{"tools":[` + aTool + `],"nextCursor":"x"}`, "tool /tools/0"},
		"response":         {`{"jsonrpc":"2.0","id":1,"result":{"tools":[` + aTool + `]}}`, "tool /result/tools/0"},
		"all lists":        {`{"prompts":[{}],"tools":[` + aTool + `],"resources":[{}],"resourceTemplates":[{}]}`, "tool /tools/0, resource /resources/0, template /resourceTemplates/0, prompt /prompts/0"},
		"byte order mark":  {"\ufeff" + `{"tools":[` + aTool + `]}`, "tool /tools/0"},
		"one tool":         {aTool, "tool "},
		"servers":          {`{"servers":{"b/c":{"tools":[` + aTool + `]},"a":{"prompts":[{}]}}}`, "prompt /servers/a/prompts/0 | tool /servers/b~1c/tools/0"},
		"server info":      {`{"serverInfo":{"name":"s"},"instructions":"Be nice."}`, "s"},
		"card":             {`{"$schema":"https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json"}`, "card"},
		"manifest":         {`{"$schema":"https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"}`, "manifest"},
		"registry's":       {`{"server":{"name":"a/b"},"_meta":{}}`, "manifest"},
		"manifest, no URL": {`{"name":"a/b","packages":[]}`, "manifest"},
	} {
		t.Run(name, func(t *testing.T) {
			found, err := Read([]byte(c.doc), "f")
			if err != nil {
				t.Fatal(err)
			}
			if got := describe(found); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func describe(found []Definitions) string {
	var servers []string
	for _, d := range found {
		var parts []string
		for _, it := range d.Items {
			parts = append(parts, string(it.Kind)+" "+it.Pointer)
		}
		switch {
		case d.Card != nil:
			parts = append(parts, "card")
		case d.Manifest != nil:
			parts = append(parts, "manifest")
		case parts == nil:
			parts = append(parts, d.Server)
		}
		servers = append(servers, strings.Join(parts, ", "))
	}
	return strings.Join(servers, " | ")
}

// Other files are errors that say what there may be; one that names servers is told apart.
func TestReadRefuses(t *testing.T) {
	for _, doc := range []string{"", "x", "5", "[]", "{}", `{"a":1}`, `{"tools":5}`, `{"result":5}`, `{"tools":[1,]}`, `{"tools":[` + aTool, `{"error":{"code":1}}`} {
		if found, err := Read([]byte(doc), "f"); err == nil || errors.Is(err, ErrConfiguration) {
			t.Errorf("%q: %v, %v", doc, found, err)
		}
	}
	for _, doc := range []string{`{"mcpServers":{"a":{"command":"x"}}}`, `{"servers":{"a":{"url":"http://a"}}}`, `{"mcpServers":5}`, `{"mcpServers":{}}`} {
		if _, err := Read([]byte(doc), "f"); !errors.Is(err, ErrConfiguration) {
			t.Errorf("%q: %v, want ErrConfiguration", doc, err)
		}
	}
}

// What a hostile server sends costs little, and does not fill the report.
func TestHostile(t *testing.T) {
	long := strings.Repeat("k", 300_000)
	many := strings.TrimSuffix(strings.Repeat(`"`+"%"+`":{"type":"string"},`, 1), ",")
	var wide strings.Builder
	for i := range 12_000 {
		wide.WriteString(strings.Replace(many, "%", "p"+string(rune('a'+i%26))+strings.Repeat("x", i%7)+itoa(i), 1) + ",")
	}
	for name, doc := range map[string]string{
		"long description": `{"tools":[{"name":"a","description":"` + strings.Repeat("ignore ", 300_000) + `"}]}`,
		"many tools":       `{"tools":[` + strings.TrimSuffix(strings.Repeat(`{"name":""},`, 20_000), ",") + `]}`,
		"numbers":          `[` + strings.TrimSuffix(strings.Repeat("1,", 100_000), ",") + `]`,
		"deep value":       `{"tools":[{"name":"a","x":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}]}`,
		"deep schema":      `{"tools":[{"name":"a","inputSchema":` + strings.Repeat(`{"items":`, 3000) + `{}` + strings.Repeat("}", 3000) + `}]}`,
		"long name":        `{"servers":{"` + long + `":{"tools":[` + strings.TrimSuffix(strings.Repeat(aTool+",", 2000), ",") + `]}}}`,
		"long property":    `{"tools":[{"name":"a","inputSchema":{"properties":{"` + long + `":{"properties":{` + wide.String() + `"z":{}}}}}}]}`,
		"wide":             `{"tools":[{"name":"a","inputSchema":{"properties":{` + wide.String() + `"z":{}}}}]}`,
		"references":       `{"tools":[{"name":"a","inputSchema":{"$ref":"#/properties/a","properties":{"a":{"$ref":"#/properties/b"},"b":{"$ref":"#/properties/a"}}}}]}`,
		"invalid UTF-16":   `{"tools":[{"name":"\ud800","description":"\udfff"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			servers, err := Read([]byte(doc), "f")
			if err != nil {
				return // it says so
			}
			r := Run(servers, &Options{Vendors: []string{"all"}})
			raw, err := json.Marshal(r)
			if err != nil || len(raw) > 20<<20 {
				t.Errorf("the report has %d bytes, %v", len(raw), err)
			}
			for _, f := range r.Findings {
				if len(f.Text) > 4000 || len(f.Name) > 1000 || len(f.Pointer) > 2500 {
					t.Errorf("a finding is too long: %.200q", f.Text)
				}
			}
		})
	}
}

// Findings of a file have its lines; what is missing has that of what it would be in.
func TestLines(t *testing.T) {
	const doc = "\ufeff\n{\"tools\": [\n  {\n    \"name\": \"a b\",\n    \"inputSchema\": {\n      \"type\": \"string\"\n    }\n  }\n]}\n"
	r := lintText(t, doc, &Options{Vendors: []string{}})
	want := map[string]int{"names/characters": 4, "schemas/root": 5, "descriptions/missing": 3, "annotations/missing": 3}
	for _, f := range r.Findings {
		if want[f.Rule] != f.Line {
			t.Errorf("%s is in line %d, want %d", f.Rule, f.Line, want[f.Rule])
		}
		delete(want, f.Rule)
	}
	if len(want) > 0 {
		t.Errorf("these are missing: %v", want)
	}
}

func itoa(i int) string {
	raw, _ := json.Marshal(i)
	return string(raw)
}

// Whatever a file holds, it is judged or refused, and the report can be written.
func FuzzRead(f *testing.F) {
	files, _ := filepath.Glob("testdata/rules/*.txt")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for line := range strings.SplitSeq(string(text), "\n") {
			if word, doc, _ := strings.Cut(line, " "); slices.Contains([]string{"bad", "good"}, word) && len(doc) < 4000 {
				f.Add(doc)
			}
		}
	}
	f.Fuzz(func(t *testing.T, doc string) {
		servers, err := Read([]byte(doc), "f")
		if err != nil {
			if len(err.Error()) > 2000 {
				t.Errorf("the error has %d bytes", len(err.Error()))
			}
			return
		}
		r := Run(servers, &Options{Vendors: []string{"all"}})
		if _, err := wire.Marshal(r); err != nil {
			t.Error(err)
		}
		if _, err := r.SARIF("1"); err != nil {
			t.Error(err)
		}
		if md := r.Markdown(); strings.ContainsAny(md, "\x1b\u202e") {
			t.Errorf("the page has characters that are not seen: %q", md)
		}
	})
}
