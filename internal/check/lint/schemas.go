package lint

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/parley-mcp/parley/internal/schema"
)

// toolSchemas looks at the schemas of a tool.
func (c *checker) toolSchemas(it *item) {
	c.inputSchema(it)
	if out, ok := it.v["outputSchema"]; ok {
		at := pointer(it.Pointer, "outputSchema")
		s, isObject := out.(map[string]any)
		if !isObject {
			c.add(it, "schemas/invalid", at, "the outputSchema is no object")
			return
		}
		if s["type"] != "object" {
			c.add(it, "schemas/output-root", at, "the outputSchema has a root of another type than \"object\"")
		}
		c.valid(it, "outputSchema", survey(s, at))
	}
}

// inputSchema looks at what the parameters may be.
//
// Spec: 2026-07-28 server/tools#tool.
func (c *checker) inputSchema(it *item) {
	at := pointer(it.Pointer, "inputSchema")
	s, ok := it.v["inputSchema"].(map[string]any)
	if !ok {
		c.add(it, "schemas/missing", it.Pointer, "the tool has no inputSchema that is an object")
		return
	}
	if s["type"] != "object" {
		c.add(it, "schemas/root", at, "the root of the inputSchema has the type %s", typeText(s["type"]))
	}
	f := survey(s, at)
	c.valid(it, "inputSchema", f)
	if p := f.places["recursion"]; p != nil {
		c.add(it, "schemas/recursive", p.at, "the inputSchema refers to itself")
	}
	c.parameters(it, f)
	c.vendorSchema(it, f)
	properties, _ := s["properties"].(map[string]any)
	if closed, isBool := s["additionalProperties"].(bool); s["type"] == "object" && len(properties) == 0 && (!isBool || closed) && len(s) <= 3 {
		c.add(it, "schemas/open", at, "the tool has no parameters, and accepts any")
	}
	if names := undescribed(s); len(names) > 0 {
		c.addMore(it, "descriptions/parameter", pointer(at, "properties", names[0]), len(names)-1, "without a description: %s", list(names))
	}
}

func typeText(v any) string {
	raw, err := json.Marshal(v)
	if err != nil || v == nil {
		return "nothing"
	}
	return quoteless(string(raw))
}

// valid checks a schema in its dialect.
//
// Spec: 2026-07-28 basic#json-schema-usage.
func (c *checker) valid(it *item, member string, f *facts) {
	if f.cut {
		c.add(it, "schemas/deep", f.root.at, "the %s is too deep or too large to be looked at whole", member)
		return
	}
	if dialect, ok := f.root.schema["$schema"].(string); ok && !schema.Supported(dialect) {
		c.add(it, "schemas/dialect", pointer(f.root.at, "$schema"), "the %s is written in %s", member, quoted(dialect))
		return
	}
	if f.places["keyword:$id"] == nil && c.external(it, f.root) {
		return
	}
	if _, err := schema.Compile(it.member(member)); err != nil {
		c.add(it, "schemas/invalid", f.root.at, "the %s is not valid: %s", member, quoteless(strings.TrimPrefix(err.Error(), "schema: ")))
	}
}

// external reports references to other documents.
func (c *checker) external(it *item, n node) bool {
	if ref, ok := n.schema["$ref"].(string); ok && !strings.HasPrefix(ref, "#") {
		c.add(it, "schemas/external", pointer(n.at, "$ref"), "it refers to %s", quoted(ref))
		return true
	}
	return slices.ContainsFunc(n.children(), func(child node) bool { return c.external(it, child) })
}

// parameters looks at each object and its properties.
func (c *checker) parameters(it *item, f *facts) {
	var t tally
	var visit func(n node)
	visit = func(n node) {
		if f.cut { // it was said
			return
		}
		c.required(&t, n)
		properties, _ := n.schema["properties"].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(properties)) {
			p, _ := properties[name].(map[string]any)
			at := pointer(n.at, "properties", name)
			if p != nil && untyped(p) {
				t.add("schemas/untyped", at, "the parameter "+quoted(name)+" has no type")
			}
			if v, ok := p["default"]; ok && !fits(v, p) {
				t.add("schemas/default", pointer(at, "default"), "the default of "+quoted(name)+" is not allowed by its schema")
			}
		}
		for _, child := range n.children() {
			visit(child)
		}
	}
	visit(f.root)
	t.report(c, it)
}

// required looks for required properties that are not described or forbidden.
func (c *checker) required(t *tally, n node) {
	properties, _ := n.schema["properties"].(map[string]any)
	list, _ := n.schema["required"].([]any)
	if properties == nil && n.schema["type"] != "object" {
		return // a branch of anyOf may speak of the properties around it
	}
	closed, isBool := n.schema["additionalProperties"].(bool)
	_, patterns := n.schema["patternProperties"]
	for _, v := range list {
		name, ok := v.(string)
		if _, described := properties[name]; described || !ok {
			continue
		}
		if at := pointer(n.at, "required"); isBool && !closed && !patterns {
			t.add("schemas/impossible", at, quoted(name)+" is required and not allowed")
		} else if !patterns {
			t.add("schemas/required", at, quoted(name)+" is required and not among the properties")
		}
	}
}

// fits reports whether a value can be one of a schema, as far as its type and its
// enum say.
func fits(v any, s map[string]any) bool {
	if values, ok := s["enum"].([]any); ok && !slices.ContainsFunc(values, func(e any) bool { return same(e, v) }) {
		return false
	}
	switch types := s["type"].(type) {
	case string:
		return isType(v, types)
	case []any:
		return slices.ContainsFunc(types, func(t any) bool { name, _ := t.(string); return isType(v, name) })
	}
	return true
}

// same compares values that are no lists or objects; others count as the same.
func same(a, b any) bool {
	switch a.(type) {
	case map[string]any, []any:
		return true
	}
	switch b.(type) {
	case map[string]any, []any:
		return false
	}
	return a == b
}

func isType(v any, name string) bool {
	switch x := v.(type) {
	case nil:
		return name == "null"
	case bool:
		return name == "boolean"
	case string:
		return name == "string"
	case float64:
		return name == "number" || name == "integer" && x == float64(int64(x))
	case []any:
		return name == "array"
	case map[string]any:
		return name == "object"
	}
	return true
}

// tally collects what a definition has in several places.
type tally struct {
	seen  map[string]*tallied
	order []string
}

type tallied struct {
	at, text string
	more     int
}

func (t *tally) add(rule, at, text string) {
	if s := t.seen[rule]; s != nil {
		s.more++
		return
	}
	if t.seen == nil {
		t.seen = map[string]*tallied{}
	}
	t.seen[rule] = &tallied{at: at, text: text}
	t.order = append(t.order, rule)
}

func (t *tally) report(c *checker, it *item) {
	for _, rule := range t.order {
		s := t.seen[rule]
		c.addMore(it, rule, s.at, s.more, "%s", s.text)
	}
}
