package schema

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// maxFanOut bounds how many subschemas may apply to one value once all
// references are followed.
const maxFanOut = 100_000

// graph is the set of compiled subschemas reachable from a root.
type graph struct {
	nodes []*jsonschema.Schema
	seen  map[*jsonschema.Schema]bool
}

func newGraph(root *jsonschema.Schema) *graph {
	g := &graph{seen: map[*jsonschema.Schema]bool{}}
	g.add(root)
	for i := 0; i < len(g.nodes); i++ {
		g.add(inPlace(g.nodes[i])...)
		g.add(inside(g.nodes[i])...)
	}
	return g
}

func (g *graph) add(nodes ...*jsonschema.Schema) {
	for _, n := range nodes {
		if n != nil && !g.seen[n] {
			g.seen[n] = true
			g.nodes = append(g.nodes, n)
		}
	}
}

// check refuses references to bundled meta-schemas, which the compiler
// resolves without asking the loader, and schemas that loop or explode on a
// single value.
func (g *graph) check() error {
	for _, n := range g.nodes {
		if !strings.HasPrefix(n.Location, baseURL+"#") {
			return &externalRefError{n.Location}
		}
	}
	f := fanOut{}
	for _, n := range g.nodes {
		count, err := f.count(n)
		if err != nil {
			return err
		}
		if count > maxFanOut {
			return fmt.Errorf("schema: %q applies more than %d subschemas to one value", pointer(n), maxFanOut)
		}
	}
	return nil
}

// fanOut memoises, for each subschema, how many subschemas it applies to the
// same value, once for every path that leads to each. Zero marks a subschema
// that is being counted.
type fanOut map[*jsonschema.Schema]int

func (f fanOut) count(n *jsonschema.Schema) (int, error) {
	if c, ok := f[n]; ok {
		if c == 0 {
			return 0, fmt.Errorf("schema: %q refers to itself without going into a property or item", pointer(n))
		}
		return c, nil
	}
	f[n] = 0
	total := 1
	for _, sub := range inPlace(n) {
		c, err := f.count(sub)
		if err != nil {
			return 0, err
		}
		total = min(total+c, maxFanOut+1)
	}
	f[n] = total
	return total, nil
}

// inPlace returns the subschemas that n applies to its own value.
func inPlace(n *jsonschema.Schema) []*jsonschema.Schema {
	if onlyRef(n) {
		return []*jsonschema.Schema{n.Ref}
	}
	out := slices.Concat(n.AllOf, n.AnyOf, n.OneOf)
	for _, s := range []*jsonschema.Schema{n.Ref, n.Not, n.If, n.Then, n.Else} {
		if s != nil {
			out = append(out, s)
		}
	}
	out = append(out, inOrder(n.DependentSchemas)...)
	for _, name := range slices.Sorted(maps.Keys(n.Dependencies)) {
		if s, ok := n.Dependencies[name].(*jsonschema.Schema); ok {
			out = append(out, s)
		}
	}
	return out
}

// inside returns the subschemas that n applies to members, member names or
// items of its value. Entries may be nil.
func inside(n *jsonschema.Schema) []*jsonschema.Schema {
	if onlyRef(n) {
		return nil
	}
	out := inOrder(n.Properties)
	for _, s := range n.PatternProperties {
		out = append(out, s)
	}
	for _, v := range []any{n.AdditionalProperties, n.AdditionalItems, n.Items} {
		switch v := v.(type) {
		case *jsonschema.Schema:
			out = append(out, v)
		case []*jsonschema.Schema:
			out = append(out, v...)
		}
	}
	out = append(out, n.PrefixItems...)
	return append(out, n.PropertyNames, n.UnevaluatedProperties, n.Contains, n.Items2020, n.UnevaluatedItems)
}

func inOrder(m map[string]*jsonschema.Schema) []*jsonschema.Schema {
	var out []*jsonschema.Schema
	for _, name := range slices.Sorted(maps.Keys(m)) {
		out = append(out, m[name])
	}
	return out
}

// pointer returns the location of n as a fragment such as "#/properties/a".
func pointer(n *jsonschema.Schema) string {
	return strings.TrimPrefix(n.Location, baseURL)
}
