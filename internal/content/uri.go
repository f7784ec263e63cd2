package content

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// URI checks that text is a URI with a scheme, in the characters that RFC 3986
// allows in each of its parts. Whether a host exists, or what a scheme demands
// beyond that, is not looked at.
//
// Spec: 2026-07-28 server/resources#custom-uri-schemes.
func URI(text string) error {
	scheme, rest, ok := strings.Cut(text, ":")
	if !ok || !isScheme(scheme) {
		return fmt.Errorf("uri %.100q has no scheme, such as %q", text, "file:")
	}
	rest, fragment, _ := strings.Cut(rest, "#")
	authority, rest := cutAuthority(rest)
	bad := badCharacter(authority, ":@[]")
	if bad == "" {
		bad = badCharacter(rest, ":@/?")
	}
	if bad == "" {
		bad = badCharacter(fragment, ":@/?")
	}
	if bad != "" {
		return fmt.Errorf("uri %.100q: %q must be percent-encoded, as %q", text, bad, encoded(bad))
	}
	return nil
}

func isScheme(text string) bool {
	return text != "" && isLetter(rune(text[0])) && !strings.ContainsFunc(text, func(r rune) bool {
		return !isAlphanumeric(r) && !strings.ContainsRune("+-.", r)
	})
}

// cutAuthority splits what follows the scheme. The authority is empty if there is
// none.
func cutAuthority(text string) (authority, rest string) {
	authority, ok := strings.CutPrefix(text, "//")
	if !ok {
		return "", text
	}
	if end := strings.IndexAny(authority, "/?"); end >= 0 {
		return authority[:end], authority[end:]
	}
	return authority, ""
}

// badCharacter returns the first character of part that is neither unreserved, a
// sub-delimiter, one of also, nor part of a percent-encoding; or "".
func badCharacter(part, also string) string {
	for i := 0; i < len(part); i++ {
		c := part[i]
		switch {
		case c == '%' && i+2 < len(part) && isHex(part[i+1]) && isHex(part[i+2]):
			i += 2
		case isAlphanumeric(rune(c)) || c < utf8.RuneSelf && strings.IndexByte("-._~!$&'()*+,;=", c) >= 0 || strings.IndexByte(also, c) >= 0:
		default:
			_, width := utf8.DecodeRuneInString(part[i:])
			return part[i : i+width]
		}
	}
	return ""
}

func isHex(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F' }

// encoded percent-encodes every byte.
func encoded(text string) string {
	var s strings.Builder
	for i := range len(text) {
		fmt.Fprintf(&s, "%%%02X", text[i])
	}
	return s.String()
}
