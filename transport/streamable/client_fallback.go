package streamable

import (
	"context"

	"github.com/parley-mcp/parley/internal/tap"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/transport/sse"
)

// fallBack tries HTTP+SSE with a server that has refused initialize, and uses it
// from then on if the server names an endpoint.
//
// Spec: 2026-07-28 basic/transports/streamable-http#http-sse-transport-2024-11-05.
func (c *conn) fallBack(ctx context.Context, initialize *call) (*jsonrpc.Message, error) {
	older := &sse.Client{URL: c.opts.URL, HTTP: c.http, Header: c.opts.Header, MaxMessageBytes: c.opts.MaxMessageBytes}
	old, err := older.Connect(tap.With(ctx, c.seen), c.inbound.Receiver)
	if err != nil {
		return nil, err
	}
	if !c.replace(old) {
		_ = old.Close() // nothing was sent
		return nil, jsonrpc.ErrClosed
	}
	c.named.Store(false)
	c.opts.Logger.Debug("the server speaks HTTP+SSE", "server", c.opts.Name())
	return old.RoundTrip(ctx, initialize.m)
}

// replace lets old carry everything from now on. This connection ends when old
// does. It reports false if this connection has ended already.
func (c *conn) replace(old mcp.Conn) bool {
	c.mu.Lock()
	ended := c.ended
	if !ended {
		c.old = old
	}
	c.mu.Unlock()
	return !ended && c.spawn(func() { // ends with either connection
		select {
		case <-old.Done():
			c.finish(old.Err(), jsonrpc.ErrClosed)
		case <-c.ctx.Done():
		}
	})
}
