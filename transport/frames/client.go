package frames

import (
	"context"
	"errors"
	"fmt"

	"github.com/parley-mcp/parley/internal/caching"
	"github.com/parley-mcp/parley/internal/stream"
	"github.com/parley-mcp/parley/internal/tap"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// Client is the transport to a server at the other end of a Conn. Its fields must
// not be changed while it is in use. It is safe for concurrent use if Dial is.
type Client struct {
	// Dial opens a connection to the server. ctx applies only to the opening. Dial
	// is called again when an older server closed the connection because it did
	// not understand the first request.
	Dial func(ctx context.Context) (Conn, error)
	// Label names the server in caches and error messages, for example by its URL.
	Label string
	// MaxMessageBytes bounds one message of the server. A longer one ends the
	// connection. 0 means 64 MiB.
	MaxMessageBytes int
}

var _ mcp.Transport = (*Client)(nil)

// Name implements mcp.Transport: the label.
func (c *Client) Name() string { return c.Label }

// Connect implements mcp.Transport.
func (c *Client) Connect(ctx context.Context, receiver mcp.Receiver) (mcp.Conn, error) {
	if c.Dial == nil {
		return nil, errors.New("frames.Client has no Dial to connect with")
	}
	conn, err := c.Dial(ctx)
	if err != nil {
		return nil, err
	}
	caching.OneAuthority(ctx)
	return stream.Dial(conn, receiver, orDefault(c.MaxMessageBytes), c.explain, tap.Take(ctx)), nil //nolint:contextcheck // the connection outlives this call
}

// explain adds the label to the error with which a connection ended.
func (c *Client) explain(err error) error {
	if errors.Is(err, jsonrpc.ErrClosed) {
		return fmt.Errorf("%q: %w", c.Label, err)
	}
	return fmt.Errorf("%q: %w: %w", c.Label, jsonrpc.ErrClosed, err)
}
