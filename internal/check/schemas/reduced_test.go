package schemas

import (
	"bytes"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/parley-mcp/parley/internal/check/specdir"
	"github.com/parley-mcp/parley/mcp"
)

var update = flag.Bool("update", false, "make the reduced schemas from the published ones")

// The embedded schemas are the published ones, without words, and mended. With
// -update they are made again.
func TestReduced(t *testing.T) {
	dir := specdir.Of(t)
	for _, r := range mcp.Revisions() {
		revision := r.String()
		published, err := os.ReadFile(filepath.Join(dir, revision, "schema.json"))
		if err != nil {
			t.Fatal(err)
		}
		want := reduced(t, published)
		file := filepath.Join("data", revision+".json")
		if *update {
			if err := os.WriteFile(file, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what the published schema is without its words (%v); run the test with -update", file, err)
		}
	}
}

// The keywords of the published schemas: what is kept, and what is words.
var (
	structure = []string{
		"$schema", "$defs", "definitions", "$ref", "type", "properties", "required", "additionalProperties", "items", "maxItems",
		"enum", "const", "format", "minimum", "maximum", "anyOf", "allOf",
	}
	words = []string{"description", "title", "examples", "default"}
)

// reduced has one line for each definition.
func reduced(t *testing.T, published []byte) []byte {
	t.Helper()
	var doc map[string]any
	dec := json.NewDecoder(bytes.NewReader(published))
	dec.UseNumber()
	if err := dec.Decode(&doc); err != nil {
		t.Fatal(err)
	}
	keyword := "$defs"
	if doc[keyword] == nil {
		keyword = "definitions"
	}
	doc = strip(t, doc)
	defs := doc[keyword].(map[string]any)
	mend(defs)
	delete(doc, keyword)
	var out bytes.Buffer
	out.WriteByte('{')
	for _, name := range slices.Sorted(maps.Keys(doc)) {
		out.WriteString(text(t, name) + ":" + text(t, doc[name]) + ",")
	}
	out.WriteString(text(t, keyword) + ":{")
	for i, name := range slices.Sorted(maps.Keys(defs)) {
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteString("\n" + text(t, name) + ":" + text(t, defs[name]))
	}
	out.WriteString("\n}}\n")
	return out.Bytes()
}

// strip removes the words of a schema and of those in it.
func strip(t *testing.T, schema map[string]any) map[string]any {
	t.Helper()
	kept := map[string]any{}
	for keyword, v := range schema {
		switch {
		case slices.Contains(words, keyword):
			continue
		case !slices.Contains(structure, keyword):
			t.Errorf("keyword %q is new: the texts of violations have to know it", keyword)
		}
		switch v := v.(type) {
		case map[string]any:
			if keyword == "properties" || keyword == "$defs" || keyword == "definitions" {
				named := map[string]any{}
				for name, s := range v {
					named[name] = strip(t, s.(map[string]any))
				}
				kept[keyword] = named
				continue
			}
			kept[keyword] = strip(t, v)
		case []any:
			kept[keyword] = v
			if keyword == "anyOf" || keyword == "allOf" {
				var all []any
				for _, s := range v {
					all = append(all, strip(t, s.(map[string]any)))
				}
				kept[keyword] = all
			}
		default:
			kept[keyword] = v
		}
	}
	return kept
}

// mend corrects what the generator of the published schemas made of "number",
// which the pages mean, and of null: an answer to a form may be 1.5, and a JSON
// value anything.
//
// Spec: 2025-06-18 client/elicitation#requested-schema.
func mend(defs map[string]any) {
	if def, ok := defs["ElicitResult"].(map[string]any); ok {
		replaceTypes(def, []any{"string", "integer", "boolean"}, []any{"string", "number", "boolean"})
	}
	if def, ok := defs["JSONValue"].(map[string]any); ok {
		replaceTypes(def, []any{"string", "integer", "boolean"}, []any{"string", "number", "boolean", "null"})
	}
}

func replaceTypes(v any, old, types []any) {
	switch v := v.(type) {
	case map[string]any:
		if list, ok := v["type"].([]any); ok && slices.Equal(list, old) {
			v["type"] = types
		}
		for _, member := range v {
			replaceTypes(member, old, types)
		}
	case []any:
		for _, item := range v {
			replaceTypes(item, old, types)
		}
	}
}

func text(t *testing.T, v any) string {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return string(bytes.TrimSpace(b.Bytes()))
}
