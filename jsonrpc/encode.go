package jsonrpc

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parley-mcp/parley/internal/wire"
)

// envelope is the room, in bytes, for everything in a message but its content.
const envelope = 96

// Append appends m as one line of JSON, without a newline at its end. An error
// response without an ID is written with "id":null; see AppendNoID. It fails,
// and returns dst as it was, when Params or Result is not valid JSON.
func Append(dst []byte, m *Message) ([]byte, error) {
	start := len(dst)
	dst = slices.Grow(dst, envelope+len(m.Method)+len(m.Params)+len(m.Result))
	dst = append(dst, `{"jsonrpc":"2.0"`...)
	if m.Kind != Notification {
		dst = append(dst, `,"id":`...)
		dst = appendID(dst, m.ID)
	}
	dst, err := appendBody(dst, m)
	if err != nil {
		return dst[:start], err
	}
	return append(dst, '}'), nil
}

// AppendNoID appends an error response without an id member, which is the form
// that the schemas from 2025-11-25 on require when the ID of a frame could not
// be read. It fails, and returns dst as it was, when e.Data is not valid JSON.
func AppendNoID(dst []byte, e *Error) ([]byte, error) {
	start := len(dst)
	dst = append(dst, `{"jsonrpc":"2.0","error":`...)
	dst, err := wire.Append(dst, e)
	if err != nil {
		return dst[:start], err
	}
	return append(dst, '}'), nil
}

// typicalResult is room, in bytes, for most results, so that the buffer does
// not grow while they are written.
const typicalResult = 512

// AppendResult appends the response that answers id, encoding result straight
// into dst. It fails, and returns dst as it was, when result has no JSON form.
func AppendResult(dst []byte, id ID, result any) ([]byte, error) {
	start := len(dst)
	dst = slices.Grow(dst, typicalResult)
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	dst = appendID(dst, id)
	dst = append(dst, `,"result":`...)
	dst, err := wire.Append(dst, result)
	if err != nil {
		return dst[:start], err
	}
	return append(dst, '}'), nil
}

// appendBody removes newlines from what a caller supplied: one frame must stay
// one line.
func appendBody(dst []byte, m *Message) ([]byte, error) {
	switch {
	case m.Kind == Response && m.Error != nil:
		return wire.Append(append(dst, `,"error":`...), m.Error)
	case m.Kind == Response:
		return wire.AppendEncoded(append(dst, `,"result":`...), m.Result, m.encoded)
	}
	dst = append(dst, `,"method":`...)
	dst, err := jsontext.AppendQuote(dst, m.Method)
	if err != nil || m.Params == nil {
		return dst, err
	}
	return wire.AppendEncoded(append(dst, `,"params":`...), m.Params, m.encoded)
}

func appendID(dst []byte, id ID) []byte {
	if id.IsZero() {
		return append(dst, "null"...)
	}
	return append(dst, id.raw...)
}
