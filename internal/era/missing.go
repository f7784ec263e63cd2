package era

import "github.com/parley-mcp/parley/mcp"

// Missing returns the *mcp.MissingCapabilityError of a question that a client
// with these capabilities cannot be asked, nil for one that it can, and another
// error for what is no question. Package mcptest judges by it what the eras
// judge themselves.
func Missing(q mcp.InputRequest, c *mcp.ClientCapabilities) error { return missing(q, c) }
