package config

import (
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/profile"
	"github.com/parley-mcp/parley/internal/vendors/adapt"
)

// Profiles say which clients see tools in the form that their models take.
type Profiles struct {
	// Default is for those that Clients do not name.
	Default profile.Choice
	// Clients are in the order of the file.
	Clients []profile.Client
}

func (p *Profiles) keys() []key {
	return []key{
		{
			name: "default", value: profileChoice(&p.Default, profile.None, profile.Auto),
			doc: "The profile of clients that are not named here; auto goes by what they say they are.",
		},
		{
			name: "clients", value: table[profile.Client]{&p.Clients, func(name string, into *profile.Client) value {
				into.Pattern = name
				return profileName(&into.Profile)
			}, "PATTERN", notEmpty}, example: `{"acme-*": openai}`,
			doc: "The profiles of some clients, by patterns of the names that they give; the first that fits holds.",
		},
	}
}

// profileChoice is a profile, or one of some other choices, of which the first is the
// default.
func profileChoice(into *profile.Choice, others ...profile.Choice) value {
	var options []option[profile.Choice]
	for _, c := range others {
		options = append(options, option[profile.Choice]{string(c), c})
	}
	for _, name := range adapt.Names() {
		options = append(options, option[profile.Choice]{name, profile.Choice(name)})
	}
	return choice[profile.Choice]{into, options}
}

// profileName is the name of a profile, or none.
func profileName(into *string) value {
	options := []option[string]{{string(profile.None), string(profile.None)}}
	for _, name := range adapt.Names() {
		options = append(options, option[string]{name, name})
	}
	return choice[string]{into, options}
}
