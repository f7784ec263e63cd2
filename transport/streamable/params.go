package streamable

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// The marks around a Base64 header value.
//
// Spec: 2026-07-28 basic/transports/streamable-http#value-encoding.
const (
	sentinelStart = "=?base64?"
	sentinelEnd   = "?="
)

// encodeHeader returns a value as it goes into Mcp-Name or Mcp-Param-NAME: verbatim
// if every server and intermediary is sure to read the same value, and as Base64
// otherwise. The value must be valid UTF-8, as all JSON is.
//
// Spec: 2026-07-28 basic/transports/streamable-http#value-encoding.
func encodeHeader(value string) string {
	if isPlain(value) {
		return value
	}
	return sentinelStart + base64.StdEncoding.EncodeToString([]byte(value)) + sentinelEnd
}

// isPlain reports whether a value can go into a header verbatim. A value with tabs
// cannot, although headers may contain them: some intermediaries replace them by
// spaces.
func isPlain(value string) bool {
	if strings.HasPrefix(value, " ") || strings.HasSuffix(value, " ") {
		return false
	}
	for i := range len(value) {
		if value[i] < ' ' || value[i] > '~' {
			return false
		}
	}
	return !strings.HasPrefix(value, sentinelStart) || !strings.HasSuffix(value, sentinelEnd)
}

// decodeHeader returns the value that a header carries. Base64 must use the standard
// alphabet with padding, and decode to UTF-8.
//
// Spec: 2026-07-28 basic/transports/streamable-http#server-behavior-for-custom-headers.
func decodeHeader(value string) (string, error) {
	if len(value) >= len(sentinelStart)+len(sentinelEnd) && strings.HasPrefix(value, sentinelStart) && strings.HasSuffix(value, sentinelEnd) {
		return decodeBase64(value[len(sentinelStart) : len(value)-len(sentinelEnd)])
	}
	for i := range len(value) {
		if c := value[i]; c != '\t' && (c < ' ' || c > '~') {
			return "", fmt.Errorf("character %#02x is not allowed in a plain value; send it as %s…%s", c, sentinelStart, sentinelEnd)
		}
	}
	return value, nil
}

func decodeBase64(encoded string) (string, error) {
	if strings.ContainsAny(encoded, "\r\n") { // the decoder would skip them
		return "", errors.New("line break within Base64")
	}
	b, err := base64.StdEncoding.Strict().DecodeString(encoded)
	if err != nil {
		return "", errors.New("malformed Base64")
	}
	if !utf8.Valid(b) {
		return "", errors.New("the Base64 does not hold UTF-8")
	}
	return string(b), nil
}
