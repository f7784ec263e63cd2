package client

import "github.com/parley-mcp/parley/mcp"

// received prepares a result that a server has sent for the caller.
func (c *Client) received(result any) {
	switch r := result.(type) {
	case *mcp.ListToolsResult:
		c.cursor(&r.NextCursor)
	case *mcp.ListResourcesResult:
		c.cursor(&r.NextCursor)
	case *mcp.ListResourceTemplatesResult:
		c.cursor(&r.NextCursor)
	case *mcp.ListPromptsResult:
		c.cursor(&r.NextCursor)
	}
}

// cursor removes an empty cursor in revisions in which that is the end of a list.
func (c *Client) cursor(next **string) {
	if l := c.current(); *next != nil && **next == "" && l.session != nil && !l.session.Facts().EmptyCursors {
		*next = nil
	}
}
