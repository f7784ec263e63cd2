package config

import (
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/naming"
	"github.com/parley-mcp/parley/internal/wire"
)

// selection says which features of a kind there are.
type selection struct{ into *naming.Selection }

func (s *selection) keys() []key {
	return []key{
		{
			name: "include", shows: true, value: list[string]{&s.into.Include, pattern, 0}, example: `["read_*"]`,
			doc: "Patterns of those that there are; without the key, all. * stands for any characters, ? for one.",
		},
		{
			name: "exclude", shows: true, value: list[string]{&s.into.Exclude, pattern, 0}, example: `["*_secret"]`,
			doc: "Patterns of those that there are not, even if they are included.",
		},
	}
}

func pattern(into *string) value { return word{into, notEmpty} }

// named are features that have a name, which can be another one for clients.
type named struct {
	selection

	rename *[]renaming
}

// renaming is what the server calls own, and clients see as shown.
type renaming struct{ own, shown string }

func (f *named) keys() []key {
	return append(f.selection.keys(), key{
		name: "rename", shows: true, value: table[renaming]{f.rename, renamed, "NAME", notEmpty}, example: "{read_file: read}",
		doc: "Other names for some. The name of the backend does not stand before these.",
	})
}

func renamed(own string, into *renaming) value {
	into.own = own
	return word{&into.shown, matching("a name of up to 64 of A-Z, a-z, 0-9, _ and -", "^[A-Za-z0-9_-]{1,64}$")}
}

// shownNames returns new names by the old ones.
func shownNames(list []renaming) map[string]string {
	names := make(map[string]string, len(list))
	for _, r := range list {
		names[r.own] = r.shown
	}
	return names
}

// override is what a tool is made to say of itself.
type override struct {
	tool               string
	title, description *string
	annotations        annotations
}

func newOverride(tool string, into *override) value {
	into.tool = tool
	return object{into}
}

func (o *override) keys() []key {
	return []key{
		{
			name: "title", shows: true, value: maybe[string]{&o.title, anyWord}, example: `"Delete a file"`,
			doc: "The title of the tool.",
		},
		{
			name: "description", shows: true, value: maybe[string]{&o.description, anyWord}, example: `"Delete a file for good."`,
			doc: "The description of the tool, which models read.",
		},
		{
			name: "annotations", shows: true, value: object{&o.annotations}, example: "{destructiveHint: true}",
			doc: "What the tool does to the world. Members that are not named stay as the server sends them.",
		},
	}
}

func anyWord(into *string) value { return word{into, anything} }

// annotations are the members of a tool's annotations that are replaced or added.
type annotations struct {
	Title       *string `json:"title,omitzero"`
	ReadOnly    *bool   `json:"readOnlyHint,omitzero"`
	Destructive *bool   `json:"destructiveHint,omitzero"`
	Idempotent  *bool   `json:"idempotentHint,omitzero"`
	OpenWorld   *bool   `json:"openWorldHint,omitzero"`
}

func (a *annotations) keys() []key {
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

// rules returns the override as the rules of names have it.
func (o *override) rules() naming.Override {
	rules := naming.Override{Title: o.title, Description: o.description}
	if o.annotations != (annotations{}) {
		rules.Annotations, _ = wire.Marshal(o.annotations) // texts and booleans
	}
	return rules
}
