package lint

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Lengths of texts that models read, in characters.
const (
	shortDescription = 15
	longDescription  = 4000
	fewWords         = 3
)

// described looks at the description of a definition.
func (c *checker) described(it *item) {
	text := strings.TrimSpace(it.text("description"))
	at := pointer(it.Pointer, "description")
	if text == "" {
		rule := "descriptions/missing"
		if it.Kind != Tool {
			rule = "descriptions/missing-other"
		}
		c.add(it, rule, it.Pointer, "the %s has no description", it.Kind)
		return
	}
	length := utf8.RuneCountInString(text)
	switch n := normalized(text); {
	case n != "" && (n == normalized(it.name) || n == normalized(it.text("title"))):
		c.add(it, "descriptions/same-as-name", at, "the description %s only repeats the name", quoted(text))
	case length < shortDescription || spaced(text) && len(strings.Fields(text)) < fewWords:
		c.add(it, "descriptions/short", at, "the description is %s", quoted(text))
	case length > longDescription:
		c.add(it, "descriptions/long", at, "the description has %d characters", length)
	}
	if it.Kind == Tool {
		c.vendorDescription(it, at, length)
	}
}

// spaced reports whether a text is in a script that sets words apart by spaces.
func spaced(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r >= 0x2E80 && r <= 0xFFEF || r >= 0x0E00 && r <= 0x0EFF })
}

// twins looks for tools of a server that say the same of themselves.
func (c *checker) twins(s *server) {
	first := map[string]*item{}
	for _, it := range s.items {
		text := strings.Join(strings.Fields(strings.ToLower(it.text("description"))), " ")
		if it.Kind != Tool || text == "" {
			continue
		}
		if other := first[text]; other != nil && other.name != it.name {
			c.add(it, "descriptions/twins", pointer(it.Pointer, "description"), "the tool %s has this description too", quoted(other.name))
		} else {
			first[text] = it
		}
	}
}

// undescribed returns the properties of an object schema without a description,
// sorted.
func undescribed(schema map[string]any) []string {
	properties, _ := schema["properties"].(map[string]any)
	var names []string
	for name, v := range properties {
		p, _ := v.(map[string]any)
		text, _ := p["description"].(string)
		if _, elsewhere := p["$ref"]; strings.TrimSpace(text) == "" && !elsewhere {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func (c *checker) instructions(s *server) {
	if n := utf8.RuneCountInString(s.Instructions); n > longDescription {
		c.add(s.self, "instructions/long", "/instructions", "the instructions have %d characters", n)
	}
	c.text(s.self, "/instructions", s.Instructions, true)
	c.hidden(s.self, []passage{{at: "/instructions", text: s.Instructions, prose: true}})
}
