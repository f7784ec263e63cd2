package cli

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
)

// harmless replaces control characters, except for line breaks and tabs, and
// characters that change the direction of text.
func harmless(s string) string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && isHarmful(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
}

// isHarmful reports whether a character does something to a terminal instead of
// being shown: control characters, and those that reorder what is around them
// or break lines where nobody looks for it.
func isHarmful(r rune) bool {
	switch {
	case unicode.IsControl(r), r >= 0x202A && r <= 0x202E, r >= 0x2066 && r <= 0x2069:
		return true
	case r == 0x061C, r == 0x200E, r == 0x200F, r == 0x2028, r == 0x2029:
		return true
	}
	return false
}

// oneLine puts prose on one line, cut to a number of characters.
func oneLine(s string, limit int) string {
	return cut(strings.Join(strings.Fields(harmless(s)), " "), limit)
}

// label prepares a name, a URI or another short text that has no business to
// break lines: breaks are shown as such, so that nobody takes what follows for
// a line of this program.
func label(s string, limit int) string {
	return cut(harmless(strings.NewReplacer("\r\n", `\n`, "\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(s)), limit)
}

// cut cuts a text to a number of characters.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	if r := []rune(s); len(r) > limit {
		return string(r[:limit-1]) + "…"
	}
	return s
}

// indent puts a prefix before each line.
func indent(s, prefix string) string {
	return prefix + strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n"+prefix)
}

// endLine ends a text with a line break, unless it has one.
func endLine(s string) string {
	if strings.HasSuffix(s, "\n") {
		return s
	}
	return s + "\n"
}

// escaped writes harmful characters as escapes of JSON, which mean the same to
// programs and do nothing to a terminal. Those that JSON has outside of strings
// are white space.
func escaped(doc []byte) []byte {
	if !bytes.ContainsFunc(doc, func(r rune) bool { return r != '\n' && isHarmful(r) }) {
		return doc
	}
	var b bytes.Buffer
	for _, r := range string(doc) {
		switch {
		case r == '\r':
			b.WriteByte(' ')
		case r != '\n' && r != '\t' && isHarmful(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.Bytes()
}
