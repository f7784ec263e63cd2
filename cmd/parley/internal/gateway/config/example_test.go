package config

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/parley-mcp/parley/internal/yamljson"
)

// The example can be read as it is, and what it explains can be used: each key with its
// example fits what the key says of itself.
func TestExample(t *testing.T) {
	e, err := NewExample("", outside("", nil))
	if err != nil || len(e.Left)+len(e.Secrets) != 0 {
		t.Fatal(err, e.Left, e.Secrets)
	}
	c, err := parse("g.yaml", e.Text, outside("", nil))
	if err != nil || len(c.Backends) != 1 || c.Backends[0].String() != "parley serve --stdio" {
		t.Fatal(err, c)
	}
	for line := range strings.Lines(string(e.Text)) {
		if len([]rune(line)) > 110 {
			t.Errorf("a long line: %s", line)
		}
	}
	of := new(Config)
	everyKey(t, "", of.keys(), func(path string, k *key) {
		if !regexp.MustCompile(`(?m)^ *(# *)*`+k.name+`:`).Match(e.Text) && k.example == "" {
			t.Errorf("%s is not in the example", path)
		}
		if k.doc == "" || !strings.HasSuffix(k.doc, ".") || k.required && k.value.fallback() == "" && k.example == "" && path != "backends" {
			t.Errorf("%s: its description is incomplete", path)
		}
		sample := k.sample()
		if sample == "" {
			return
		}
		n, err := yamljson.Parse([]byte(sample))
		if err != nil {
			t.Errorf("%s: %s: %v", path, sample, err)
			return
		}
		r := newReader("g.yaml", []byte(sample), outside("", nil))
		r.value(k.value, n, "")
		of.Backends = []*Backend{{Name: "files"}}
		r.finish()
		if len(r.mistakes) > 0 {
			t.Errorf("%s: %s: %v", path, sample, r.mistakes)
		}
	})
}

// everyKey calls each with all keys there are.
func everyKey(t *testing.T, path string, keys []key, each func(path string, k *key)) {
	t.Helper()
	for i := range keys {
		k := &keys[i]
		at := strings.TrimPrefix(path+"."+k.name, ".")
		each(at, k)
		inner, stands := innerOf(k.value)
		if stands != "" {
			at += "." + stands
		}
		everyKey(t, at, inner, each)
	}
}

func TestExampleOfAnotherFile(t *testing.T) {
	dir := t.TempDir()
	from := write(t, dir, "mcp.json", `{"servers": {
  "My Files": {"command": "npx", "args": ["-y", "a b", "yes", "${workspaceFolder}/x"], "cwd": "sub", "envFile": "vars",
    "env": {"A": "${input:key}", "B": "${TOKEN}", "C": "literal: ünïcode \u0007", "D": "${input:level}"}},
  "off": {"command": "x", "disabled": true},
  "bad": {},
  "my-files": {"command": "x"},
  "odd": {"command": "x", "args": ["$${A}"]},
  "odd2": {"command": "x", "args": ["${a-b}", "${x:y}"]},
  "shop": {"url": "https://shop.example/${PATH_OF:-mcp}", "headers": {"Authorization": "Bearer ${env:TOKEN}"}, "revision": "2025-11-25"}
}, "inputs": [{"id": "key"}, {"id": "level", "default": "info"}]}`)
	write(t, dir, "vars", "V=1\n")
	e, err := NewExample(from, outside(dir, nil))
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"my-files.C"}; !slices.Equal(e.Secrets, want) {
		t.Errorf("secrets %q, want %q", e.Secrets, want)
	}
	var left []string
	for _, err := range e.Left {
		left = append(left, strings.TrimPrefix(err.Error(), from))
	}
	if want := []string{
		`:4:10: servers.off: it is disabled`,
		`:5:10: servers.bad: it has neither a url nor a command`,
		`:6:15: servers.my-files: "My Files" is called my-files already: give one of them another name`,
		`:7:36: servers.odd.args[0]: a $ before a reference means something else in the other format`,
		`:8:37: servers.odd2.args[0]: ${a-b} does not name a variable`,
		`:8:47: servers.odd2.args[1]: ${x:y} is no reference that parley knows`,
	}; !slices.Equal(left, want) {
		t.Errorf("left %q\nwant %q", left, want)
	}
	c := read(t, write(t, dir, "g.yaml", string(e.Text)), map[string]string{"TOKEN": "t", "PARLEY_INPUT_KEY": "k"})
	if len(c.Warnings) > 0 || len(c.Backends) != 2 {
		t.Fatalf("%v\n%s", c.Warnings, e.Text)
	}
	to, err := c.Backends[0].Target()
	if err != nil || !slices.Equal(to.Command, []string{"npx", "-y", "a b", "yes", filepath.Join(dir, "x")}) || to.Dir != filepath.Join(dir, "sub") ||
		!slices.Equal(to.Env, []string{"V=1", "A=k", "B=t", "C=literal: ünïcode \a", "D=info"}) {
		t.Errorf("%+v, %v", to, err)
	}
	if to, err = c.Backends[1].Target(); err != nil || to.URL != "https://shop.example/mcp" || to.Header.Get("Authorization") != "Bearer t" || to.Revision.String() != "2025-11-25" {
		t.Errorf("%+v, %v", to, err)
	}
	if _, err := NewExample(filepath.Join(dir, "none.json"), outside(dir, nil)); err == nil {
		t.Error("there is no such file")
	}
	e, err = NewExample(write(t, dir, "none.json", `{"mcpServers": {}}`), outside(dir, nil))
	if _, again := parse("g.yaml", e.Text, outside(dir, nil)); err != nil || again != nil {
		t.Error(err, again)
	}
}

// Editors and the program agree about what can be there.
func TestSchema(t *testing.T) {
	raw, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(raw)))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("schema.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	fits := func(file string) error {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		n, err := yamljson.Parse(source)
		if err != nil || n == nil {
			return err
		}
		raw, err := yamljson.Render(n, 0)
		if err != nil {
			return err
		}
		var v any
		if err := json.Unmarshal(raw, &v); err != nil {
			t.Fatal(err)
		}
		return schema.Validate(v)
	}
	valid, _ := filepath.Glob("testdata/valid/*.yaml")
	for _, file := range valid {
		if err := fits(file); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		if _, err := Read(file, outside("", nil)); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"keys", "values", "auth", "aliases", "list"} {
		if err := fits("testdata/mistakes/" + name + ".yaml"); err == nil {
			t.Errorf("%s fits the schema", name)
		}
	}
}
