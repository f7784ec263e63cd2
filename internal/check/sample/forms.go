package sample

import (
	"iter"
	"maps"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// forms yields the sets of schemas that several schemas come down to when one of
// each of their alternatives is chosen: first with the first ones, then with one
// of the others, and so on.
func forms(all []*jsonschema.Schema) iter.Seq[[]*jsonschema.Schema] {
	return func(yield func([]*jsonschema.Schema) bool) {
		scripts := [][]int{nil}
		for i := 0; i < len(scripts); i++ {
			e := expansion{script: scripts[i], seen: map[*jsonschema.Schema]bool{}}
			e.add(all...)
			if !yield(e.plain) {
				return
			}
			for at := len(scripts[i]); at < len(e.met); at++ {
				for choice := 1; choice < e.met[at] && len(scripts) < maxForms; choice++ {
					script := make([]int, at+1)
					copy(script, scripts[i])
					script[at] = choice
					scripts = append(scripts, script)
				}
			}
		}
	}
}

// expansion follows references and conjunctions, and chooses among alternatives:
// in the order in which they are met as the script says, and then the first.
type expansion struct {
	script []int
	met    []int // how many alternatives there were at each choice
	plain  []*jsonschema.Schema
	seen   map[*jsonschema.Schema]bool
}

func (e *expansion) add(all ...*jsonschema.Schema) {
	for _, s := range all {
		if s == nil || e.seen[s] {
			continue
		}
		e.seen[s] = true
		e.plain = append(e.plain, s)
		e.add(s.Ref)
		e.add(s.AllOf...)
		e.choose(single(s.AnyOf))
		e.choose(single(s.OneOf))
		if s.If != nil {
			e.choose([][]*jsonschema.Schema{{s.If, s.Then}, {s.Else}})
		}
		for _, name := range slices.Sorted(maps.Keys(s.DependentSchemas)) {
			e.choose([][]*jsonschema.Schema{nil, {s.DependentSchemas[name]}})
		}
	}
}

func (e *expansion) choose(alternatives [][]*jsonschema.Schema) {
	if len(alternatives) == 0 {
		return
	}
	choice := 0
	if n := len(e.met); n < len(e.script) {
		choice = min(e.script[n], len(alternatives)-1)
	}
	e.met = append(e.met, len(alternatives))
	e.add(alternatives[choice]...)
}

func single(all []*jsonschema.Schema) [][]*jsonschema.Schema {
	var out [][]*jsonschema.Schema
	for _, s := range all {
		out = append(out, []*jsonschema.Schema{s})
	}
	return out
}

// kinds returns the types that a value may have, the likely ones first.
func kinds(plain []*jsonschema.Schema, depth int) []string {
	allowed := []string{"object", "array", "string", "integer", "number", "boolean", "null"}
	typed := false
	for _, s := range plain {
		if s.Types == nil || s.Types.IsEmpty() {
			continue
		}
		typed = true
		names := s.Types.ToStrings()
		allowed = slices.DeleteFunc(allowed, func(kind string) bool {
			return !slices.Contains(names, kind) && (kind != "integer" || !slices.Contains(names, "number"))
		})
	}
	if typed {
		return allowed
	}
	if meant := guess(plain); meant != "" {
		return []string{meant} // others fit, but nobody means them
	}
	likely := "string"
	if depth == 0 {
		likely = "object" // arguments are one
	}
	allowed = slices.DeleteFunc(allowed, func(kind string) bool { return kind == likely })
	return slices.Insert(allowed, 0, likely)
}

// guess returns the type that the keywords of schemas without a type are about,
// or "".
func guess(plain []*jsonschema.Schema) string {
	for _, s := range plain {
		switch {
		case len(s.Properties)+len(s.PatternProperties)+len(s.Required) > 0, s.AdditionalProperties != nil, s.MinProperties != nil:
			return "object"
		case s.Items != nil, s.Items2020 != nil, s.PrefixItems != nil, s.Contains != nil, s.MinItems != nil:
			return "array"
		case s.Pattern != nil, s.Format != nil, s.MinLength != nil, s.MaxLength != nil:
			return "string"
		case s.Minimum != nil, s.Maximum != nil, s.ExclusiveMinimum != nil, s.ExclusiveMaximum != nil, s.MultipleOf != nil:
			return "integer"
		}
	}
	return ""
}
