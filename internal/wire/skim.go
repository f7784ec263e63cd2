package wire

import "bytes"

// Skimmer moves over JSON that is known to be valid, as the parts of a decoded
// message are, and checks nothing again. In invalid JSON it reaches the end
// early, but never passes it. It treats commas and colons as space. The zero
// value is at the end of an empty document.
type Skimmer struct {
	doc []byte
	at  int
}

// Skim returns a Skimmer at the beginning of doc.
func Skim(doc []byte) Skimmer { return Skimmer{doc: doc} }

// At returns the position in the document: after Next, that of what it has found.
func (s *Skimmer) At() int { return s.at }

// Next returns the first byte of the next value, name or closing bracket, or
// 0 at the end.
func (s *Skimmer) Next() byte {
	for ; s.at < len(s.doc); s.at++ {
		switch c := s.doc[s.at]; c {
		case ' ', '\t', '\n', '\r', ',', ':':
		default:
			return c
		}
	}
	return 0
}

// Enter moves past an opening bracket, which Next has found.
func (s *Skimmer) Enter() { s.at = min(s.at+1, len(s.doc)) }

// Leave moves past a closing bracket, and reports whether there is one, or
// the end.
func (s *Skimmer) Leave() bool {
	switch s.Next() {
	case '}', ']':
		s.at++
		return true
	case 0:
		return true
	}
	return false
}

// Skip moves past a value or a name, and returns it.
func (s *Skimmer) Skip() []byte {
	c := s.Next()
	begin := s.at
	switch c {
	case '"':
		s.at = TextEnd(s.doc, s.at)
	case '{', '[':
		s.composite()
	default:
		for s.at < len(s.doc) && bytes.IndexByte([]byte(",]} \t\n\r"), s.doc[s.at]) < 0 {
			s.at++
		}
	}
	return s.doc[begin:s.at:s.at]
}

// TextEnd returns the end of the string that begins at doc[at]: the position
// after the first quote that is not escaped, or the end of doc.
func TextEnd(doc []byte, at int) int {
	const short = 48 // names mostly are: a loop is faster than a search there
	for i, c := range doc[min(at+1, len(doc)):min(at+short, len(doc))] {
		switch c {
		case '"':
			return at + i + 2
		case '\\':
			return longTextEnd(doc, at)
		}
	}
	return longTextEnd(doc, at)
}

// longTextEnd searches for quotes, and then checks whether they are escaped.
func longTextEnd(doc []byte, at int) int {
	for from := at + 1; ; {
		n := bytes.IndexByte(doc[min(from, len(doc)):], '"')
		if n < 0 {
			return len(doc)
		}
		quote := from + n
		slashes := 0
		for doc[quote-1-slashes] == '\\' {
			slashes++
		}
		if from = quote + 1; slashes%2 == 0 {
			return from
		}
	}
}

func (s *Skimmer) composite() {
	for depth := 0; s.at < len(s.doc); {
		switch s.doc[s.at] {
		case '"':
			s.at = TextEnd(s.doc, s.at)
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
