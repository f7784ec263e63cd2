package era

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/parley-mcp/parley/internal/access"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// call is result for the result of a tool. That is the answer to most requests,
// so it is encoded by hand.
func (f form) call(r *mcp.CallToolResult) wire.Written {
	return func(dst []byte) ([]byte, error) {
		c, meta := f.clearedCall(r)
		dst = slices.Grow(dst, withSlack(callSize(r)))
		if !callByHand {
			return appendWholeCall(dst, &c, !f.facts.Stateless)
		}
		return appendCall(dst, &c, meta, access.EncodedOf(r), !f.facts.Stateless)
	}
}

// clearedCall returns a copy of r without what the revision lacks, and the
// encoded form of its Meta if that is known.
func (f form) clearedCall(r *mcp.CallToolResult) (c mcp.CallToolResult, meta json.RawMessage) {
	c = *r
	if f.facts.Stateless && len(c.Meta) == 0 {
		meta = f.by.text
	}
	f.head(&c.ResultFields, nil)
	c.Content = shapeContents(c.Content, f.facts)
	if !f.facts.StructuredContent || !f.facts.AnyStructuredContent && !isObject(c.StructuredContent) {
		c.StructuredContent = nil
	}
	return c, meta
}

// callByHand says that appendCall knows all members of the result of a tool. If a
// member has been added since, the result is encoded like any other value.
var callByHand = hasMembers(reflect.TypeFor[mcp.CallToolResult](), "_meta", "resultType", "content", "structuredContent", "isError")

// hasMembers reports whether the JSON form of a struct has exactly these members.
func hasMembers(t reflect.Type, names ...string) bool {
	for _, field := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if field.Anonymous || !field.IsExported() || name == "-" {
			continue
		}
		i := slices.Index(names, name)
		if i < 0 {
			return false
		}
		names = slices.Delete(names, i, i+1)
	}
	return len(names) == 0
}

// appendCall appends a result by hand. explicit writes isError even when it is
// false, which readers of the early revisions rely on.
//
// Spec: 2025-03-26 server/tools#calling-tools.
func appendCall(dst []byte, c *mcp.CallToolResult, meta json.RawMessage, encoded wire.Encoded, explicit bool) (_ []byte, err error) {
	if dst, err = appendHeading(append(dst, '{'), c.ResultFields, meta); err != nil {
		return nil, err
	}
	if dst, err = appendContent(dst, c.Content, c.StructuredContent, encoded); err != nil {
		return nil, err
	}
	switch {
	case c.IsError:
		dst = append(dst, `,"isError":true`...)
	case explicit:
		dst = append(dst, `,"isError":false`...)
	}
	return append(dst, '}'), nil
}

// appendWholeCall is appendCall for a result with members that appendCall does not know.
func appendWholeCall(dst []byte, c *mcp.CallToolResult, explicit bool) ([]byte, error) {
	whole := *c
	if whole.Content == nil {
		whole.Content = mcp.Contents{}
	}
	doc, err := wire.Marshal(&whole)
	if err == nil && explicit && !c.IsError {
		doc, err = wire.Set(doc, "isError", []byte("false"))
	}
	if err != nil {
		return nil, err
	}
	return append(dst, doc...), nil
}

// appendHeading appends the members that every result may have, each followed by
// a comma. meta is the encoded form of f.Meta if that is known.
func appendHeading(dst []byte, f mcp.ResultFields, meta json.RawMessage) (_ []byte, err error) {
	switch {
	case meta != nil:
		dst = append(append(append(dst, `"_meta":`...), meta...), ',')
	case f.Meta != nil:
		if dst, err = wire.Append(append(dst, `"_meta":`...), f.Meta); err != nil {
			return nil, err
		}
		dst = append(dst, ',')
	}
	if f.ResultType == "" {
		return dst, nil
	}
	return append(wire.AppendText(append(dst, `"resultType":`...), f.ResultType), ','), nil
}

func appendContent(dst []byte, content mcp.Contents, structured json.RawMessage, encoded wire.Encoded) (_ []byte, err error) {
	dst = append(dst, `"content":[`...)
	for i, block := range content {
		if i > 0 {
			dst = append(dst, ',')
		}
		if dst, err = appendBlock(dst, block); err != nil {
			return nil, err
		}
	}
	dst = append(dst, ']')
	if structured == nil {
		return dst, nil
	}
	return wire.AppendEncoded(append(dst, `,"structuredContent":`...), structured, encoded)
}

func appendBlock(dst []byte, block mcp.Content) ([]byte, error) {
	t, ok := block.(*mcp.TextContent)
	if !ok || t == nil || t.Annotations != nil || t.Meta != nil {
		return wire.Append(dst, block)
	}
	return append(wire.AppendText(append(dst, `{"type":"text","text":`...), t.Text), '}'), nil
}
