package config

import (
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/naming"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// override is what a feature is made to say of itself.
type override struct {
	own                string // what the server calls it
	of                 *overridden
	title, description *string
	annotations        annotations
}

// overridden is a kind of features of which it can be said what they say of themselves.
type overridden struct {
	// name is what one is called, and title and description are examples.
	name, title, description string
	// annotations returns those of a new override; nil is for what has none.
	annotations func() annotations
	// hints is an example of these, and says what they are about.
	hints, about string
}

// annotations are members of the annotations of a feature that are replaced or added.
type annotations interface {
	section

	// said reports whether there are any.
	said() bool
}

// The kinds of features that say something of themselves.
var (
	ofTool = &overridden{
		name: "tool", title: `"Delete a file"`, description: `"Delete a file for good."`,
		annotations: func() annotations { return new(toolAnnotations) }, hints: "{destructiveHint: true}", about: "What the tool does to the world.",
	}
	ofPrompt   = &overridden{name: "prompt", title: `"Review a change"`, description: `"Have a change reviewed for mistakes."`}
	ofResource = &overridden{
		name: "resource", title: `"The handbook"`, description: `"How we work."`,
		annotations: func() annotations { return new(resourceAnnotations) }, hints: "{audience: [user], priority: 0.9}", about: "Whom the resource is for, and how much it matters.",
	}
)

// newOverride makes overrides, by the server's name of what they are of.
func (k *overridden) newOverride(own string, into *override) value {
	into.own, into.of = own, k
	if k.annotations != nil {
		into.annotations = k.annotations()
	}
	return object{into}
}

func (o *override) keys() []key {
	keys := []key{
		{
			name: "title", shows: true, value: maybe[string]{&o.title, anyWord}, example: o.of.title,
			doc: "The title of the " + o.of.name + ".",
		},
		{
			name: "description", shows: true, value: maybe[string]{&o.description, anyWord}, example: o.of.description,
			doc: "The description of the " + o.of.name + ", which models read.",
		},
	}
	if o.annotations == nil {
		return keys
	}
	return append(keys, key{
		name: "annotations", shows: true, value: object{o.annotations}, example: o.of.hints,
		doc: o.of.about + " Members that are not named stay as the server sends them.",
	})
}

func anyWord(into *string) value { return word{into, anything} }

// toolAnnotations are members of a tool's annotations.
type toolAnnotations struct {
	Title       *string `json:"title,omitzero"`
	ReadOnly    *bool   `json:"readOnlyHint,omitzero"`
	Destructive *bool   `json:"destructiveHint,omitzero"`
	Idempotent  *bool   `json:"idempotentHint,omitzero"`
	OpenWorld   *bool   `json:"openWorldHint,omitzero"`
}

func (a *toolAnnotations) keys() []key {
	hint := func(name string, into **bool, doc string) key {
		return key{name: name, shows: true, value: maybe[bool]{into, func(into *bool) value { return boolean{into} }}, doc: doc, example: "true"}
	}
	return []key{
		{name: "title", shows: true, value: maybe[string]{&a.Title, anyWord}, doc: "A title for people.", example: `"Delete a file"`},
		hint("readOnlyHint", &a.ReadOnly, "The tool changes nothing."),
		hint("destructiveHint", &a.Destructive, "The tool may destroy something."),
		hint("idempotentHint", &a.Idempotent, "Calling the tool twice is like calling it once."),
		hint("openWorldHint", &a.OpenWorld, "The tool deals with the world outside of the server."),
	}
}

func (a *toolAnnotations) said() bool { return *a != toolAnnotations{} }

// resourceAnnotations are members of the annotations of a resource or a template. When it
// was changed last is something that only its server knows.
type resourceAnnotations struct {
	Audience []mcp.Role `json:"audience,omitzero"`
	Priority *float64   `json:"priority,omitzero"`
}

func (a *resourceAnnotations) keys() []key {
	return []key{
		{name: "audience", shows: true, value: list[mcp.Role]{&a.Audience, role, 1}, doc: "Whom it is meant for: user, assistant, or both.", example: "[user]"},
		{
			name: "priority", shows: true, value: maybe[float64]{&a.Priority, func(into *float64) value { return part{into} }}, example: "0.9",
			doc: "How much it matters, from 0, which is optional, to 1, which is required.",
		},
	}
}

func role(into *mcp.Role) value {
	return choice[mcp.Role]{into, []option[mcp.Role]{{"user", mcp.RoleUser}, {"assistant", mcp.RoleAssistant}}}
}

func (a *resourceAnnotations) said() bool { return a.Audience != nil || a.Priority != nil }

// rules returns an override as the rules of names have it.
func (o *override) rules() naming.Override {
	rules := naming.Override{Title: o.title, Description: o.description}
	if o.annotations != nil && o.annotations.said() {
		rules.Annotations, _ = wire.Marshal(o.annotations) // texts, numbers and booleans
	}
	return rules
}

// overrides returns overrides as the rules of names have them.
func overrides(list []override) map[string]naming.Override {
	rules := make(map[string]naming.Override, len(list))
	for i := range list {
		rules[list[i].own] = list[i].rules()
	}
	return rules
}
