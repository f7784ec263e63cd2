package era

import (
	"encoding/json"
	"slices"

	"github.com/parley-mcp/parley/internal/revision"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// completeCall is complete for the result of a tool, which is the answer that
// most requests get.
func completeCall(r *mcp.CallToolResult, name *named) wire.Written {
	return func(dst []byte) ([]byte, error) {
		f, meta := r.ResultFields, name.text
		if len(f.Meta) > 0 {
			meta = nil
		}
		stamp(&f, name.meta)
		dst = beginCall(dst, r)
		dst, err := appendHeading(dst, f, meta)
		if err != nil {
			return nil, err
		}
		if dst, err = appendContent(dst, r.Content, r.StructuredContent, r.Encoded); err != nil {
			return nil, err
		}
		if r.IsError {
			dst = append(dst, `,"isError":true`...)
		}
		return append(dst, '}'), nil
	}
}

// shapeCall is shape for the result of a tool. It says of success, too, that it
// is no error, which readers of the early revisions rely on.
//
// Spec: 2025-03-26 server/tools#calling-tools.
func shapeCall(r *mcp.CallToolResult, f *revision.Facts) wire.Written {
	return func(dst []byte) ([]byte, error) {
		content, structured := shapeContents(r.Content, f), r.StructuredContent
		if !f.StructuredContent || !f.AnyStructuredContent && !isObject(structured) {
			structured = nil
		}
		dst, err := appendHeading(beginCall(dst, r), plain(r.ResultFields), nil)
		if err != nil {
			return nil, err
		}
		if dst, err = appendContent(dst, content, structured, r.Encoded); err != nil {
			return nil, err
		}
		if r.IsError {
			return append(dst, `,"isError":true}`...), nil
		}
		return append(dst, `,"isError":false}`...), nil
	}
}

func beginCall(dst []byte, r *mcp.CallToolResult) []byte {
	return append(slices.Grow(dst, enough(roomForCall(r))), '{')
}

// appendHeading appends the members that every result may have, and a comma
// behind each. meta is the form of f.Meta if that is known.
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
