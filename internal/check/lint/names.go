package lint

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/parley-mcp/parley/internal/texts"
)

var toolNameForm = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)

// toolName looks at the name of a tool by itself.
//
// Spec: 2026-07-28 server/tools#tool-names.
func (c *checker) toolName(it *item) {
	at := pointer(it.Pointer, "name")
	if it.text("name") == "" {
		return
	}
	length := utf8.RuneCountInString(it.name)
	if length > 128 {
		c.add(it, "names/length", at, "the name has %d characters", length)
	}
	if !toolNameForm.MatchString(it.name) {
		c.add(it, "names/characters", at, "the name has %s", odd(it.name))
	}
	if s := it.server.Server; s != "" {
		if n := utf8.RuneCountInString("mcp__" + s + "__" + it.name); n > 64 && length <= 128 {
			c.add(it, "names/prefixed", at, "as mcp__%s__%s it has %d characters", quoteless(cut(s, 80)), quoteless(cut(it.name, 128)), n)
		}
	}
	c.vendorName(it, at)
}

// odd lists the characters of a name that the specification does not have.
func odd(name string) string {
	var seen []string
	for _, r := range name {
		if q := quoted(string(r)); !toolNameForm.MatchString(string(r)) && !slices.Contains(seen, q) {
			seen = append(seen, q)
		}
	}
	if len(seen) > 5 {
		seen = append(seen[:5], "…")
	}
	return strings.Join(seen, ", ")
}

// names looks at the names of a server together.
func (c *checker) names(s *server) {
	type key struct {
		kind Kind
		name string
	}
	first, similar := map[key]*item{}, map[key]*item{}
	for _, it := range s.items {
		if it.v == nil || it.text("name") == "" {
			continue
		}
		c.scripts(it)
		if it.Kind == Resource || it.Kind == Template {
			continue // their identity is their URI
		}
		at := pointer(it.Pointer, "name")
		k := key{it.Kind, it.name}
		if other := first[k]; other != nil {
			c.add(it, "names/duplicate", at, "%s has this name too", other.Pointer)
			continue
		}
		first[k] = it
		n := key{it.Kind, normalized(it.name)}
		if other := similar[n]; other != nil {
			c.add(it, "names/collision", at, "a host may take it for %s", quoted(other.name))
		} else if n.name != "" {
			similar[n] = it
		}
	}
	c.style(s)
}

// normalized is a name as hosts that normalize leave it, without what sets words apart.
func normalized(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
}

// styles are how names of several words are written.
var styles = []struct {
	name string
	form *regexp.Regexp
}{
	{"snake_case", regexp.MustCompile(`^[a-z0-9]+(?:_[a-z0-9]+)+$`)},
	{"kebab-case", regexp.MustCompile(`^[a-z0-9]+(?:-[a-z0-9]+)+$`)},
	{"camelCase", regexp.MustCompile(`^[a-z0-9]+(?:[A-Z][a-z0-9]*)+$`)},
	{"PascalCase", regexp.MustCompile(`^(?:[A-Z][a-z0-9]*){2,}$`)},
}

func (c *checker) style(s *server) {
	examples := map[string]string{}
	var used []string
	for _, it := range s.items {
		if it.Kind != Tool {
			continue
		}
		for _, style := range styles {
			if style.form.MatchString(it.name) && examples[style.name] == "" {
				examples[style.name] = it.name
				used = append(used, style.name+" ("+quoteless(it.name)+")")
			}
		}
	}
	if len(used) > 1 {
		c.add(s.self, "names/style", "", "the tools have names in %s", strings.Join(used, ", "))
	}
}

// scripts looks for names that look like others.
func (c *checker) scripts(it *item) {
	if it.Kind == Resource || it.Kind == Template || it.Kind == Prompt {
		if word := texts.Mixed(it.name); word != "" { // they may be in any language
			c.add(it, "names/scripts", pointer(it.Pointer, "name"), "%s mixes scripts", ascii(word))
		}
		return
	}
	for _, r := range it.name {
		if r >= utf8.RuneSelf && unicode.IsLetter(r) {
			c.add(it, "names/scripts", pointer(it.Pointer, "name"), "%s has letters beyond ASCII", ascii(it.name))
			return
		}
	}
}

// across looks at servers that a host uses together.
func (c *checker) across(all []*server) {
	first := map[string]*item{}
	for _, s := range all {
		for _, it := range s.items {
			if it.Kind != Tool || it.name == "" {
				continue
			}
			if other := first[it.name]; other == nil {
				first[it.name] = it
			} else if other.server != s {
				c.add(it, "names/shadowed", pointer(it.Pointer, "name"), "the server %s has a tool of this name too", quoted(other.server.Server))
			}
		}
	}
	if len(all) > 1 {
		c.otherServers(all, first)
	}
}
