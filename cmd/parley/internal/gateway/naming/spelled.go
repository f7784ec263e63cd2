package naming

import (
	"bytes"
	"unicode/utf8"

	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// Longest is how many bytes a name, a URI or an ID can have that a client names something
// with: it is kept in logs, in counts and in what is known of those who have asked.
const Longest = 8 << 10

// Spelled returns why arguments could be read in two ways by a server that takes names for
// the same that differ in case only: one is that of a property of the schema but for its
// case. Names that the schema does not have are none of its business. Both are valid JSON,
// or empty; arguments are Strict.
func Spelled(schema, arguments []byte) error {
	properties := wire.Find(schema, "properties")
	s, a := wire.Skim(properties), wire.Skim(arguments)
	if s.Next() != '{' || a.Next() != '{' {
		return spelledItems(schema, arguments)
	}
	for name, value := range wire.Each(arguments) {
		own := wire.Find(properties, string(name))
		if own == nil {
			if like := inOtherCase(properties, name); like != "" {
				return mcp.InvalidParams("the argument %.100q differs from %q in case only", string(name), like)
			}
			continue
		}
		if err := Spelled(own, value); err != nil {
			return err
		}
	}
	return nil
}

// spelledItems is Spelled for each item of a list.
func spelledItems(schema, arguments []byte) error {
	items := wire.Find(schema, "items")
	s := wire.Skim(arguments)
	if items == nil || s.Next() != '[' {
		return nil
	}
	for s.Enter(); s.Next() != ']'; {
		if err := Spelled(items, s.Skip()); err != nil {
			return err
		}
	}
	return nil
}

// inOtherCase returns the property that has a name in another case, or "".
func inOtherCase(properties, name []byte) string {
	for own := range wire.Each(properties) {
		if (len(own) == len(name) || !isASCII(name)) && bytes.EqualFold(own, name) {
			return string(own)
		}
	}
	return ""
}

func isASCII(name []byte) bool {
	for _, c := range name {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
