package client

import (
	"context"

	"github.com/parley-mcp/parley/internal/tap"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// seenConn records answers that nobody waits for any more as dropped, and shows the
// messages to the tap if the transport does not.
type seenConn struct {
	mcp.Conn
	seen *tap.Conn
}

// RoundTrip implements mcp.Conn.
func (c *seenConn) RoundTrip(ctx context.Context, request *jsonrpc.Message) (*jsonrpc.Message, error) {
	show(c.seen, mcp.Sent, request)
	response, err := c.Conn.RoundTrip(ctx, request)
	if err != nil {
		c.seen.Drop(mcp.Received, mcp.DropGivenUp, request.Method, err)
		return nil, err
	}
	show(c.seen, mcp.Received, response)
	return response, nil
}

// Send implements mcp.Conn.
func (c *seenConn) Send(ctx context.Context, notification *jsonrpc.Message) error {
	show(c.seen, mcp.Sent, notification)
	err := c.Conn.Send(ctx, notification)
	if err != nil {
		c.seen.Drop(mcp.Sent, tap.ReasonOf(err), notification.Method, err)
	}
	return err
}

// show shows a message to the tap, unless the transport does.
func show(seen *tap.Conn, d mcp.Direction, m *jsonrpc.Message) {
	if !seen.Watched() || seen.Taken() {
		return
	}
	if frame, err := jsonrpc.Append(nil, m); err == nil {
		seen.Frame(d, frame)
	}
}

// showAnswer is show for the answer to a request of the server. If result and failed
// are both nil, there is no answer.
func showAnswer(seen *tap.Conn, id jsonrpc.ID, result any, failed *jsonrpc.Error) {
	if !seen.Watched() || seen.Taken() || result == nil && failed == nil {
		return
	}
	answer := jsonrpc.NewError(id, failed)
	if failed == nil {
		var err error
		if answer, err = jsonrpc.NewResult(id, result); err != nil {
			return
		}
	}
	show(seen, mcp.Sent, answer)
}
