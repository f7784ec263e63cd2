package adapt

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/parley-mcp/parley/internal/wire"
)

// Adapt returns a tool, as clients see it, in a form that the vendor takes. unfit says why
// there is none, or is "". A tool that needs no change is returned as it is.
func (p *Profile) Adapt(tool json.RawMessage) (adapted json.RawMessage, unfit string) {
	if p == nil {
		return tool, ""
	}
	name, _ := wire.Text(wire.Find(tool, "name"))
	if form := p.forms["name"]; form != nil && !form.MatchString(name) {
		return nil, p.rules["name"].Says
	}
	input := wire.Find(tool, "inputSchema")
	a := &adapter{Profile: p, root: input}
	a.countItems(input, 0)
	made := a.schema(input, true, 0)
	if a.unfit != "" {
		return nil, a.unfit
	}
	said, _ := wire.Text(wire.Find(tool, "description"))
	description, rest := p.describe(said, a.words)
	if rest != "" {
		made = describe(made, rest)
	}
	var err error
	adapted = tool
	if string(made) != string(input) {
		if adapted, err = wire.Set(adapted, "inputSchema", made); err != nil {
			return nil, err.Error()
		}
	}
	if description != said {
		if adapted, err = wire.Set(adapted, "description", wire.AppendText(nil, description)); err != nil {
			return nil, err.Error()
		}
	}
	return adapted, ""
}

// describe returns the description of a tool, with words about its arguments, within the
// bounds of the vendor. What has no room is the rest.
func (p *Profile) describe(said string, words []string) (description, rest string) {
	description = said
	if text := "Arguments: " + strings.Join(words, "; ") + "."; len(words) > 0 {
		description = strings.TrimSpace(said + "\n\n" + text)
	}
	r, bounded := p.rules["description-length"]
	if !bounded {
		return description, ""
	}
	most, _ := strconv.Atoi(r.Limit) // a test reads it
	if utf8.RuneCountInString(description) <= most {
		return description, ""
	}
	if len(words) > 0 {
		rest = strings.Join(words, "; ")
	}
	return shorten(said, most), rest
}

// shorten cuts a text to a number of characters.
func shorten(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	n := 0
	for i := range text {
		if n++; n == most {
			return text[:i] + "…"
		}
	}
	return text
}

// describe adds words to the description of a schema.
func describe(schema []byte, words string) []byte {
	o := parse(schema)
	said, _ := wire.Text(o.get("description"))
	if said != "" {
		words = said + " (" + words + ")"
	}
	o.set("description", wire.AppendText(nil, words))
	return o.bytes()
}

// object is a JSON object in the order of its members, whose values keep their bytes.
type object struct {
	names  []string
	values map[string][]byte
}

// parse reads an object; anything else is one without members.
func parse(raw []byte) *object {
	o := &object{values: map[string][]byte{}}
	for name, value := range wire.Each(raw) {
		o.set(string(name), value)
	}
	return o
}

func (o *object) get(name string) []byte { return o.values[name] }

func (o *object) has(name string) bool { return o.values[name] != nil }

func (o *object) set(name string, value []byte) {
	if !o.has(name) {
		o.names = append(o.names, name)
	}
	o.values[name] = value
}

func (o *object) drop(name string) {
	for i, n := range o.names {
		if n == name {
			o.names = append(o.names[:i:i], o.names[i+1:]...)
			delete(o.values, name)
			return
		}
	}
}

func (o *object) bytes() []byte {
	out := []byte{'{'}
	for i, name := range o.names {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(wire.AppendText(out, name), ':')
		out = append(out, o.values[name]...)
	}
	return append(out, '}')
}

// list returns the elements of an array.
func list(array []byte) (elements [][]byte) {
	s := wire.Skim(array)
	if s.Next() != '[' {
		return nil
	}
	for s.Enter(); s.Next() != ']' && s.Next() != 0; {
		elements = append(elements, s.Skip())
	}
	return elements
}

func array(elements [][]byte) []byte {
	out := []byte{'['}
	for i, e := range elements {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, e...)
	}
	return append(out, ']')
}

// maxWords bounds what is said of one keyword, in characters.
const maxWords = 300

// phrases say in words what keywords demand.
var phrases = map[string]string{
	"minimum": "at least %s", "maximum": "at most %s", "exclusiveMinimum": "more than %s", "exclusiveMaximum": "less than %s", "multipleOf": "a multiple of %s",
	"minLength": "at least %s characters", "maxLength": "at most %s characters", "pattern": "matches the pattern %s",
	"minItems": "at least %s items", "maxItems": "at most %s items", "minProperties": "at least %s members", "maxProperties": "at most %s members",
	"enum": "one of %s", "const": "always %s", "default": "by default %s", "format": "in the format %s",
	"oneOf": "fits exactly one of the schemas %s", "anyOf": "fits at least one of the schemas %s", "allOf": "fits all of the schemas %s", "not": "does not fit the schema %s",
}

// phrase says what a keyword demands.
func phrase(keyword string, value []byte) string {
	text := shorten(string(value), maxWords)
	if keyword == "uniqueItems" {
		return "no item twice"
	}
	if p, ok := phrases[keyword]; ok {
		return fmt.Sprintf(p, text)
	}
	return keyword + " is " + text
}
