// Package profile chooses the form in which a client is shown tools: that which the vendor
// of its model takes, see package adapt. Which client has models of which vendor is
// clients.tsv.
package profile

import (
	_ "embed" // for the table
	"fmt"
	"slices"
	"sync"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/naming"
	"github.com/parley-mcp/parley/internal/tsv"
	"github.com/parley-mcp/parley/internal/vendors/adapt"
)

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
		if !slices.Contains(adapt.Names(), r[1]) {
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
func Choose(choice Choice, clients []Client, name string) *adapt.Profile {
	if p, ok := find(clients, name); ok {
		return p
	}
	if choice == Auto {
		p, _ := find(known(), name)
		return p
	}
	return adapt.Named(string(choice))
}

func find(clients []Client, name string) (*adapt.Profile, bool) {
	for _, c := range clients {
		if (naming.Selection{Include: []string{c.Pattern}}).Has(name) {
			return adapt.Named(c.Profile), true
		}
	}
	return nil, false
}
