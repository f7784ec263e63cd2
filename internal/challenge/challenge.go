// Package challenge reads and writes the challenges of WWW-Authenticate.
//
// Spec: 2026-07-28 basic/authorization/authorization-server-discovery#protected-resource-metadata-discovery-requirements.
package challenge

import "strings"

// Challenge is one challenge: what a server demands (RFC 9110, section 11.6.1).
type Challenge struct {
	// Scheme is how to authenticate, for example "Bearer"; its case does not
	// matter.
	Scheme string
	Params []Param
}

// Param is an auth-param. The case of its name does not matter.
type Param struct{ Name, Value string }

// Is reports whether the challenge uses a scheme.
func (c *Challenge) Is(scheme string) bool { return strings.EqualFold(c.Scheme, scheme) }

// Get returns the value of the first parameter with a name, or "".
func (c *Challenge) Get(name string) string {
	for _, p := range c.Params {
		if strings.EqualFold(p.Name, name) {
			return p.Value
		}
	}
	return ""
}

// With returns the challenge with one more parameter, unless its value is "".
func (c Challenge) With(name, value string) Challenge {
	if value != "" {
		c.Params = append(c.Params[:len(c.Params):len(c.Params)], Param{name, value})
	}
	return c
}

// String returns the challenge as a header value. Characters that a header
// cannot hold become question marks.
func (c Challenge) String() string {
	var b strings.Builder
	b.WriteString(c.Scheme)
	for i, p := range c.Params {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte(' ')
		b.WriteString(p.Name)
		b.WriteString(`="`)
		for _, r := range p.Value {
			switch {
			case r == '"' || r == '\\':
				b.WriteByte('\\')
				b.WriteRune(r)
			case r < ' ' || r > '~':
				b.WriteByte('?')
			default:
				b.WriteRune(r)
			}
		}
		b.WriteByte('"')
	}
	return b.String()
}
