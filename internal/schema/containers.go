package schema

import (
	"encoding/json"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

func (e *evaluator) object(s *jsonschema.Schema, obj *object, at *path, out *report, seen *seen) bool {
	ok := e.objectSize(s, obj, at, out)
	ok = e.dependencies(s, obj, at, out, seen) && ok
	if !looksAtMembers(s) {
		return ok
	}
	members := e.membersOf(obj)
	if !e.spend(len(members)) {
		return false
	}
	var unknown []string
	for _, name := range sortedNames(members) {
		if !ok && out == nil {
			return false
		}
		if s.PropertyNames != nil {
			ok = e.propertyName(s.PropertyNames, name, at, out) && ok
		}
		known, valid := e.member(s, name, members[name], at, out)
		ok = valid && ok
		if known {
			seen.addMember(name)
		} else if s.AdditionalProperties == false {
			unknown = append(unknown, name)
		}
	}
	if len(unknown) == 0 {
		return ok
	}
	known := sortedNames(s.Properties)
	for _, name := range unknown {
		out.add(unknownMember(at, name, known))
	}
	return false
}

func looksAtMembers(s *jsonschema.Schema) bool {
	return len(s.Properties) > 0 || len(s.PatternProperties) > 0 ||
		s.AdditionalProperties != nil || s.PropertyNames != nil
}

func (e *evaluator) objectSize(s *jsonschema.Schema, obj *object, at *path, out *report) bool {
	ok := e.required(s.Required, obj, "", at, out)
	if s.MinProperties == nil && s.MaxProperties == nil {
		return ok
	}
	n := len(e.membersOf(obj))
	if s.MinProperties != nil && n < *s.MinProperties {
		out.addf(at, "must have at least %s, got %d", plural(*s.MinProperties, "member"), n)
		ok = false
	}
	if s.MaxProperties != nil && n > *s.MaxProperties {
		out.addf(at, "must have at most %s, got %d", plural(*s.MaxProperties, "member"), n)
		ok = false
	}
	return ok
}

// required checks that names are members of obj. because, if not empty, is the
// member whose presence requires them.
func (e *evaluator) required(names []string, obj *object, because string, at *path, out *report) bool {
	if len(names) == 0 {
		return true
	}
	if !e.spend(len(names) / 8) {
		return false
	}
	ok, members := true, e.membersOf(obj)
	for _, name := range names {
		if _, present := members[name]; !present {
			ok = false
			out.add(missingMember(at, name, because))
		}
	}
	return ok
}

func (e *evaluator) dependencies(s *jsonschema.Schema, obj *object, at *path, out *report, seen *seen) bool {
	if len(s.DependentRequired) == 0 && len(s.DependentSchemas) == 0 && len(s.Dependencies) == 0 {
		return true
	}
	ok, members := true, e.membersOf(obj)
	for _, name := range presentKeys(s.DependentRequired, members) {
		ok = e.required(s.DependentRequired[name], obj, name, at, out) && ok
	}
	for _, name := range presentKeys(s.DependentSchemas, members) {
		ok = e.eval(s.DependentSchemas[name], obj, at, out, seen) && ok
	}
	for _, name := range presentKeys(s.Dependencies, members) {
		switch dep := s.Dependencies[name].(type) {
		case []string:
			ok = e.required(dep, obj, name, at, out) && ok
		case *jsonschema.Schema:
			ok = e.eval(dep, obj, at, out, seen) && ok
		}
	}
	return ok
}

func presentKeys[V any](m map[string]V, members map[string]json.RawMessage) []string {
	var names []string
	for name := range m {
		if _, ok := members[name]; ok {
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
func (e *evaluator) member(s *jsonschema.Schema, name string, raw []byte, at *path, out *report) (known, ok bool) {
	ok = true
	here := at.member(name)
	if sub, found := s.Properties[name]; found {
		known = true
		ok = e.evalAt(sub, raw, here, out)
	}
	for re, sub := range s.PatternProperties {
		if e.matches(re, name) {
			known = true
			ok = e.evalAt(sub, raw, here, out) && ok
		}
	}
	if known {
		return known, ok
	}
	switch more := s.AdditionalProperties.(type) {
	case bool:
		return more, true
	case *jsonschema.Schema:
		return true, e.evalAt(more, raw, here, out)
	}
	return false, true
}

func (e *evaluator) array(s *jsonschema.Schema, arr *array, at *path, out *report, seen *seen) bool {
	ok := e.arraySize(s, arr, at, out)
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

func (e *evaluator) arraySize(s *jsonschema.Schema, arr *array, at *path, out *report) bool {
	if s.MinItems == nil && s.MaxItems == nil {
		return true
	}
	ok, n := true, e.lenOf(arr)
	if s.MinItems != nil && n < *s.MinItems {
		out.addf(at, "must have at least %s, got %d", plural(*s.MinItems, "item"), n)
		ok = false
	}
	if s.MaxItems != nil && n > *s.MaxItems {
		out.addf(at, "must have at most %s, got %d", plural(*s.MaxItems, "item"), n)
		ok = false
	}
	return ok
}

// items applies the keywords of all drafts; the compiler has only set those of
// the schema's own draft.
func (e *evaluator) items(s *jsonschema.Schema, arr *array, at *path, out *report, seen *seen) bool {
	prefix, rest := s.PrefixItems, s.Items2020
	switch items := s.Items.(type) {
	case *jsonschema.Schema:
		rest = items
	case []*jsonschema.Schema:
		prefix = items
	}
	closed := false
	switch more := s.AdditionalItems.(type) {
	case bool:
		closed = !more
	case *jsonschema.Schema:
		rest = more
	}
	if len(prefix) == 0 && rest == nil && s.AdditionalItems == nil {
		return true
	}
	ok, total := true, 0
	for i, item := range e.itemsOf(arr) {
		switch total = i + 1; {
		case e.exhausted || !ok && out == nil:
			return false
		case i < len(prefix):
			ok = e.evalAt(prefix[i], item, at.item(i), out) && ok
		case rest != nil:
			ok = e.evalAt(rest, item, at.item(i), out) && ok
		}
	}
	if closed && total > len(prefix) {
		out.addf(at, "must have at most %s, got %d", plural(len(prefix), "item"), total)
		return false
	}
	if rest == nil && s.AdditionalItems == nil {
		total = min(total, len(prefix))
	}
	seen.addItems(total)
	return ok
}

func (e *evaluator) containsItem(s *jsonschema.Schema, arr *array, at *path, out *report, seen *seen) bool {
	n := 0
	for i, item := range e.itemsOf(arr) {
		if !e.evalAt(s.Contains, item, at, nil) {
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
