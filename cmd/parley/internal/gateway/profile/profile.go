// Package profile shows tools in a form that the vendor of a client's model takes. Some
// refuse a whole request because of one keyword in a schema. What they do not take is
// said in words instead, so that the model still knows of it; the tool itself, and what it
// accepts, is the same. What is refused is the table of package vendors, and which client
// has models of which vendor is clients.tsv.
package profile

import (
	_ "embed" // for the table
	"fmt"
	"regexp"
	"slices"
	"sync"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/naming"
	"github.com/parley-mcp/parley/internal/tsv"
	"github.com/parley-mcp/parley/internal/vendors"
)

// Profile is what the models of a vendor take. nil is all that there is.
type Profile struct {
	// Name is what the configuration calls it.
	Name string

	rules map[string]vendors.Rule // by what they look at
	forms map[string]*regexp.Regexp
}

// modes are the modes of vendors that profiles are for.
var modes = []struct{ profile, mode string }{
	{"claude", "anthropic/tools"}, {"openai", "openai/functions"}, {"gemini", "gemini/functions"},
}

// Names returns the names of all profiles.
func Names() (names []string) {
	for _, m := range modes {
		names = append(names, m.profile)
	}
	return names
}

var profiles = sync.OnceValue(func() map[string]*Profile {
	all := map[string]*Profile{}
	for _, m := range modes {
		p := &Profile{Name: m.profile, rules: map[string]vendors.Rule{}, forms: map[string]*regexp.Regexp{}}
		for _, r := range vendors.Of(m.mode) {
			p.rules[r.Construct] = r
			if r.Construct == "name" || r.Construct == "property-name" {
				p.forms[r.Construct] = regexp.MustCompile(r.Limit) // a test compiles them
			}
		}
		all[m.profile] = p
	}
	return all
})

// Named returns the profile of a name, or nil.
func Named(name string) *Profile { return profiles()[name] }

//go:embed clients.tsv
var clientsTable string

// Client says which profile is for a client, by a pattern of the name that it gives.
type Client struct{ Pattern, Profile string }

var known = sync.OnceValue(func() []Client {
	all, err := readClients()
	if err != nil {
		panic("profile: " + err.Error()) // a test reads them
	}
	return all
})

func readClients() ([]Client, error) {
	const width = 3
	rows, err := tsv.Read("clients.tsv", clientsTable, width)
	if err != nil {
		return nil, err
	}
	var all []Client
	for _, r := range rows {
		if !slices.Contains(Names(), r[1]) {
			return nil, fmt.Errorf("clients.tsv: %s: there is no profile %q", r[0], r[1])
		}
		all = append(all, Client{r[0], r[1]})
	}
	return all, nil
}

// Choice says which profile a client gets: a name, or Auto, or None.
type Choice string

// The choices besides the names of profiles.
const (
	// None shows tools as they are.
	None Choice = "none"
	// Auto goes by what the client says that it is; one that is not known gets None.
	Auto Choice = "auto"
)

// Choose returns the profile for a client, by its name. Those of clients come first, and of
// those the first that fits.
func Choose(choice Choice, clients []Client, name string) *Profile {
	if p, ok := find(clients, name); ok {
		return p
	}
	if choice == Auto {
		p, _ := find(known(), name)
		return p
	}
	return Named(string(choice))
}

func find(clients []Client, name string) (*Profile, bool) {
	for _, c := range clients {
		if (naming.Selection{Include: []string{c.Pattern}}).Has(name) {
			return Named(c.Profile), true
		}
	}
	return nil, false
}
