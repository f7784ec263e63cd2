package lint

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-mcp/parley/internal/jsonptr"
)

// Bounds on one schema; those of package schema are the same.
const (
	maxDepth = 64
	maxNodes = 10_000
	// maxPointer bounds the place of what is looked at within, in bytes: hostile
	// names would make the places many times as long as the schema.
	maxPointer = 1 << 10
)

// node is a schema within a schema.
type node struct {
	schema map[string]any
	at     string // its JSON pointer
	depth  int    // of schemas
	level  int    // of objects: the root is 1
}

// Keywords whose values are schemas, by the form of the value.
var (
	schemaKeywords = []string{"additionalItems", "additionalProperties", "contains", "contentSchema", "else", "if", "items", "not", "propertyNames", "then", "unevaluatedItems", "unevaluatedProperties"}
	listKeywords   = []string{"allOf", "anyOf", "items", "oneOf", "prefixItems"}
	namedKeywords  = []string{"$defs", "definitions", "dependentSchemas", "patternProperties", "properties"}
)

// children are the schemas right within a schema, in a fixed order.
func (n node) children() []node {
	var all []node
	if len(n.at) > maxPointer {
		return nil
	}
	below := func(v any, level int, names ...string) {
		if s, ok := v.(map[string]any); ok {
			all = append(all, node{s, pointer(n.at, names...), n.depth + 1, level})
		}
	}
	for _, k := range schemaKeywords {
		below(n.schema[k], n.level, k)
	}
	for _, k := range listKeywords {
		list, _ := n.schema[k].([]any)
		for i, v := range list {
			below(v, n.level, k, strconv.Itoa(i))
		}
	}
	for _, k := range namedKeywords {
		named, _ := n.schema[k].(map[string]any)
		level := n.level
		if k == "properties" || k == "patternProperties" {
			level++
		}
		for _, name := range slices.Sorted(maps.Keys(named)) {
			below(named[name], level, k, name)
		}
	}
	return all
}

// facts are what was seen in a schema.
type facts struct {
	root node
	// places are where a construct was first seen, and how often.
	places     map[string]*place
	nodes      int
	depth      int // of objects
	properties int
	enums      int // values of enums
	maxItems   int // their sum
	cut        bool
}

type place struct {
	at    string
	count int
}

func (f *facts) mark(construct, at string) {
	if p := f.places[construct]; p != nil {
		p.count++
		return
	}
	f.places[construct] = &place{at, 1}
}

// survey looks at each part of a schema, within bounds.
func survey(schema map[string]any, at string) *facts {
	f := &facts{root: node{schema, at, 1, 1}, places: map[string]*place{}}
	f.visit(f.root)
	for k := range schema {
		f.mark("root-keyword:"+k, at)
	}
	if _, ok := schema["properties"]; !ok {
		f.mark("root-properties", at)
	}
	if !f.cut {
		f.recursion()
	}
	return f
}

func (f *facts) visit(n node) {
	if f.nodes++; f.nodes > maxNodes || n.depth > maxDepth || len(n.at) > maxPointer {
		f.cut = true
		return
	}
	for k := range n.schema {
		f.mark("keyword:"+k, n.at)
	}
	if n.schema["type"] == "object" || n.schema["properties"] != nil {
		f.depth = max(f.depth, n.level)
		f.object(n)
	}
	f.value(n)
	for _, child := range n.children() {
		f.visit(child)
	}
}

// object looks at a schema of objects.
func (f *facts) object(n node) {
	properties, _ := n.schema["properties"].(map[string]any)
	f.properties += len(properties)
	if closed, ok := n.schema["additionalProperties"].(bool); !ok || closed {
		f.mark("open-object", n.at)
	}
	required := map[string]bool{}
	list, _ := n.schema["required"].([]any)
	for _, v := range list {
		name, _ := v.(string)
		required[name] = true
		if _, ok := properties[name]; !ok {
			f.mark("required-undeclared", n.at)
		}
	}
	for name := range properties {
		if !required[name] {
			f.mark("optional", n.at)
		}
	}
}

// value looks at what a schema says of a value.
func (f *facts) value(n node) {
	_, tuple := n.schema["prefixItems"]
	if _, ok := n.schema["items"]; n.schema["type"] == "array" && !ok && !tuple {
		f.mark("array-items", n.at)
	}
	if _, ok := n.schema["type"].([]any); ok {
		f.mark("type-list", n.at)
	}
	if untyped(n.schema) {
		f.mark("untyped", n.at)
	}
	if _, ok := n.schema["$ref"].(string); ok {
		for k := range n.schema {
			if !strings.HasPrefix(k, "$") {
				f.mark("ref-siblings", n.at)
				break
			}
		}
	}
	values, _ := n.schema["enum"].([]any)
	f.enums += len(values)
	for _, v := range values {
		if s, ok := v.(string); !ok {
			f.mark("enum-not-text", n.at)
		} else if s == "" {
			f.mark("enum-empty-text", n.at)
		}
	}
	if most, ok := n.schema["maxItems"].(float64); ok && most > 0 && most < 1e9 {
		f.maxItems += int(most)
	}
}

// untyped reports whether a schema leaves open what type a value has.
func untyped(schema map[string]any) bool {
	for _, k := range []string{"type", "enum", "const", "$ref", "$dynamicRef", "anyOf", "oneOf", "allOf", "not", "if", "properties", "items"} {
		if _, ok := schema[k]; ok {
			return false
		}
	}
	return true
}

// recursion marks a schema that refers to itself.
func (f *facts) recursion() {
	const open, done = 1, 2
	state := map[string]int{}
	var follow func(n node) bool
	follow = func(n node) bool {
		switch {
		case state[n.at] == open:
			return true
		case state[n.at] == done || n.depth > maxDepth || len(state) > maxNodes:
			return false
		}
		state[n.at] = open
		defer func() { state[n.at] = done }()
		next := slices.DeleteFunc(n.children(), func(c node) bool {
			name, _, _ := strings.Cut(strings.TrimPrefix(c.at, n.at+"/"), "/")
			return name == "$defs" || name == "definitions"
		})
		if ref, ok := n.schema["$ref"].(string); ok {
			if target, ok := f.resolve(ref); ok {
				target.depth = n.depth + 1
				next = append(next, target)
			}
		}
		return slices.ContainsFunc(next, follow)
	}
	if follow(f.root) {
		f.mark("recursion", f.root.at)
	}
}

// resolve finds what a reference within the same schema refers to.
func (f *facts) resolve(ref string) (node, bool) {
	path, ok := strings.CutPrefix(ref, "#")
	path, err := url.PathUnescape(path)
	if !ok || err != nil || path != "" && path[0] != '/' {
		return node{}, false
	}
	if path == "" {
		return node{schema: f.root.schema, at: f.root.at}, true
	}
	var v any = f.root.schema
	at := f.root.at
	for step := range strings.SplitSeq(path[1:], "/") {
		step = jsonptr.Unescape(step)
		at = pointer(at, step)
		switch in := v.(type) {
		case map[string]any:
			v = in[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(in) {
				return node{}, false
			}
			v = in[i]
		default:
			return node{}, false
		}
	}
	s, ok := v.(map[string]any)
	return node{schema: s, at: at}, ok
}
