package lint

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/parley-mcp/parley/internal/jsonptr"
	"github.com/parley-mcp/parley/internal/wire"
)

// checker collects findings.
type checker struct {
	options *Options
	modes   []string
	found   []placed
	omitted int
	perRule map[string]int // by server and rule
	used    []bool         // which acceptances something needed
	texted  int            // bytes of texts that were looked at
}

// placed is a finding and where it belongs in the report.
type placed struct {
	Finding

	server, item int
}

// server is what is known of a server.
type server struct {
	*Definitions

	index   int
	items   []*item
	self    *item // for what is said of the server as a whole
	summary Summary
	tools   map[string]bool  // by name; see has
	uris    map[string]*item // those that were seen
}

// item is a definition that has been read.
type item struct {
	Item

	server *server
	index  int
	name   string
	v      map[string]any // nil if it is no object
}

// text returns a member that is a string, or "".
func (it *item) text(member string) string {
	s, _ := it.v[member].(string)
	return s
}

// member returns a member as JSON, or nil.
func (it *item) member(name string) json.RawMessage {
	var found json.RawMessage
	_ = wire.Members(it.Raw, func(n string, v []byte) error { // it was read before
		if n == name {
			found = slices.Clone(v)
		}
		return nil
	})
	return found
}

func (c *checker) newServer(index int, d *Definitions) *server {
	d = &Definitions{Server: cut(d.Server, 200), File: d.File, Instructions: d.Instructions, Items: d.Items, Card: d.Card, Manifest: d.Manifest, doc: d.doc}
	s := &server{Definitions: d, index: index, summary: Summary{Server: d.Server, File: d.File}}
	s.self = &item{Item: Item{Kind: Server}, server: s, index: -1, name: d.Server}
	if len(d.Items) > maxItems {
		c.add(s.self, "definitions/many", "", "the first %d definitions were looked at", maxItems)
	}
	for i, raw := range d.Items[:min(len(d.Items), maxItems)] {
		it := &item{Item: raw, server: s, index: i}
		s.items = append(s.items, it)
		switch raw.Kind {
		case Tool:
			s.summary.Tools++
		case Prompt:
			s.summary.Prompts++
		case Resource:
			s.summary.Resources++
		case Template:
			s.summary.Templates++
		case Server, Card, Manifest: // they are no items
		}
		c.read(it)
	}
	return s
}

// read decodes a definition, and says if that is not possible.
func (c *checker) read(it *item) {
	if len(it.Raw) > maxItem {
		it.name = nameIn(it.Raw)
		c.add(it, "definitions/size", it.Pointer, "the definition has %d bytes", len(it.Raw))
		return
	}
	if err := wire.Unmarshal(it.Raw, &it.v); err != nil || it.v == nil {
		it.v, it.name = nil, nameIn(it.Raw)
		why := "it is no JSON object"
		if err != nil {
			why = quoteless(err.Error())
		}
		c.add(it, "definitions/json", it.Pointer, "the definition can't be read: %s", why)
		return
	}
	it.name = it.text("name")
	for _, member := range []string{"name", "title", "description", "uri", "uriTemplate", "mimeType"} {
		if v, ok := it.v[member]; ok {
			if _, isText := v.(string); !isText {
				c.add(it, "definitions/json", it.Pointer+"/"+member, "%s is no string", member)
			}
		}
	}
	if it.name == "" {
		c.add(it, "names/missing", it.Pointer, "the %s has no name", it.Kind)
		it.name = it.text("uri") + it.text("uriTemplate")
	}
}

// nameIn finds the name of a definition that can't be read whole.
func nameIn(raw []byte) string {
	name, _ := wire.Text(wire.Find(raw, "name"))
	return name
}

// server applies the rules that look at one server.
func (c *checker) server(s *server) {
	for _, it := range s.items {
		if it.v == nil {
			continue
		}
		switch it.Kind {
		case Tool:
			c.tool(it)
		case Prompt:
			c.prompt(it)
		case Resource:
			c.resource(it)
		case Template:
			c.template(it)
		case Server, Card, Manifest: // they are no items
		}
		c.described(it)
		c.icons(it)
		c.texts(it)
	}
	c.names(s)
	c.twins(s)
	c.costs(s)
	if s.Instructions != "" {
		c.instructions(s)
	}
	if s.Card != nil {
		c.card(s)
	}
	if s.Manifest != nil {
		c.manifest(s)
	}
}

func (c *checker) tool(it *item) {
	c.toolName(it)
	c.toolSchemas(it)
	c.annotations(it)
	c.secretParameters(it)
}

// add reports a finding of a rule.
func (c *checker) add(it *item, rule, pointer, format string, args ...any) {
	c.addMore(it, rule, pointer, 0, format, args...)
}

// addMore reports a finding that the definition has in further places.
func (c *checker) addMore(it *item, rule, pointer string, more int, format string, args ...any) {
	r := ruleIndex()[rule]
	if r == nil {
		panic("lint: there is no rule " + rule) // a test triggers each
	}
	if !c.wanted(r, it.name) {
		return
	}
	key := strconv.Itoa(it.server.index) + rule
	if c.perRule == nil {
		c.perRule = map[string]int{}
	}
	if c.perRule[key]++; c.perRule[key] > maxPerRule || len(c.found) >= maxFindings {
		c.omitted++
		return
	}
	f := Finding{
		Rule: rule, Severity: r.Severity, Server: cut(it.server.Server, 200), File: it.server.File, Kind: it.Kind, Name: cut(it.name, 200),
		Pointer: cut(pointer, 500), More: more, Text: fmt.Sprintf(format, args...), Mend: r.Mend, Source: r.Source, Date: r.Date,
	}
	f.Accepted = c.accepted(&f)
	c.found = append(c.found, placed{f, it.server.index, it.index})
}

// wanted reports whether the options ask for a rule.
func (c *checker) wanted(r *Rule, name string) bool {
	if r.Vendor != "" && !slices.Contains(c.modes, r.Vendor+"/"+r.Mode) {
		return false
	}
	means := func(choice string) bool {
		rule, of, some := strings.Cut(choice, "=")
		return (rule == r.ID || rule == group(r.ID)) && (!some || of == name)
	}
	return (c.options.Rules == nil || slices.ContainsFunc(c.options.Rules, means)) && !slices.ContainsFunc(c.options.Ignore, means)
}

// quoted quotes a text of a definition: cut, and with escapes for what is not seen.
func quoted(s string) string { return strconv.Quote(cut(s, 80)) }

// quoteless makes the text of an error harmless, which may hold parts of a document.
func quoteless(s string) string {
	q := strconv.Quote(cut(s, 300))
	return strings.ReplaceAll(q[1:len(q)-1], `\"`, `"`)
}

// cut cuts a text to a number of characters.
func cut(s string, limit int) string {
	if len(s) <= limit || utf8.RuneCountInString(s) <= limit {
		return s
	}
	n := 0
	for i := range s {
		if n++; n == limit {
			return s[:i] + "…"
		}
	}
	return s
}

// pointer appends names to a JSON pointer.
func pointer(base string, names ...string) string {
	var b strings.Builder
	b.WriteString(base)
	for _, name := range names {
		b.WriteByte('/')
		b.WriteString(jsonptr.Escape(name))
	}
	return b.String()
}

// list puts the first of some names into words.
func list(names []string) string {
	const most = 5
	var shown []string
	for _, n := range names[:min(len(names), most)] {
		shown = append(shown, quoted(n))
	}
	text := strings.Join(shown, ", ")
	if len(names) > most {
		text += fmt.Sprintf(" and %d more", len(names)-most)
	}
	return text
}
