package naming

import (
	"slices"
	"strings"
)

// Unusual says what in a URI many servers read as if another URI stood there, or "" if
// there is nothing of the kind: dot segments, characters that are encoded and need not be,
// capitals where case does not count, and empty segments of a path to a file. Rules about
// URIs judge their text, so they would judge one resource, and the server read another.
//
// Spec: 2026-07-28 server/resources#security-considerations.
func Unusual(uri string) string {
	scheme, rest, ok := strings.Cut(uri, ":")
	if !ok {
		return ""
	}
	rest, _, _ = strings.Cut(rest, "#")
	rest, _, _ = strings.Cut(rest, "?")
	host, path := "", rest
	if after, ok := strings.CutPrefix(rest, "//"); ok {
		end := strings.IndexByte(after, '/')
		if end < 0 {
			end = len(after)
		}
		host, path = after[:end], after[end:]
	}
	switch {
	case hasCapital(scheme):
		return "capitals in its scheme"
	case slices.Contains(hosted, scheme) && hasCapital(host):
		return "capitals in its host"
	case encodesPlain(uri):
		return "characters that are encoded and need not be"
	case hasDots(host + path):
		return `segments "." or ".."`
	case scheme == "file" && strings.Contains(path, "//"):
		return "an empty segment"
	}
	return ""
}

// hosted are the schemes whose host is one, and no name that the server has chosen.
var hosted = []string{"http", "https", "file"}

func hasCapital(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r >= 'A' && r <= 'Z' })
}

// hasDots reports whether a path has a dot segment, for those as well who decode it first
// or take a backslash for a slash.
func hasDots(path string) bool {
	plain := separators.Replace(path)
	return slices.ContainsFunc(strings.Split(plain, "/"), func(segment string) bool { return segment == "." || segment == ".." })
}

var separators = strings.NewReplacer("%2e", ".", "%2E", ".", "%2f", "/", "%2F", "/", "%5c", "/", "%5C", "/", `\`, "/")

// encodesPlain reports whether a URI encodes what every URI may have as it is (RFC 3986,
// section 2.3).
func encodesPlain(uri string) bool {
	for i := strings.IndexByte(uri, '%'); i >= 0 && i+2 < len(uri); {
		if c, ok := unhex(uri[i+1], uri[i+2]); ok && isUnreserved(c) {
			return true
		}
		next := strings.IndexByte(uri[i+1:], '%')
		if next < 0 {
			return false
		}
		i += 1 + next
	}
	return false
}

func isUnreserved(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._~", c) >= 0
}

func unhex(high, low byte) (byte, bool) {
	const digits = "0123456789abcdef"
	h, l := strings.IndexByte(digits, high|0x20), strings.IndexByte(digits, low|0x20)
	return byte(h<<4 | l), h >= 0 && l >= 0 //nolint:gosec // both are below 16
}
