package sample

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/parley-mcp/parley/internal/jsonptr"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/parley-mcp/parley/internal/wire"
)

// maxOptional is how deep members that are not required are filled in.
const maxOptional = 3

// object is an object in the making.
type object map[string]json.RawMessage

func (o object) text() json.RawMessage {
	out := json.RawMessage{'{'}
	for i, name := range slices.Sorted(maps.Keys(o)) {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(wire.AppendText(out, name), ':')
		out = append(out, o[name]...)
	}
	return append(out, '}')
}

// objects yields objects: with the members that are wanted, and then with more or
// fewer.
func (t *target) objects(yield func(json.RawMessage) bool) {
	for _, all := range []bool{t.worker.all, !t.worker.all} {
		o := object{}
		if !t.fill(o, all && t.depth <= maxOptional) {
			return
		}
		if !yield(o.text()) || !t.vary(o, yield) {
			return
		}
	}
}

// fill makes the members of an object. It reports whether those that are needed
// could be made.
func (t *target) fill(o object, all bool) bool {
	optional := t.optional()
	wanted := slices.Clone(t.required(o))
	for len(wanted) > 0 {
		for _, name := range wanted {
			v, err := t.member(name, nil)
			if err != nil {
				t.keep(err)
				return false
			}
			o[name] = v
		}
		wanted = t.required(o) // members may need others
	}
	least := 0
	for _, s := range t.plain {
		if s.MinProperties != nil {
			least = max(least, *s.MinProperties)
		}
	}
	if least > maxItems {
		t.keep(&Error{Pointer: t.at, Reason: fmt.Sprintf("it needs %d members, which is too many", least)})
		return false
	}
	for _, name := range optional {
		if !all && len(o) >= least {
			return true
		}
		if _, ok := o[name]; ok {
			continue
		}
		if v, err := t.member(name, nil); err == nil {
			o[name] = v
		}
	}
	return t.invent(o, least)
}

// invent adds members that the schema does not name.
func (t *target) invent(o object, least int) bool {
	for i := 1; len(o) < least; i++ {
		if i > 2*maxItems {
			t.keep(&Error{Pointer: t.at, Reason: fmt.Sprintf("no names were found for the %d members that it needs", least)})
			return false
		}
		name := t.name(o, i)
		if v, err := t.member(name, nil); err == nil {
			o[name] = v
		}
	}
	return true
}

// name returns a name that the object does not have yet.
func (t *target) name(o object, i int) string {
	var schemas []*jsonschema.Schema
	for _, s := range t.plain {
		if s.PropertyNames != nil {
			schemas = append(schemas, s.PropertyNames)
		}
		for _, p := range patterns(s) {
			for name := range matching(p, i, maxLength) {
				if _, ok := o[name]; !ok {
					return name
				}
			}
		}
	}
	if schemas != nil {
		avoid := map[string]bool{}
		for name := range o {
			avoid[string(wire.AppendText(nil, name))] = true
		}
		var name string
		if text, err := t.value(schemas, t.at, t.depth+1, avoid); err == nil && json.Unmarshal(text, &name) == nil {
			return name
		}
	}
	return fmt.Sprintf("member%d", i)
}

// required returns the members that an object needs and does not have yet.
func (t *target) required(o object) []string {
	var names []string
	for _, s := range t.plain {
		names = append(names, s.Required...)
		for present := range o {
			names = append(names, s.DependentRequired[present]...)
			if more, ok := s.Dependencies[present].([]string); ok {
				names = append(names, more...)
			}
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	return slices.DeleteFunc(names, func(name string) bool {
		_, ok := o[name]
		return ok
	})
}

// optional returns all members that the schema names, except those that it
// forbids.
func (t *target) optional() []string {
	names := map[string]bool{}
	for _, s := range t.plain {
		for name, of := range s.Properties {
			if of.Bool == nil || *of.Bool {
				names[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// member makes the value of a member.
func (t *target) member(name string, avoid map[string]bool) (json.RawMessage, *Error) {
	var schemas []*jsonschema.Schema
	for _, s := range t.plain {
		known := false
		if of := s.Properties[name]; of != nil {
			schemas, known = append(schemas, of), true
		}
		for _, p := range patterns(s) {
			if p.MatchString(name) {
				schemas, known = append(schemas, s.PatternProperties[p]), true
			}
		}
		if of, ok := s.AdditionalProperties.(*jsonschema.Schema); ok && !known {
			schemas = append(schemas, of)
		}
	}
	return t.value(schemas, t.at+"/"+jsonptr.Escape(name), t.depth+1, avoid)
}

// patterns returns the patterns of names in order.
func patterns(s *jsonschema.Schema) []jsonschema.Regexp {
	return slices.SortedFunc(maps.Keys(s.PatternProperties), func(a, b jsonschema.Regexp) int {
		return strings.Compare(a.String(), b.String())
	})
}

// keep remembers why something in the value could not be made.
func (t *target) keep(err *Error) {
	if t.inner == nil || t.inner.tooDeep {
		t.inner = err
	}
}

// vary yields objects that differ in one member from those to avoid.
func (t *target) vary(o object, yield func(json.RawMessage) bool) bool {
	if !t.avoid[string(o.text())] {
		return true
	}
	for _, name := range slices.Sorted(maps.Keys(o)) {
		used := map[string]bool{}
		for text := range t.avoid {
			var other map[string]json.RawMessage
			if json.Unmarshal([]byte(text), &other) == nil {
				used[string(other[name])] = true
			}
		}
		if v, err := t.member(name, used); err == nil {
			with := maps.Clone(o)
			with[name] = v
			if !yield(with.text()) {
				return false
			}
		}
	}
	return true
}
