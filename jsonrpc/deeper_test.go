package jsonrpc

import "testing"

// plainlyDeeper is deeper, one byte after the other.
func plainlyDeeper(frame []byte, limit int) bool {
	depth, inString := 0, false
	for i := 0; i < len(frame); i++ {
		switch c := frame[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			if depth++; depth > limit {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}

// Skipping strings changes nothing, whatever the frame is.
func FuzzDeeper(f *testing.F) {
	for _, s := range []string{`[[[]]]`, `["[[[","\"[[[","\\",[[]]]`, `"\\\"[`, `"\`, `[[["`, `{"a":{"b":[1,"]",{}]}}`, `\"[[["`, `}}[[[`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		if got, want := deeper(frame, 2), plainlyDeeper(frame, 2); got != want {
			t.Errorf("%q is deeper than 2 levels: %t, want %t", frame, got, want)
		}
	})
}
