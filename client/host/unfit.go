package host

import "github.com/parley-mcp/parley/mcp"

// Unfit is a tool that the API of a vendor does not take, whatever is done about it.
type Unfit struct {
	Tool *mcp.Tool
	// Reason says why.
	Reason string
}
