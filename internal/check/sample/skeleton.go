package sample

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/yosida95/uritemplate/v3"

	"github.com/parley-mcp/parley/internal/wire"
)

// Offer is what a server has that needs arguments.
type Offer struct {
	Tools     []Tool
	Prompts   []Prompt
	Templates []Template
	Resources []string // URIs
}

// Tool is a tool that a server has.
type Tool struct {
	Name  string
	Input json.RawMessage // its inputSchema
}

// Prompt is a prompt that a server has.
type Prompt struct {
	Name      string
	Arguments []string // the names, of those that are required
}

// Template is a URI template that a server has.
type Template struct {
	URI       string
	Variables []string // the names
}

// Variables returns the names of the variables of a URI template; none if it can't
// be read.
func Variables(template string) []string {
	t, err := uritemplate.New(template)
	if err != nil {
		return nil
	}
	return t.Varnames()
}

// Skeleton returns the text of a file of examples for a server, with made-up
// values for people to replace. What could not be made up is a comment that says
// why.
func Skeleton(o Offer) []byte {
	var b bytes.Buffer
	b.WriteString("# Values for parley check --examples FILE. Those here were made up from the schemas:\n")
	b.WriteString("# replace them by ones that mean something to the server, and remove what is not to be used.\n")
	tools := map[string]entry{}
	for _, t := range o.Tools {
		tools[t.Name] = entryOf(t.Input)
	}
	write(&b, "tools", tools)
	prompts := map[string]entry{}
	for _, p := range o.Prompts {
		prompts[p.Name] = words(p.Arguments)
	}
	write(&b, "prompts", prompts)
	templates := map[string]entry{}
	for _, t := range o.Templates {
		templates[t.URI] = words(t.Variables)
	}
	write(&b, "templates", templates)
	if len(o.Resources) > 0 {
		b.WriteString("resources:\n")
		for _, uri := range o.Resources {
			fmt.Fprintf(&b, "  - %s\n", wire.AppendText(nil, uri))
		}
	}
	return b.Bytes()
}

// entry is what a skeleton has for a name.
type entry struct {
	value json.RawMessage
	why   error // there is none
}

func entryOf(input json.RawMessage) entry {
	m, err := New(input)
	if err != nil {
		return entry{why: err}
	}
	v, err := m.Value(false)
	if err == nil && kindOf(v) != '{' {
		err = &Error{Reason: "the schema is not one of an object"}
	}
	return entry{v, err}
}

func words(names []string) entry {
	o := object{}
	for _, name := range names {
		o[name] = wire.AppendText(nil, word)
	}
	return entry{value: o.text()}
}

// write writes a mapping. JSON values are YAML, too.
func write(b *bytes.Buffer, title string, of map[string]entry) {
	if len(of) == 0 {
		return
	}
	fmt.Fprintf(b, "%s:\n", title)
	if !slices.ContainsFunc(slices.Collect(maps.Values(of)), func(e entry) bool { return e.why == nil }) {
		b.Truncate(b.Len() - 1)
		b.WriteString(" {}\n")
	}
	for _, name := range slices.Sorted(maps.Keys(of)) {
		key := wire.AppendText(nil, name)
		if why := of[name].why; why != nil {
			fmt.Fprintf(b, "  # %s: %q\n", key, why.Error())
			continue
		}
		fmt.Fprintf(b, "  %s:\n    - %s\n", key, of[name].value)
	}
}
