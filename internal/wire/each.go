package wire

import (
	"bytes"
	"iter"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// Each returns the members of an object, in order: the decoded name and the raw
// value. doc must be valid, as the parts of a decoded message are: it is not
// checked again. Anything but an object has no members.
func Each(doc []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(name, value []byte) bool) {
		s := Skim(doc)
		if s.Next() != '{' {
			return
		}
		for s.Enter(); s.Next() == '"'; {
			name := unquote(s.Skip())
			if !yield(name, s.Skip()) {
				return
			}
		}
	}
}

// Whole returns the members of an object, in order: the decoded name, and the text of the
// member with its name. doc must be valid, as for Each, and compact.
func Whole(doc []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(name, member []byte) bool) {
		s := Skim(doc)
		if s.Next() != '{' {
			return
		}
		for s.Enter(); s.Next() == '"'; {
			begin := s.at
			name := unquote(s.Skip())
			s.Skip()
			if !yield(name, doc[begin:s.at:s.at]) {
				return
			}
		}
	}
}

// Find returns the raw value of a member of an object, or nil. doc must be
// valid, as for Each.
func Find(doc []byte, member string) []byte {
	for name, value := range Each(doc) {
		if string(name) == member {
			return value
		}
	}
	return nil
}

// Place returns the position of a member's value in an object: it is
// doc[begin:end]. Both are 0 if there is no such member. doc must be valid, as
// for Each.
func Place(doc []byte, member string) (begin, end int) {
	s := Skim(doc)
	if s.Next() != '{' {
		return 0, 0
	}
	for s.Enter(); s.Next() == '"'; {
		name := unquote(s.Skip())
		s.Next()
		begin := s.at
		if s.Skip(); string(name) == member {
			return begin, s.at
		}
	}
	return 0, 0
}

// Except is Without for an object that is known to be valid, as for Each.
func Except(doc []byte, names ...string) []byte {
	out := append(make([]byte, 0, len(doc)), '{')
	for name, value := range Each(doc) {
		if !slices.Contains(names, string(name)) {
			out, _ = appendMember(out, string(name), value) // fails when the name is not UTF-8
		}
	}
	return append(out, '}')
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

// unquote decodes a name; hardly any has an escape.
func unquote(name []byte) []byte {
	if bytes.IndexByte(name, '\\') >= 0 {
		decoded, _ := jsontext.AppendUnquote(nil, name) // it is valid
		return decoded
	}
	return name[1:max(1, len(name)-1)]
}
