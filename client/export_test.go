package client

import "github.com/parley-mcp/parley/mcp"

// RememberedSession returns an Eras that says that a server has only sessions.
func RememberedSession(name string) *Eras {
	e := new(Eras)
	e.set(name, mcp.Revision20251125)
	return e
}
