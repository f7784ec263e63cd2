package wire

import "github.com/go-json-experiment/json/jsontext"

// AppendRaw appends a value that is JSON already, as Append does: it is
// checked, and compact JSON on one line comes of it. On an error dst comes
// back as it was.
func AppendRaw(dst, raw []byte) ([]byte, error) {
	out, err := jsontext.AppendFormat(dst, raw, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return dst, err
	}
	return out, nil
}

// AppendText appends a string as JSON, as Append does.
func AppendText(dst []byte, s string) []byte {
	dst, _ = jsontext.AppendQuote(dst, s) // which reports what it has replaced
	return dst
}
