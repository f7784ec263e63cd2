package adapt

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-mcp/parley/internal/jsonptr"
	"github.com/parley-mcp/parley/internal/schema"
	"github.com/parley-mcp/parley/internal/wire"
)

// adapter adapts one input schema.
type adapter struct {
	*Profile

	root  []byte
	words []string // of the root, for the description of the tool
	items int      // the sum of all maxItems
	unfit string
}

// maxDepth bounds how deep a schema is looked at. What is below stays as it is.
const maxDepth = 64

// schema returns a schema as the vendor takes it.
func (a *adapter) schema(raw []byte, root bool, depth int) []byte {
	if len(raw) == 0 || raw[0] != '{' || depth > maxDepth {
		return raw
	}
	o := parse(raw)
	before := string(o.bytes())
	var words []string
	if root {
		words = a.atRoot(o)
	}
	words = append(words, a.keywords(o)...)
	a.below(o, depth)
	words = append(words, a.values(o)...)
	if a.refers(o) {
		o = beside(o)
	}
	if root {
		a.words = words
	}
	made := o.bytes()
	if len(words) > 0 && !root {
		made = describe(made, strings.Join(words, "; "))
	}
	if string(made) == before {
		return raw
	}
	return made
}

// below adapts the schemas within a schema.
func (a *adapter) below(o *object, depth int) {
	for _, name := range o.names {
		value := o.get(name)
		switch schemas, named := schema.Holds(name); {
		case named:
			members, changed := parse(value), false
			for _, n := range members.names {
				changed = a.inside(members, n, depth) || changed
			}
			if changed {
				o.set(name, members.bytes())
			}
		case schemas && value[0] == '[':
			elements, changed := list(value), false
			for i, e := range elements {
				elements[i] = a.schema(e, false, depth+1)
				changed = changed || !bytes.Equal(e, elements[i])
			}
			if changed {
				o.set(name, array(elements))
			}
		case schemas:
			a.inside(o, name, depth)
		}
	}
}

// inside adapts a member that is a schema, and reports whether it is another one now.
func (a *adapter) inside(o *object, name string, depth int) bool {
	value := o.get(name)
	made := a.schema(value, false, depth+1)
	o.set(name, made)
	return !bytes.Equal(value, made)
}

// atRoot adapts what counts at the root alone.
func (a *adapter) atRoot(o *object) (words []string) {
	if r, ok := a.rules["root-keyword"]; ok {
		for _, k := range r.List() {
			if o.has(k) {
				a.hoist(o, k)
				words = append(words, phrase(k, o.get(k)))
				o.drop(k)
			}
		}
	}
	if _, ok := a.rules["root-properties"]; ok && !o.has("properties") {
		o.set("properties", []byte("{}"))
	}
	if form := a.forms["property-name"]; form != nil {
		words = append(words, a.parameters(o, form.MatchString)...)
	}
	return words
}

// parameters leaves out those whose names the vendor refuses. A tool that needs one of them
// cannot be called by its models.
func (a *adapter) parameters(o *object, takes func(string) bool) (words []string) {
	if !o.has("properties") {
		return nil
	}
	properties := parse(o.get("properties"))
	for _, name := range slices.Clone(properties.names) {
		if takes(name) {
			continue
		}
		if slices.Contains(required(o), name) {
			a.unfit = "it needs the parameter " + strconv.Quote(shorten(name, maxWords)) + ", and " + a.rules["property-name"].Says
			return nil
		}
		words = append(words, "there is also the parameter "+strconv.Quote(shorten(name, maxWords))+": "+shorten(string(properties.get(name)), maxWords))
		properties.drop(name)
	}
	if len(words) > 0 {
		o.set("properties", properties.bytes())
		if bytes.Equal(o.get("additionalProperties"), []byte("false")) {
			o.drop("additionalProperties") // there are others
		}
	}
	return words
}

func required(o *object) (names []string) {
	for _, e := range list(o.get("required")) {
		name, _ := wire.Text(e)
		names = append(names, name)
	}
	return names
}

// hoist shows the properties of the alternatives of a schema as its own, since the
// alternatives are not shown.
func (a *adapter) hoist(o *object, keyword string) {
	closed := bytes.Equal(o.get("additionalProperties"), []byte("false"))
	if keyword != "oneOf" && keyword != "anyOf" && keyword != "allOf" || closed {
		return
	}
	properties := parse(o.get("properties"))
	own := len(properties.names)
	needed := list(o.get("required"))
	for _, branch := range list(o.get(keyword)) {
		b := parse(a.resolve(branch))
		inner := parse(b.get("properties"))
		for _, name := range inner.names {
			switch i := slices.Index(properties.names, name); {
			case i < 0:
				properties.set(name, inner.get(name))
			case i >= own && keyword != "allOf" && !bytes.Equal(properties.get(name), inner.get(name)):
				properties.set(name, either(properties.get(name), inner.get(name)))
			}
		}
		if keyword == "allOf" {
			needed = append(needed, list(b.get("required"))...)
		}
	}
	if len(properties.names) > own {
		o.set("properties", properties.bytes())
	}
	slices.SortFunc(needed, bytes.Compare)
	if needed = slices.CompactFunc(needed, bytes.Equal); keyword == "allOf" && len(needed) > 0 {
		o.set("required", array(needed))
	}
}

// either is a schema of what fits one of two.
func either(one, other []byte) []byte {
	return append(append(append(append([]byte(`{"anyOf":[`), one...), ','), other...), `]}`...)
}

// resolve returns what a schema refers to within the same document, or itself.
func (a *adapter) resolve(raw []byte) []byte {
	ref, ok := wire.Text(wire.Find(raw, "$ref"))
	path, local := strings.CutPrefix(ref, "#/")
	if !ok || !local {
		return raw
	}
	found := a.root
	for step := range strings.SplitSeq(path, "/") {
		if found = wire.Find(found, jsonptr.Unescape(step)); found == nil {
			return raw
		}
	}
	return found
}

// keywords says in words what the vendor does not know.
func (a *adapter) keywords(o *object) (words []string) {
	r, ok := a.rules["other-keyword"]
	if !ok {
		return nil
	}
	takes := r.List()
	for _, k := range slices.Clone(o.names) {
		value := o.get(k)
		switch {
		case slices.Contains(takes, k) || strings.HasPrefix(k, "x-"):
			continue
		case k == "const" && !o.has("enum") && slices.Contains(takes, "enum"):
			o.set("enum", array([][]byte{value}))
		case k == "definitions" && !o.has("$defs"):
			o.set("$defs", value)
		case k == "allOf":
			a.hoist(o, k)
			words = append(words, phrase(k, value))
		default:
			words = append(words, phrase(k, value))
		}
		o.drop(k)
	}
	if ref, ok := wire.Text(o.get("$ref")); ok && !slices.Contains(takes, "definitions") {
		if name, ok := strings.CutPrefix(ref, "#/definitions/"); ok {
			o.set("$ref", wire.AppendText(nil, "#/$defs/"+name))
		}
	}
	return words
}

// values adapts what a schema says of values.
func (a *adapter) values(o *object) (words []string) {
	if _, ok := a.rules["array-items"]; ok && wire.Is(o.get("type"), "array") && !o.has("items") && !o.has("prefixItems") {
		o.set("items", []byte("{}"))
	}
	if r, ok := a.rules["max-items-sum"]; ok && o.has("maxItems") {
		if most, _ := strconv.Atoi(r.Limit); a.items > most {
			words = append(words, phrase("maxItems", o.get("maxItems")))
			o.drop("maxItems")
		}
	}
	if _, ok := a.rules["enum-empty-text"]; ok && o.has("enum") {
		all := list(o.get("enum"))
		kept := slices.DeleteFunc(slices.Clone(all), func(e []byte) bool { return wire.Is(e, "") })
		switch {
		case len(kept) == len(all):
		case len(kept) == 0:
			o.drop("enum")
			words = append(words, "empty")
		default:
			o.set("enum", array(kept))
			words = append(words, "can also be an empty text")
		}
	}
	if _, ok := a.rules["required-undeclared"]; ok && (o.has("properties") || wire.Is(o.get("type"), "object")) {
		declare(o)
	}
	return words
}

// declare adds the properties that are required and not described.
func declare(o *object) {
	properties := parse(o.get("properties"))
	before := len(properties.names)
	for _, name := range required(o) {
		if !properties.has(name) {
			properties.set(name, []byte("{}"))
		}
	}
	if len(properties.names) > before {
		o.set("properties", properties.bytes())
	}
}

// refers reports whether something stands beside a reference that the vendor refuses there.
func (a *adapter) refers(o *object) bool {
	_, ok := a.rules["ref-siblings"]
	return ok && o.has("$ref") && slices.ContainsFunc(o.names, func(k string) bool { return !strings.HasPrefix(k, "$") })
}

// beside is a schema in which nothing stands beside the reference of another one.
func beside(o *object) *object {
	reference := &object{values: map[string][]byte{}}
	reference.set("$ref", o.get("$ref"))
	o.drop("$ref")
	if o.has("anyOf") { // both must fit; the alternatives say more
		return o
	}
	o.set("anyOf", array([][]byte{reference.bytes()}))
	return o
}

// countItems adds up all maxItems.
func (a *adapter) countItems(raw []byte, depth int) {
	if _, ok := a.rules["max-items-sum"]; !ok || depth > maxDepth {
		return
	}
	for name, value := range wire.Each(raw) {
		switch schemas, named := schema.Holds(string(name)); {
		case string(name) == "maxItems":
			if n, err := strconv.ParseFloat(string(value), 64); err == nil && n > 0 && n < 1e9 {
				a.items += int(n)
			}
		case named:
			for _, inner := range wire.Each(value) {
				a.countItems(inner, depth+1)
			}
		case schemas:
			a.countItems(value, depth+1)
			for _, inner := range list(value) {
				a.countItems(inner, depth+1)
			}
		}
	}
}
