// Package jsonc reads what people write by hand as JSON: with comments and with commas after
// the last of something, as editors take it in their settings.
package jsonc

import "bytes"

// Plain returns the text with blanks in place of comments, and of commas before a closing
// bracket, so that places in it stay what they are. What is wrong with it stays wrong.
func Plain(text []byte) []byte {
	plain := bytes.Clone(text)
	comma := -1 // where there is one that nothing has followed yet
	for i := 0; i < len(plain); i++ {
		switch c := plain[i]; c {
		case ' ', '\t', '\r', '\n':
			continue
		case '/':
			if end := comment(plain[i:]); end > 0 {
				blank(plain[i : i+end])
				i += end - 1
				continue
			}
			comma = -1
		case '"':
			i += quoted(plain[i:]) - 1
			comma = -1
		case ',':
			comma = i
		case ']', '}':
			if comma >= 0 {
				plain[comma] = ' '
			}
			comma = -1
		default:
			comma = -1
		}
	}
	return plain
}

// comment returns the length of the comment that text begins with, or 0.
func comment(text []byte) int {
	switch {
	case bytes.HasPrefix(text, []byte("//")):
		if end := bytes.IndexByte(text, '\n'); end >= 0 {
			return end
		}
		return len(text)
	case bytes.HasPrefix(text, []byte("/*")):
		if end := bytes.Index(text[2:], []byte("*/")); end >= 0 {
			return end + 4
		}
	}
	return 0
}

// quoted returns the length of the string that text begins with.
func quoted(text []byte) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

func blank(text []byte) {
	for i, c := range text {
		if c != '\n' {
			text[i] = ' '
		}
	}
}
