package client

import "github.com/parley-mcp/parley/mcp"

// RememberedSession returns a memory in which a server has sessions only.
func RememberedSession(name string) *Eras {
	e := new(Eras)
	e.set(name, mcp.Revision20251125)
	return e
}
