package pins

import (
	"encoding/json"

	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// What a server says of itself when it is connected to has a pin of its own,
// BACKEND/server/self, beside that of its card.
const (
	serverKind = "server"
	serverName = "self"
)

// self is what a server says of itself that people and models read: not its version, with
// which all else may stay as it was.
type self struct {
	Name         string     `json:"name"`
	Title        string     `json:"title,omitzero"`
	Description  string     `json:"description,omitzero"`
	WebsiteURL   string     `json:"websiteUrl,omitzero"`
	Icons        []mcp.Icon `json:"icons,omitzero"`
	Instructions string     `json:"instructions,omitzero"`
}

// Describes implements guard.Describer: a server that says something else of itself, or
// whose card does, has no instructions until somebody has approved that.
func (p *Pins) Describes(backend string, d *mcp.Description) bool {
	card := p.showsCard(backend, d) // looked at in any case
	return p.saysOf(backend, d) && card || p.opts.WarnOnly
}

// saysOf reports whether what a server says of itself is what was approved.
func (p *Pins) saysOf(backend string, d *mcp.Description) bool {
	return p.judge(Key{backend, serverKind, serverName}, d, func() (json.RawMessage, error) {
		i := &d.Info
		return wire.Marshal(self{i.Name, i.Title, i.Description, i.WebsiteURL, i.Icons, d.Instructions})
	})
}
