package pins

import (
	"encoding/json"

	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// What a server says of itself has a pin of its own, BACKEND/server/self.
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

// Describes implements guard.Describer: a server that says something else of itself has no
// instructions until somebody has approved them.
func (p *Pins) Describes(backend string, d *mcp.Description) bool {
	key := Key{backend, serverKind, serverName}
	return p.judge(key, d, func() (json.RawMessage, error) {
		i := &d.Info
		return wire.Marshal(self{i.Name, i.Title, i.Description, i.WebsiteURL, i.Icons, d.Instructions})
	}) || p.opts.WarnOnly
}
