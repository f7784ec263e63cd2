package era

import (
	"encoding/json"

	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// plainCall is what a gateway passes on most: the result of a tool that is JSON
// already, and in which no revision has anything to shape but the members that say who
// answers. Such a result is not decoded.
type plainCall struct {
	doc, meta json.RawMessage // meta is nil if there is none
	// typed and explicit say that there are the members resultType and isError.
	typed, explicit bool
}

// rawCall returns the result of a tool in the form of the revision; ok is false if it has
// to be decoded for that, or to find out what is wrong with it. doc is valid and compact.
func (f form) rawCall(doc json.RawMessage) (_ wire.Written, ok bool) {
	c := plainCall{doc: doc}
	content := false
	for name, value := range wire.Each(doc) {
		switch string(name) {
		case "content":
			content = isPlainText(value)
			ok = content
		case "structuredContent":
			ok = f.facts.StructuredContent && (f.facts.AnyStructuredContent || isObject(value))
		case "isError":
			c.explicit = true
			ok = value[0] == 't' || value[0] == 'f'
		case "resultType":
			c.typed = true
			ok = wire.Is(value, mcp.ResultComplete)
		case "_meta":
			c.meta = value
			ok = isObject(value)
		default: // it travels as it is
			ok = true
		}
		if !ok {
			return nil, false
		}
	}
	return func(dst []byte) ([]byte, error) { return f.appendRawCall(dst, &c), nil }, content
}

// isPlainText reports whether content has nothing but texts, each with no more than its
// type: every revision has that.
func isPlainText(content []byte) bool {
	s := wire.Skim(content)
	if s.Next() != '[' {
		return false
	}
	for s.Enter(); s.Next() == '{'; {
		typed, texts := false, 0
		for name, value := range wire.Each(s.Skip()) {
			switch string(name) {
			case "type":
				typed = wire.Is(value, "text")
			case "text":
				texts++
				if value[0] != '"' {
					return false
				}
			default:
				return false
			}
		}
		if !typed || texts == 0 {
			return false
		}
	}
	return s.Next() == ']'
}

// appendRawCall writes a result: its members as they are and in their order, and what the
// revision adds to them.
func (f form) appendRawCall(dst []byte, c *plainCall) []byte {
	dst = append(dst, '{')
	first := len(dst)
	for name, member := range wire.Whole(c.doc) {
		switch {
		case string(name) == "_meta":
			dst = f.appendRawMeta(dst, first, c.meta)
		case f.facts.Stateless || string(name) != "resultType":
			dst = append(comma(dst, first), member...)
		}
	}
	switch {
	case !f.facts.Stateless:
		if !c.explicit {
			dst = append(comma(dst, first), `"isError":false`...)
		}
		return append(dst, '}')
	case c.meta == nil:
		dst = f.appendRawMeta(dst, first, nil)
	}
	if !c.typed {
		dst = append(comma(dst, first), `"resultType":"`+mcp.ResultComplete+`"`...)
	}
	return append(dst, '}')
}

// appendRawMeta writes the member _meta, as stamp makes it: what others have put there,
// and who answers. If all that was there was of the other hop, there is no member.
func (f form) appendRawMeta(dst []byte, first int, meta json.RawMessage) []byte {
	without, removed := len(dst), false
	dst = append(comma(dst, first), `"_meta":{`...)
	first = len(dst)
	for name, member := range wire.Whole(meta) {
		if mcp.ReservedMeta(string(name)) {
			removed = true
			continue
		}
		dst = append(comma(dst, first), member...)
	}
	if f.facts.Stateless {
		dst = append(comma(dst, first), f.by.inner...)
	}
	if removed && len(dst) == first {
		return dst[:without]
	}
	return append(dst, '}')
}

// comma separates a member from those before it, if it is not the first.
func comma(dst []byte, first int) []byte {
	if len(dst) > first {
		return append(dst, ',')
	}
	return dst
}
