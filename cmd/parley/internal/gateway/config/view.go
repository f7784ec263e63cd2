package config

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v4"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/naming"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/profile"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/who"
)

// View is a part of the whole.
type View struct {
	Name string
	// Backends are those that it shows; nil is all.
	Backends []string
	// Tools, Prompts and Resources select, by the names and URIs that clients see.
	Tools, Prompts, Resources naming.Selection
	// Principals are those who may use it; nil is everybody.
	Principals []string
	// DefaultFor are those who get it where no view is named, and may use it.
	DefaultFor []string
	// Search shows three tools that find, describe and call the others, in place of these.
	Search bool

	profile *profile.Choice
}

// Profile says which clients see tools in the form that their models take; "" is that of
// the whole.
func (v *View) Profile() profile.Choice {
	if v.profile == nil {
		return ""
	}
	return *v.profile
}

// viewName is that of a path.
var viewName = matching("a name of up to 32 of a-z, 0-9 and -, which does not begin with -", backendName.pattern)

func (c *Config) newView(name string, into **View) value {
	*into = &View{Name: name}
	return object{&viewed{*into, c}}
}

// viewed is a view of a configuration.
type viewed struct {
	*View

	c *Config
}

func (v *viewed) keys() []key {
	return []key{
		{
			name: "backends", value: list[string]{&v.Backends, func(into *string) value { return known{into, v.c} }, 1}, example: "[files]",
			doc: "Those that it shows; without the key, all.",
		},
		{name: "tools", value: object{&selection{&v.Tools}}, example: `{include: ["files__read_*"]}`, doc: "Which tools there are, by the names that clients see."},
		{name: "prompts", value: object{&selection{&v.Prompts}}, example: `{exclude: ["shop__*"]}`, doc: "Which prompts there are, by the names that clients see."},
		{name: "resources", value: object{&selection{&v.Resources}}, example: `{include: ["mcp:files:*"]}`, doc: "Which resources and templates there are, by the URIs that clients see."},
		{
			name: "principals", value: principals{list[string]{&v.Principals, pattern, 1}, v.c, "so nobody can use the view"}, example: "[alice@example.com]",
			doc: `Who may use it: users by the subject of their token, and programs as "client ID"; without the key, everybody.`,
		},
		{
			name: "default_for", value: defaults{principals{list[string]{&v.DefaultFor, pattern, 1}, v.c, "so nobody gets the view"}, v.View}, example: "[bob@example.com]",
			doc: "Who gets it in place of the whole, where the path names no view. They may use it, also if principals does not name them.",
		},
		{
			name: "search", value: boolean{&v.Search}, example: "true",
			doc: "Show models three tools that find, describe and call the others, in place of these.",
		},
		{
			name: "profile", value: maybe[profile.Choice]{&v.profile, func(into *profile.Choice) value { return profileChoice(into, profile.None, profile.Auto) }}, example: "auto",
			doc: "The form in which tools are shown, so that the models of a vendor take them: none, auto, claude, openai or gemini; without the key, as profiles says.",
		},
	}
}

// principals are those whom a view is for.
type principals struct {
	list[string]

	c  *Config
	so string // what follows if nobody has a name
}

func (v principals) read(r *reader, n *yaml.Node, at where) {
	v.list.read(r, n, at)
	r.later = append(r.later, func() {
		if v.c.Auth.Issuer == nil {
			v.c.warn(r.mistake(n.Line, n.Column, at, fmt.Errorf("without auth.issuer nobody has a name, %s", v.so)))
			return
		}
		for i, name := range *v.into {
			if of := who.Stranger(name, v.c.Auth.Issuer.URL); of != "" {
				r.fault(n.Content[i], at.index(i), "nobody is of the issuer %.80s; users of this gateway are of %s", of, v.c.Auth.Issuer.URL)
			}
		}
	})
}

// named returns whom a name is of, in whichever form.
func (v principals) named(name string) who.One {
	if v.c.Auth.Issuer == nil {
		return who.Named(name, "")
	}
	return who.Named(name, v.c.Auth.Issuer.URL)
}

// defaults are those who get a view where no view is named: nobody gets two.
type defaults struct {
	principals

	view *View
}

func (v defaults) read(r *reader, n *yaml.Node, at where) {
	v.principals.read(r, n, at)
	r.later = append(r.later, func() {
		for _, other := range v.c.Views {
			if other == v.view {
				return // what comes after it sees for itself
			}
			for _, name := range v.view.DefaultFor {
				if slices.ContainsFunc(other.DefaultFor, func(o string) bool { return v.named(o) == v.named(name) }) {
					r.fault(n, at, "%.80s gets the view %s already; name them in one of the two", name, other.Name)
				}
			}
		}
	})
}

// known is the name of a backend that there is.
type known struct {
	into *string
	c    *Config
}

func (v known) preset()          {}
func (v known) expects() string  { return "the name of a backend" }
func (v known) fallback() string { return "" }
func (v known) schema() schema   { return schema{"type": "string", "pattern": backendName.pattern} }

func (v known) read(r *reader, n *yaml.Node, at where) {
	word{v.into, notEmpty}.read(r, n, at)
	name := *v.into
	r.later = append(r.later, func() {
		var names []string
		for _, b := range v.c.Backends {
			names = append(names, b.Name)
		}
		if name != "" && !slices.Contains(names, name) {
			r.fault(n, at, "there is no backend %.80q; %s", name, meant(name, names))
		}
	})
}

// View returns the view of this name, or nil.
func (c *Config) View(name string) *View {
	for _, v := range c.Views {
		if v.Name == name {
			return v
		}
	}
	return nil
}
