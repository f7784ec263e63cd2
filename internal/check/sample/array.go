package sample

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// arrays yields arrays: with one item if the schema says what items are, and with
// the fewest that it allows.
func (t *target) arrays(yield func(json.RawMessage) bool) {
	least, most, useful := 0, maxItems, 0
	for _, s := range t.plain {
		if s.MinItems != nil {
			least = max(least, *s.MinItems)
		}
		if s.MaxItems != nil {
			most = min(most, *s.MaxItems)
		}
		if s.Contains != nil && s.MinContains != nil {
			least = max(least, *s.MinContains)
		} else if s.Contains != nil {
			least = max(least, 1)
		}
		if s.Items != nil || s.Items2020 != nil {
			useful = 1
		}
		useful = max(useful, len(s.PrefixItems))
	}
	if least > maxItems {
		t.keep(&Error{Pointer: t.at, Reason: fmt.Sprintf("it needs %d items, which is too many", least)})
		return
	}
	sizes := []int{min(max(useful, least), most), least}
	for i := range len(t.avoid) {
		sizes = append(sizes, least+i+1)
	}
	for i, size := range sizes {
		if i == 1 && size == sizes[0] || size > most {
			continue
		}
		if v := t.array(size); v != nil && !yield(v) {
			return
		}
	}
}

// array makes an array of a size, or returns nil.
func (t *target) array(size int) json.RawMessage {
	unique := false
	for _, s := range t.plain {
		unique = unique || s.UniqueItems
	}
	var avoid map[string]bool
	if unique {
		avoid = map[string]bool{}
	}
	out := json.RawMessage{'['}
	for i := range size {
		v, err := t.value(t.items(i), t.at+"/"+strconv.Itoa(i), t.depth+1, avoid)
		if err != nil {
			t.keep(err)
			return nil
		}
		if unique {
			avoid[string(v)] = true
		}
		if i > 0 {
			out = append(out, ',')
		}
		if out = append(out, v...); len(out) > maxSize {
			t.keep(&Error{Pointer: t.at, Reason: "it gets too large"})
			return nil
		}
	}
	return append(out, ']')
}

// items returns the schemas of an item.
func (t *target) items(i int) []*jsonschema.Schema {
	var all []*jsonschema.Schema
	for _, s := range t.plain {
		first := 0
		switch items := s.Items.(type) {
		case *jsonschema.Schema:
			all = append(all, items)
		case []*jsonschema.Schema: // up to 2019-09
			if first = len(items); i < first {
				all = append(all, items[i])
			} else if rest, ok := s.AdditionalItems.(*jsonschema.Schema); ok {
				all = append(all, rest)
			}
		}
		if n := len(s.PrefixItems); i < n {
			all, first = append(all, s.PrefixItems[i]), n
		} else if s.Items2020 != nil {
			all, first = append(all, s.Items2020), n
		}
		wanted := 1
		if s.MinContains != nil {
			wanted = *s.MinContains
		}
		if s.Contains != nil && i >= first && i < first+wanted {
			all = append(all, s.Contains)
		}
	}
	return all
}
