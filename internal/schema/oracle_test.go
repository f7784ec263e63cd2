package schema

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// TestAgainstLibrary compares verdicts with the compiler's own validator on
// random schemas of every draft.
func TestAgainstLibrary(t *testing.T) {
	g := generator{rand.New(rand.NewPCG(7, 9))}
	compiled, valid := 0, 0
	for range 6_000 {
		root, _ := g.schema(3).(map[string]any)
		if root == nil {
			continue
		}
		root["$schema"] = pick(g, "https://json-schema.org/draft/2020-12/schema", "https://json-schema.org/draft/2019-09/schema",
			"http://json-schema.org/draft-07/schema#", "http://json-schema.org/draft-06/schema#", "http://json-schema.org/draft-04/schema#")
		root["definitions"] = map[string]any{"d": g.schema(2)}
		raw, err := json.Marshal(root)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Compile(raw)
		if err != nil {
			continue // not every keyword fits every draft
		}
		compiled++
		for range 4 {
			doc, err := json.Marshal(g.value(3))
			if err != nil {
				t.Fatal(err)
			}
			v, err := Decode(doc)
			if err != nil {
				t.Fatal(err)
			}
			got, want := s.Validate(doc), compiledRoot(t, s).Validate(v)
			if (got == nil) != (want == nil) {
				t.Fatalf("%s\non %s\n got %v\nwant %v", raw, doc, got, want)
			}
			if want == nil {
				valid++
			}
		}
	}
	if compiled < 1_000 || valid < compiled/2 {
		t.Errorf("only %d schemas and %d valid documents", compiled, valid)
	}
}

type generator struct{ *rand.Rand }

func pick[T any](g generator, choices ...T) T { return choices[g.IntN(len(choices))] }

func (g generator) name() string { return pick(g, "a", "b", "c") }

func (g generator) value(depth int) any {
	n := 7
	if depth == 0 {
		n = 5
	}
	switch g.IntN(n) {
	case 0:
		return nil
	case 1:
		return g.IntN(2) == 0
	case 2:
		return g.IntN(4)
	case 3:
		return pick(g, 1.5, 2.0, 0.5)
	case 4:
		return pick(g, "", "a", "bc", "é")
	case 5:
		arr := []any{}
		for range g.IntN(4) {
			arr = append(arr, g.value(depth-1))
		}
		return arr
	}
	obj := map[string]any{}
	for range g.IntN(4) {
		obj[g.name()] = g.value(depth - 1)
	}
	return obj
}

func (g generator) schema(depth int) any {
	if depth == 0 {
		return pick[any](g, map[string]any{}, map[string]any{"type": "integer"}, map[string]any{"type": "string"}, map[string]any{"minimum": 1})
	}
	s := map[string]any{}
	for range 1 + g.IntN(3) {
		g.keyword(s, depth-1)
	}
	return s
}

func (g generator) keyword(s map[string]any, depth int) {
	one := func() any { return g.schema(depth) }
	list := func() any { return []any{one(), one()} }
	named := func() any { return map[string]any{g.name(): one(), g.name(): one()} }
	switch k := pick(g, "type", "enum", "const", "limits", "ref", "list", "list", "one", "one", "named", "named", "size", "required", "false", "items", "contains", "uneval", "uneval"); k {
	case "type":
		s["type"] = pick[any](g, "object", "array", "integer", []any{"string", "null", "array", "object"})
	case "enum":
		s["enum"] = []any{g.value(1), g.value(1), g.value(0), map[string]any{"a": 1}}
	case "const":
		// Next to a reference, the library applies const even where it must
		// not.
		if s["$ref"] == nil {
			s["const"] = g.value(1)
		}
	case "limits":
		s[pick(g, "minimum", "maximum", "exclusiveMinimum", "multipleOf")] = pick[any](g, 1, 1.5, 2)
	case "ref":
		delete(s, "const")
		s["$ref"] = "#/definitions/d"
	case "list":
		s[pick(g, "allOf", "anyOf", "oneOf")] = list()
	case "one":
		s[pick(g, "not", "if", "then", "else", "additionalProperties", "propertyNames")] = one()
	case "named":
		s[pick(g, "properties", "properties", "patternProperties", "dependentSchemas", "dependencies")] = named()
	case "size":
		s[pick(g, "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties")] = g.IntN(3)
	case "required":
		s["required"] = []any{g.name()}
		s["dependentRequired"] = map[string]any{g.name(): []any{g.name()}}
	case "false":
		s[pick(g, "additionalProperties", "uniqueItems", "additionalItems")] = g.IntN(2) == 0
	case "items":
		s[pick(g, "items", "additionalItems")] = one()
		s[pick(g, "prefixItems", "items")] = list()
	case "contains":
		s["contains"] = one()
		s[pick(g, "minContains", "maxContains")] = g.IntN(3)
	case "uneval":
		s[pick(g, "unevaluatedProperties", "unevaluatedItems")] = pick[any](g, false, one())
	}
}

// compiledRoot returns what the compiler made of s.
func compiledRoot(t *testing.T, s *Schema) *jsonschema.Schema {
	t.Helper()
	c, err := s.full()
	if err != nil {
		t.Fatalf("%s: %v", s.Raw(), err)
	}
	return c.root
}
