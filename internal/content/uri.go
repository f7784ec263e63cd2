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
	authority, path := cutAuthority(rest)
	for _, p := range []part{{authority, inAuthority}, {path, inPath}, {fragment, inPath}} {
		if at, width := p.bad(); width > 0 {
			bad := p.text[at : at+width]
			return fmt.Errorf("uri %.100q: %q must be percent-encoded, as %q", text, bad, encoded(bad))
		}
	}
	return nil
}

// Encode percent-encodes what URI would refuse in a text that has a scheme, so that
// a spelling that is common, such as with letters beyond ASCII, becomes a URI.
func Encode(text string) string {
	scheme, rest, _ := strings.Cut(text, ":")
	rest, fragment, marked := strings.Cut(rest, "#")
	authority, path := cutAuthority(rest)
	slashes := rest[:len(rest)-len(authority)-len(path)]
	clean := scheme + ":" + slashes + part{authority, inAuthority}.encode() + part{path, inPath}.encode()
	if marked {
		clean += "#" + part{fragment, inPath}.encode()
	}
	return clean
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

// part is a part of a URI, and the delimiters that may stand in it beside those
// that may stand anywhere.
type part struct{ text, also string }

const (
	inAuthority = ":@[]"
	inPath      = ":@/?" // and in the query and the fragment
)

// bad returns where the first character is that may not stand there, and its width
// in bytes; 0 if there is none.
func (p part) bad() (at, width int) {
	for at := 0; at < len(p.text); at++ {
		c := p.text[at]
		switch {
		case c == '%' && at+2 < len(p.text) && isHex(p.text[at+1]) && isHex(p.text[at+2]):
			at += 2
		case isAlphanumeric(rune(c)) || strings.IndexByte("-._~!$&'()*+,;=", c) >= 0 || strings.IndexByte(p.also, c) >= 0:
		default:
			_, width := utf8.DecodeRuneInString(p.text[at:])
			return at, width
		}
	}
	return 0, 0
}

// encode percent-encodes the characters that may not stand there.
func (p part) encode() string {
	var s strings.Builder
	for {
		at, width := p.bad()
		if width == 0 {
			s.WriteString(p.text)
			return s.String()
		}
		s.WriteString(p.text[:at])
		s.WriteString(encoded(p.text[at : at+width]))
		p.text = p.text[at+width:]
	}
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
