package jsonrpc

import (
	"errors"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// ID identifies a request. It keeps the exact JSON text that was received, so
// an identifier of any size comes back as it was sent. The zero ID means "no
// ID". IDs are comparable; two IDs are equal when they stand for the same
// JSON value ("a" and "\u0061" are).
//
// Spec: 2026-07-28 basic#requests.
type ID struct{ raw string }

// IntID returns the ID for an integer.
func IntID(n int64) ID { return ID{strconv.FormatInt(n, 10)} }

// StringID returns the ID for a string.
func StringID(s string) ID {
	b, err := jsontext.AppendQuote(nil, s)
	if err != nil { // invalid UTF-8 has been replaced
		b, _ = jsontext.AppendQuote(nil, string([]rune(s)))
	}
	return ID{string(b)}
}

var errID = errors.New("id must be a string or an integer")

// ParseID reads an ID from JSON text: a string, or a number that is an
// integer as written (1 but neither 1.0 nor 1e3). null is refused.
func ParseID(raw []byte) (ID, error) {
	if len(raw) == 0 {
		return ID{}, errID
	}
	if raw[0] == '"' {
		return parseStringID(raw)
	}
	digits := raw
	if digits[0] == '-' {
		digits = digits[1:]
	}
	if len(digits) == 0 || (digits[0] == '0' && len(raw) > 1) {
		return ID{}, errID
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return ID{}, errID
		}
	}
	return ID{string(raw)}, nil
}

// parseStringID stores strings in one spelling, which makes == mean equality
// of values.
func parseStringID(raw []byte) (ID, error) {
	plain := true
	for _, c := range raw[1:] {
		if c == '\\' || c < ' ' || c >= 0x7f {
			plain = false
			break
		}
	}
	if plain && len(raw) >= 2 && raw[len(raw)-1] == '"' {
		return ID{string(raw)}, nil
	}
	s, err := jsontext.AppendUnquote(nil, raw)
	if err != nil {
		return ID{}, errID
	}
	return StringID(string(s)), nil
}

// IsZero reports whether there is no ID.
func (id ID) IsZero() bool { return id.raw == "" }

// String returns the ID as JSON text, or "" for no ID.
func (id ID) String() string { return id.raw }

// MarshalJSON writes the exact text; no ID is null.
func (id ID) MarshalJSON() ([]byte, error) {
	if id.raw == "" {
		return []byte("null"), nil
	}
	return []byte(id.raw), nil
}

// UnmarshalJSON reads a string or an integer; anything else is an error.
func (id *ID) UnmarshalJSON(raw []byte) error {
	parsed, err := ParseID(raw)
	if err != nil {
		return err
	}
	*id = parsed
	return nil
}
