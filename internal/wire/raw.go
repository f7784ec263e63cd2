package wire

import "github.com/go-json-experiment/json/jsontext"

// AppendRaw appends a value that is JSON already. The value is checked and
// written as compact JSON on one line: numbers and strings keep their text,
// including escapes. Invalid UTF-8 is replaced, as by Append. On an error, dst
// is returned unchanged.
func AppendRaw(dst, raw []byte) ([]byte, error) {
	if out, err := jsontext.AppendFormat(dst, raw, jsontext.PreserveRawStrings(true)); err == nil {
		return out, nil
	}
	out, err := jsontext.AppendFormat(dst, raw, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return dst, err
	}
	return out, nil
}

// marshalRaw is Marshal for a value that is JSON already; nil is null.
func marshalRaw(dst, raw []byte) ([]byte, error) {
	if raw == nil {
		return append(dst, "null"...), nil
	}
	return AppendRaw(dst, raw)
}

// Encoded identifies JSON that Marshal made, which need not be checked again.
// The zero value identifies none.
type Encoded struct {
	first *byte
	size  int
}

// MarshalEncoded is Marshal, and also returns an Encoded that identifies the
// result. The result must not be changed in place.
func MarshalEncoded(v any) ([]byte, Encoded, error) {
	raw, err := Marshal(v)
	if err != nil {
		return nil, Encoded{}, err
	}
	return raw, Encoded{&raw[0], len(raw)}, nil
}

// AppendEncoded is AppendRaw, but skips the checks if e identifies this very
// slice.
func AppendEncoded(dst, raw []byte, e Encoded) ([]byte, error) {
	if len(raw) > 0 && e == (Encoded{&raw[0], len(raw)}) {
		return append(dst, raw...), nil
	}
	return AppendRaw(dst, raw)
}

// AppendText appends a string as JSON, as Append does.
func AppendText(dst []byte, s string) []byte {
	dst, _ = jsontext.AppendQuote(dst, s) // which reports what it has replaced
	return dst
}
