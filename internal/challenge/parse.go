package challenge

import "strings"

// Parse reads the values of WWW-Authenticate headers, each of which may hold
// several challenges. Reading of a value stops where it is malformed, and the
// challenges before that are kept: servers write this header by hand.
func Parse(values []string) []Challenge {
	var all []Challenge
	for _, v := range values {
		all = append(all, parse(v)...)
	}
	return all
}

func parse(value string) []Challenge {
	var (
		all []Challenge
		s   = scanner{rest: value}
	)
	for {
		s.skip(" \t,")
		word := s.token()
		if word == "" {
			return all
		}
		if len(all) > 0 && s.equals() {
			v, ok := s.value()
			if !ok {
				return all
			}
			c := &all[len(all)-1]
			c.Params = append(c.Params, Param{word, v})
			continue
		}
		if !s.schemeEnds() {
			return all
		}
		all = append(all, Challenge{Scheme: word})
		s.token68()
	}
}

// scanner reads challenges by the grammar of RFC 9110, section 11.
type scanner struct{ rest string }

func (s *scanner) skip(set string) { s.rest = strings.TrimLeft(s.rest, set) }

func (s *scanner) take(n int) string {
	taken := s.rest[:n]
	s.rest = s.rest[n:]
	return taken
}

func (s *scanner) token() string {
	n := 0
	for n < len(s.rest) && isToken(s.rest[n]) {
		n++
	}
	return s.take(n)
}

func isToken(b byte) bool {
	return b > ' ' && b < 0x7f && !strings.ContainsRune(`()<>@,;:\"/[]?={}`, rune(b))
}

// equals consumes the "=" between the name of a parameter and its value.
func (s *scanner) equals() bool {
	after := strings.TrimLeft(s.rest, " \t")
	if !strings.HasPrefix(after, "=") {
		return false
	}
	s.rest = strings.TrimLeft(after[1:], " \t")
	return true
}

// schemeEnds reports whether a scheme may end here.
func (s *scanner) schemeEnds() bool {
	return s.rest == "" || strings.ContainsRune(" \t,", rune(s.rest[0]))
}

// token68 skips the single unnamed value that a scheme may have.
func (s *scanner) token68() {
	after := strings.TrimLeft(s.rest, " \t")
	n := 0
	for n < len(after) && (isToken(after[n]) || after[n] == '/') {
		n++
	}
	m := n
	for m < len(after) && after[m] == '=' {
		m++
	}
	end := strings.TrimLeft(after[m:], " \t")
	if n > 0 && (end == "" || end[0] == ',') && (m > n || end == "" || strings.ContainsAny(after[:n], "/")) {
		s.rest = end
	}
}

// value reads a token or a quoted string.
func (s *scanner) value() (string, bool) {
	if !strings.HasPrefix(s.rest, `"`) {
		v := s.loose()
		return v, v != ""
	}
	var b strings.Builder
	for i := 1; i < len(s.rest); i++ {
		switch c := s.rest[i]; {
		case c == '"':
			s.take(i + 1)
			return b.String(), true
		case c == '\\' && i+1 < len(s.rest):
			i++
			b.WriteByte(s.rest[i])
		default:
			b.WriteByte(c)
		}
	}
	return "", false
}

// loose reads an unquoted value. Many servers forget the quotes around URLs.
func (s *scanner) loose() string {
	n := strings.IndexAny(s.rest, ", \t\"")
	if n < 0 {
		n = len(s.rest)
	}
	return s.take(n)
}
