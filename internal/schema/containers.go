package schema

import (
	"maps"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

func (e *evaluator) object(s *jsonschema.Schema, obj map[string]any, at *path, out *report, seen *seen) bool {
	ok := e.objectSize(s, obj, at, out)
	ok = e.dependencies(s, obj, at, out, seen) && ok
	if !looksAtMembers(s) {
		return ok
	}
	if !e.spend(len(obj)) {
		return false
	}
	var unknown []string
	for _, name := range slices.Sorted(maps.Keys(obj)) {
		if !ok && out == nil {
			return false
		}
		if s.PropertyNames != nil {
			ok = e.propertyName(s.PropertyNames, name, at, out) && ok
		}
		known, valid := e.member(s, name, obj[name], at, out)
		ok = valid && ok
		if known {
			seen.addMember(name)
		} else if s.AdditionalProperties == false {
			unknown = append(unknown, name)
		}
	}
	for _, name := range unknown {
		out.add(unknownMember(at, name, slices.Sorted(maps.Keys(s.Properties))))
	}
	return ok && len(unknown) == 0
}

func looksAtMembers(s *jsonschema.Schema) bool {
	return len(s.Properties) > 0 || len(s.PatternProperties) > 0 ||
		s.AdditionalProperties != nil || s.PropertyNames != nil
}

func (e *evaluator) objectSize(s *jsonschema.Schema, obj map[string]any, at *path, out *report) bool {
	ok := e.required(s.Required, obj, "", at, out)
	if s.MinProperties != nil && len(obj) < *s.MinProperties {
		out.addf(at, "must have at least %s, got %d", plural(*s.MinProperties, "member"), len(obj))
		ok = false
	}
	if s.MaxProperties != nil && len(obj) > *s.MaxProperties {
		out.addf(at, "must have at most %s, got %d", plural(*s.MaxProperties, "member"), len(obj))
		ok = false
	}
	return ok
}

// required checks that names are members of obj. because, if not empty, is the
// member whose presence requires them.
func (e *evaluator) required(names []string, obj map[string]any, because string, at *path, out *report) bool {
	if !e.spend(len(names) / 8) {
		return false
	}
	ok := true
	for _, name := range names {
		if _, present := obj[name]; !present {
			ok = false
			out.add(missingMember(at, name, because))
		}
	}
	return ok
}

func (e *evaluator) dependencies(s *jsonschema.Schema, obj map[string]any, at *path, out *report, seen *seen) bool {
	ok := true
	for _, name := range presentKeys(s.DependentRequired, obj) {
		ok = e.required(s.DependentRequired[name], obj, name, at, out) && ok
	}
	for _, name := range presentKeys(s.DependentSchemas, obj) {
		ok = e.eval(s.DependentSchemas[name], obj, at, out, seen) && ok
	}
	for _, name := range presentKeys(s.Dependencies, obj) {
		switch dep := s.Dependencies[name].(type) {
		case []string:
			ok = e.required(dep, obj, name, at, out) && ok
		case *jsonschema.Schema:
			ok = e.eval(dep, obj, at, out, seen) && ok
		}
	}
	return ok
}

func presentKeys[V any](m map[string]V, obj map[string]any) []string {
	var names []string
	for name := range m {
		if _, ok := obj[name]; ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func (e *evaluator) propertyName(s *jsonschema.Schema, name string, at *path, out *report) bool {
	if e.eval(s, name, at, nil, nil) {
		return true
	}
	if out != nil {
		var why report
		e.eval(s, name, nil, &why, nil)
		out.addf(at, "%q is not allowed as a member name: %s", name, why.brief())
	}
	return false
}

// member applies what s says about one member and reports whether it says
// anything.
func (e *evaluator) member(s *jsonschema.Schema, name string, v any, at *path, out *report) (known, ok bool) {
	ok = true
	here := at.member(name)
	if sub, found := s.Properties[name]; found {
		known = true
		ok = e.eval(sub, v, here, out, nil)
	}
	for re, sub := range s.PatternProperties {
		if e.matches(re, name) {
			known = true
			ok = e.eval(sub, v, here, out, nil) && ok
		}
	}
	if known {
		return known, ok
	}
	switch more := s.AdditionalProperties.(type) {
	case bool:
		return more, true
	case *jsonschema.Schema:
		return true, e.eval(more, v, here, out, nil)
	}
	return false, true
}

func (e *evaluator) array(s *jsonschema.Schema, arr []any, at *path, out *report, seen *seen) bool {
	ok := true
	if s.MinItems != nil && len(arr) < *s.MinItems {
		out.addf(at, "must have at least %s, got %d", plural(*s.MinItems, "item"), len(arr))
		ok = false
	}
	if s.MaxItems != nil && len(arr) > *s.MaxItems {
		out.addf(at, "must have at most %s, got %d", plural(*s.MaxItems, "item"), len(arr))
		ok = false
	}
	if s.UniqueItems {
		if i, j := e.duplicates(arr); j > 0 {
			out.addf(at, "must not repeat items, but items %d and %d are equal", i, j)
			ok = false
		}
	}
	ok = e.items(s, arr, at, out, seen) && ok
	if s.Contains != nil {
		ok = e.containsItem(s, arr, at, out, seen) && ok
	}
	return ok
}

// items applies the keywords of all drafts; the compiler has only set those of
// the schema's own draft.
func (e *evaluator) items(s *jsonschema.Schema, arr []any, at *path, out *report, seen *seen) bool {
	prefix, rest := s.PrefixItems, s.Items2020
	switch items := s.Items.(type) {
	case *jsonschema.Schema:
		rest = items
	case []*jsonschema.Schema:
		prefix = items
	}
	n := min(len(prefix), len(arr))
	ok := true
	for i, item := range arr[:n] {
		ok = e.eval(prefix[i], item, at.item(i), out, nil) && ok
	}
	seen.addItems(n)
	switch more := s.AdditionalItems.(type) {
	case bool:
		if !more && len(arr) > n {
			out.addf(at, "must have at most %s, got %d", plural(n, "item"), len(arr))
			return false
		}
		seen.addItems(len(arr))
	case *jsonschema.Schema:
		rest = more
	}
	if rest == nil {
		return ok
	}
	for i := n; i < len(arr); i++ {
		if !ok && out == nil {
			return false
		}
		ok = e.eval(rest, arr[i], at.item(i), out, nil) && ok
	}
	seen.addItems(len(arr))
	return ok
}

func (e *evaluator) containsItem(s *jsonschema.Schema, arr []any, at *path, out *report, seen *seen) bool {
	n := 0
	for i, item := range arr {
		if !e.eval(s.Contains, item, at, nil, nil) {
			continue
		}
		n++
		if s.DraftVersion >= 2020 {
			seen.addItem(i)
		}
	}
	least := 1
	if s.MinContains != nil {
		least = *s.MinContains
	}
	if n < least {
		out.addf(at, "must contain at least %s of the required form, got %d", plural(least, "item"), n)
		return false
	}
	if s.MaxContains != nil && n > *s.MaxContains {
		out.addf(at, "must contain at most %s of the given form, got %d", plural(*s.MaxContains, "item"), n)
		return false
	}
	return true
}
