package client

import (
	"context"

	"github.com/parley-mcp/parley/internal/era"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// logged passes a log message to Options.Log, or, if that is nil, in its raw form to
// Options.Notification.
func (c *Client) logged(m *jsonrpc.Message) mcp.DropReason {
	if c.opts.Log == nil {
		return c.unknown(m)
	}
	p := new(mcp.LogParams)
	if err := unmarshal(m.Params, p); err != nil {
		c.opts.Logger.Warn("malformed log message", "error", err)
		return mcp.DropMalformed
	}
	c.events.Add(func() { c.opts.Log(c.ctx, p) })
	return 0
}

// setSessionLevel sets the log level of a session when it is opened.
func (c *Client) setSessionLevel(ctx context.Context, l *live, level mcp.LoggingLevel) error {
	params, err := wire.Marshal(mcp.SetLevelParams{Level: level})
	if err != nil {
		return err
	}
	_, err = l.session.Call(ctx, &era.Outgoing{Method: mcp.MethodSetLevel, Params: params})
	return err
}
