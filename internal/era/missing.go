package era

import "github.com/parley-mcp/parley/mcp"

// Missing returns an *mcp.MissingCapabilityError for a question that a client with
// these capabilities cannot be asked, nil for one that it can be asked, and another
// error for anything that is not a question. With it, package mcptest applies the
// same rule as the eras.
func Missing(q mcp.InputRequest, c *mcp.ClientCapabilities) error { return missing(q, c) }
