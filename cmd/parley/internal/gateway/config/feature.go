package config

import (
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/naming"
	"github.com/parley-mcp/parley/cmd/parley/internal/target"
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
type renaming struct {
	own, shown string
	at         *target.Error
}

func (n *renaming) place(at *target.Error) { n.at = at }

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
