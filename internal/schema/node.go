package schema

import (
	"encoding/json"
	"slices"
	"strconv"
)

// node is a schema under construction: members in the order they are written.
type node []member

type member struct {
	name  string
	value any // string, bool, int, json.RawMessage, []string, []json.RawMessage, *node
}

func newNode(typ string) *node {
	n := &node{}
	if typ != "" {
		n.set("type", typ)
	}
	return n
}

// set adds a member or replaces the one of that name.
func (n *node) set(name string, value any) {
	for i := range *n {
		if (*n)[i].name == name {
			(*n)[i].value = value
			return
		}
	}
	*n = append(*n, member{name, value})
}

func (n *node) get(name string) any {
	for _, m := range *n {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

// typ returns the "type" of the schema, or "" if it has none.
func (n *node) typ() string {
	t, _ := n.get("type").(string)
	return t
}

// hasRef reports whether n contains a reference, so that it cannot stand
// alone.
func (n *node) hasRef() bool {
	return slices.ContainsFunc(*n, func(m member) bool {
		sub, ok := m.value.(*node)
		return m.name == "$ref" || ok && sub.hasRef()
	})
}

func (n *node) append(b []byte) []byte {
	b = append(b, '{')
	for i, m := range *n {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendString(b, m.name)
		b = appendMember(append(b, ':'), m.value)
	}
	return append(b, '}')
}

func appendMember(b []byte, v any) []byte {
	switch v := v.(type) {
	case string:
		return appendString(b, v)
	case bool:
		return strconv.AppendBool(b, v)
	case int:
		return strconv.AppendInt(b, int64(v), 10)
	case json.RawMessage:
		return append(b, v...)
	case *node:
		return v.append(b)
	case []string:
		return appendList(b, v, appendString)
	case []json.RawMessage:
		return appendList(b, v, func(b []byte, raw json.RawMessage) []byte { return append(b, raw...) })
	}
	return append(b, "null"...)
}

func appendList[T any](b []byte, list []T, one func([]byte, T) []byte) []byte {
	b = append(b, '[')
	for i, v := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = one(b, v)
	}
	return append(b, ']')
}
