package server

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/yosida95/uritemplate/v3"
)

// maxURI is the length, in bytes, up to which URIs are looked up.
const maxURI = 8 << 10

var (
	uriScheme = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*:`)
	// uriRest accepts what RFC 3986 allows after the scheme, and text beyond
	// ASCII, which many leave unencoded.
	uriRest = regexp.MustCompile(`^(?:[^\x00-\x20"%<>\\^` + "`" + `{|}\x7f]|%[0-9A-Fa-f]{2})*$`)
)

// checkURI refuses anything but a URI with a scheme. Package net/url would
// refuse more, for example encoded characters in the host.
//
// Spec: 2026-07-28 server/resources#security-considerations (1).
func checkURI(uri string) error {
	scheme := uriScheme.FindString(uri)
	switch {
	case len(uri) > maxURI:
		return fmt.Errorf("longer than %d bytes", maxURI)
	case scheme == "":
		return errors.New("no scheme")
	case !utf8.ValidString(uri) || !uriRest.MatchString(uri[len(scheme):]):
		return errors.New("it has a character that must be percent-encoded")
	}
	return nil
}

// matcher finds the variables of a URI template in a URI, in time linear in the
// URI. The template library parses the template and provides a regular
// expression with one group for each {…}; its own matching takes time quadratic
// in a text that comes from the client.
type matcher struct {
	re    *regexp.Regexp
	exprs []expression
}

// expression is one {…} of a template.
type expression struct {
	separator string
	named     bool // name=value, as in {?q}
	vars      []variable
}

type variable struct {
	name    string
	explode bool
}

// value is what was found for a variable.
type value struct {
	raw   string
	items []string // decoded; several for a list
}

func textValue(s string) value { return value{s, []string{s}} }

// text returns the value as one text.
func (v value) text() string { return strings.Join(v.items, ",") }

// list returns the items of a list.
func (v value) list() []string { return v.items }

var expressionPattern = regexp.MustCompile(`\{[^}]*\}`)

func newMatcher(text string) (*matcher, error) {
	if !strings.Contains(text, ":") {
		return nil, errors.New("no scheme")
	}
	t, err := uritemplate.New(text)
	if err == nil {
		t, err = uritemplate.New(expandLiterals(text))
	}
	if err != nil {
		return nil, err
	}
	m := &matcher{re: t.Regexp()}
	for _, e := range expressionPattern.FindAllString(text, -1) {
		m.exprs = append(m.exprs, newExpression(strings.Trim(e, "{}")))
	}
	if m.re.NumSubexp() != len(m.exprs) {
		return nil, errors.New("a template of this form cannot be matched")
	}
	return m, nil
}

// expandLiterals percent-encodes what is outside of expressions as clients do when
// they expand a template (RFC 6570, section 3.1).
func expandLiterals(template string) string {
	var s strings.Builder
	for i := range len(template) {
		if c := template[i]; c < utf8.RuneSelf {
			s.WriteByte(c)
		} else {
			fmt.Fprintf(&s, "%%%02X", c)
		}
	}
	return s.String()
}

// newExpression reads an expression that the template library has accepted.
func newExpression(text string) expression {
	e := expression{separator: ","}
	switch text[0] {
	case '.', '/':
		e.separator = text[:1]
	case ';':
		e.separator, e.named = ";", true
	case '?', '&':
		e.separator, e.named = "&", true
	}
	for spec := range strings.SplitSeq(strings.TrimLeft(text, "+#./;?&"), ",") {
		name, explode := strings.CutSuffix(spec, "*")
		name, _, _ = strings.Cut(name, ":")
		e.vars = append(e.vars, variable{name, explode})
	}
	return e
}

// names returns the names of the variables in order, each once.
func (m *matcher) names() []string {
	var names []string
	for _, e := range m.exprs {
		for _, v := range e.vars {
			if !slices.Contains(names, v.name) {
				names = append(names, v.name)
			}
		}
	}
	return names
}

// match returns the values found in uri; ok reports whether the template
// matches.
func (m *matcher) match(uri string) (found map[string]value, ok bool) {
	groups := m.re.FindStringSubmatchIndex(uri)
	if groups == nil {
		return nil, false
	}
	found = make(map[string]value, len(m.exprs))
	for i, e := range m.exprs {
		from, to := groups[2*i+2], groups[2*i+3]
		if from < 0 {
			continue // the whole expression is absent
		}
		if !e.split(uri[from:to], found) {
			return nil, false
		}
	}
	return found, true
}

// split assigns the text of the expression to its variables.
func (e *expression) split(text string, found map[string]value) bool {
	if e.named {
		return e.splitNamed(text, found)
	}
	if len(e.vars) == 1 {
		return e.vars[0].assign(text, e.separator, found)
	}
	// An exploded variable takes all the remaining parts.
	for i, v := range e.vars {
		part, rest, more := strings.Cut(text, e.separator)
		if last := i == len(e.vars)-1; last && !v.explode && more {
			return false
		} else if last || v.explode {
			part, more = text, false
		}
		if !v.assign(part, e.separator, found) {
			return false
		}
		if !more {
			break // the remaining variables are absent
		}
		text = rest
	}
	return true
}

func (e *expression) splitNamed(text string, found map[string]value) bool {
	lists := map[string][]string{}
	for part := range strings.SplitSeq(text, e.separator) {
		name, value, _ := strings.Cut(part, "=")
		i := slices.IndexFunc(e.vars, func(v variable) bool { return v.name == name })
		if i < 0 || !e.vars[i].explode && lists[name] != nil {
			return false
		}
		lists[name] = append(lists[name], value)
	}
	for _, v := range e.vars {
		if list := lists[v.name]; list != nil && !v.assign(strings.Join(list, e.separator), e.separator, found) {
			return false
		}
	}
	return true
}

// assign decodes raw text for v. A variable that occurs twice must have one
// value.
func (v variable) assign(raw, separator string, found map[string]value) bool {
	if old, twice := found[v.name]; twice {
		return old.raw == raw
	}
	val := value{raw: raw}
	if !v.explode {
		separator = ","
	}
	for item := range strings.SplitSeq(raw, separator) {
		text, err := url.PathUnescape(item)
		if err != nil || !utf8.ValidString(text) {
			return false
		}
		val.items = append(val.items, text)
	}
	found[v.name] = val
	return true
}
