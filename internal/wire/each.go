package wire

import (
	"bytes"
	"iter"

	"github.com/go-json-experiment/json/jsontext"
)

// Each returns the members of an object, in order: the decoded name and the
// raw value. doc must be valid, as a part of a message is that was decoded: it
// is not checked again, and of anything but an object there are no members.
func Each(doc []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(name, value []byte) bool) {
		s := skimmer{doc: doc}
		if s.next() != '{' {
			return
		}
		s.at++
		for s.next() == '"' {
			name := s.skip()
			if s.next() == ':' {
				s.at++
			}
			s.next()
			if !yield(unquote(name), s.skip()) {
				return
			}
			if s.next() == ',' {
				s.at++
			}
		}
	}
}

// Find returns the raw value of a member of an object, or nil. What Each says
// of doc holds here.
func Find(doc []byte, member string) []byte {
	for name, value := range Each(doc) {
		if string(name) == member {
			return value
		}
	}
	return nil
}

// Text decodes a value that is known to be valid, and reports whether it is a
// string.
func Text(raw []byte) (string, bool) {
	if len(raw) < 2 || raw[0] != '"' {
		return "", false
	}
	return string(unquote(raw)), true
}

// Is reports whether a value that is known to be valid is the string text.
func Is(raw []byte, text string) bool {
	return len(raw) > 1 && raw[0] == '"' && string(unquote(raw)) == text
}

// unquote decodes a name; nearly none has an escape.
func unquote(name []byte) []byte {
	if bytes.IndexByte(name, '\\') >= 0 {
		decoded, _ := jsontext.AppendUnquote(nil, name) // it is valid
		return decoded
	}
	return name[1:max(1, len(name)-1)]
}

// skimmer moves over JSON that is known to be valid. Where it is not, it comes
// to the end early, and never past it.
type skimmer struct {
	doc []byte
	at  int
}

// next moves to the next byte that is no space, and returns it, or 0 at the
// end.
func (s *skimmer) next() byte {
	for s.at < len(s.doc) {
		switch c := s.doc[s.at]; c {
		case ' ', '\t', '\n', '\r':
			s.at++
		default:
			return c
		}
	}
	return 0
}

// skip moves past a value, and returns it.
func (s *skimmer) skip() []byte {
	begin := s.at
	switch s.next() {
	case '"':
		s.text()
	case '{', '[':
		s.composite()
	default:
		for s.at < len(s.doc) && bytes.IndexByte([]byte(",]} \t\n\r"), s.doc[s.at]) < 0 {
			s.at++
		}
	}
	return s.doc[begin:s.at:s.at]
}

func (s *skimmer) text() {
	for s.at++; s.at < len(s.doc); s.at++ {
		switch s.doc[s.at] {
		case '\\':
			s.at++
		case '"':
			s.at++
			return
		}
	}
	s.at = len(s.doc)
}

func (s *skimmer) composite() {
	for depth := 0; s.at < len(s.doc); {
		switch s.doc[s.at] {
		case '"':
			s.text()
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		s.at++
		if depth == 0 {
			return
		}
	}
}
