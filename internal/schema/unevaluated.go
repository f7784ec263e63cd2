package schema

import (
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// seen records which members or items of one value a subschema has evaluated,
// for unevaluatedProperties and unevaluatedItems. A nil *seen records nothing:
// most schemas have neither keyword.
type seen struct {
	members map[string]bool
	first   int // the items before this index
	items   map[int]bool
}

// fresh returns a record for s itself, or nil if neither s nor the schema
// around it needs one.
func (n *seen) fresh(s *jsonschema.Schema) *seen {
	if n == nil && s.UnevaluatedProperties == nil && s.UnevaluatedItems == nil {
		return nil
	}
	return &seen{}
}

func (n *seen) merge(other *seen) {
	for name := range other.members {
		n.addMember(name)
	}
	n.addItems(other.first)
	for i := range other.items {
		n.addItem(i)
	}
}

func (n *seen) addMember(name string) {
	if n == nil {
		return
	}
	if n.members == nil {
		n.members = map[string]bool{}
	}
	n.members[name] = true
}

func (n *seen) addItems(count int) {
	if n != nil {
		n.first = max(n.first, count)
	}
}

func (n *seen) addItem(i int) {
	if n == nil || i < n.first {
		return
	}
	if n.items == nil {
		n.items = map[int]bool{}
	}
	n.items[i] = true
}

// unevaluated applies the two unevaluated keywords to whatever nothing else in
// s has evaluated.
func (e *evaluator) unevaluated(s *jsonschema.Schema, v any, at *path, out *report, seen *seen) bool {
	ok := true
	switch v := v.(type) {
	case *object:
		if s.UnevaluatedProperties == nil {
			return true
		}
		members := e.membersOf(v)
		if !e.spend(len(members)) {
			return false
		}
		for _, name := range sortedNames(members) {
			if !seen.members[name] {
				ok = e.leftover(s.UnevaluatedProperties, members[name], at.member(name), out) && ok
				seen.addMember(name)
			}
		}
	case *array:
		if s.UnevaluatedItems == nil {
			return true
		}
		n := 0
		for i, item := range e.itemsOf(v) {
			if n = i + 1; i >= seen.first && !seen.items[i] {
				ok = e.leftover(s.UnevaluatedItems, item, at.item(i), out) && ok
			}
		}
		seen.addItems(n)
	}
	return ok
}

func (e *evaluator) leftover(s *jsonschema.Schema, raw []byte, at *path, out *report) bool {
	if s.Bool != nil && !*s.Bool && !at.isItem {
		out.add(unknownMember(at.parent, at.name, nil))
		return false
	}
	return e.evalAt(s, raw, at, out)
}
