// Package form has what the conversions to the forms of all vendors need.
package form

import (
	"bytes"
	"encoding/json"

	"github.com/parley-mcp/parley/internal/wire"
)

// Kept keeps what a value was decoded from, so that members which its type does not have
// are still there when it is encoded: APIs want back what they have sent, such as the
// signatures of a model's thoughts. The zero value is for values that were not decoded.
type Kept struct{ original, before []byte }

// Decode decodes a value.
func Decode(data []byte, into any) (Kept, error) {
	if err := wire.Unmarshal(data, into); err != nil {
		return Kept{}, err
	}
	before, err := wire.Marshal(into)
	return Kept{bytes.Clone(data), before}, err
}

// Encode encodes the value as it is now.
func (k Kept) Encode(v any) ([]byte, error) {
	after, err := wire.Marshal(v)
	if err != nil || k.original == nil {
		return after, err
	}
	return wire.Merge(k.original, k.before, after)
}

// TypeOf returns the member "type" of an object.
func TypeOf(data []byte) string {
	kind, _ := wire.Text(wire.Find(data, "type"))
	return kind
}

// IsText reports whether a value is a string, and returns it.
func IsText(data []byte) (string, bool) {
	data = bytes.TrimSpace(data)
	if len(data) == 0 || data[0] != '"' {
		return "", false
	}
	var text string
	return text, wire.Unmarshal(data, &text) == nil
}

// IsObject reports whether a value is an object.
func IsObject(data json.RawMessage) bool {
	s := wire.Skim(data)
	return s.Next() == '{'
}
